"""Primitives and generated kernels that run in one call, without the interpreter between them.

What runs pushes what the interpreter needs out of the processor's caches, so that it takes 1 to
10 us before the next one.
"""

from collections.abc import Sequence
from ctypes import Array as CArray
from ctypes import addressof, c_int64

from gluonish.kernels.compiler import KernelError, Launch, available, compile_assembly
from gluonish.kernels.onednn.api import Api, ExecArgument

# Handle of a primitive, number of arguments, arguments, and number of threads.
Step = tuple[int, int, CArray[ExecArgument], int]
# Number of threads of a primitive, or 0 for a launcher; the function, and its arguments but for the
# stream of a primitive.
Row = tuple[int, ...]

# The params: address of omp_set_num_threads, stream, status of the primitive that failed, the
# thread's number of threads, and the rows.
_LIMIT, _STREAM, _STATUS, _THREADS, _FIRST = range(5)
_COLUMNS = 7
_CODE = f"""
define void @gluonish_body(i64 %begin, i64 %end, i64* %params) {{
entry:
  %limit.at = getelementptr i64, i64* %params, i64 {_LIMIT}
  %stream.at = getelementptr i64, i64* %params, i64 {_STREAM}
  %status.at = getelementptr i64, i64* %params, i64 {_STATUS}
  %threads.at = getelementptr i64, i64* %params, i64 {_THREADS}
  %rows = getelementptr i64, i64* %params, i64 {_FIRST}
  %limit.address = load i64, i64* %limit.at
  %limit = inttoptr i64 %limit.address to void (i32)*
  %stream = load i64, i64* %stream.at
  %none = icmp sge i64 %begin, %end
  br i1 %none, label %done, label %next
next:
  %number = phi i64 [ %begin, %entry ], [ %following, %passed ]
  %first = mul i64 %number, {_COLUMNS}
  %row = getelementptr i64, i64* %rows, i64 %first
  %function.at = getelementptr i64, i64* %row, i64 1
  %a.at = getelementptr i64, i64* %row, i64 2
  %b.at = getelementptr i64, i64* %row, i64 3
  %c.at = getelementptr i64, i64* %row, i64 4
  %d.at = getelementptr i64, i64* %row, i64 5
  %e.at = getelementptr i64, i64* %row, i64 6
  %wanted = load i64, i64* %row
  %function = load i64, i64* %function.at
  %a = load i64, i64* %a.at
  %b = load i64, i64* %b.at
  %c = load i64, i64* %c.at
  %launches = icmp eq i64 %wanted, 0
  br i1 %launches, label %launch, label %primitive
launch:
  %d = load i64, i64* %d.at
  %e = load i64, i64* %e.at
  %launcher = inttoptr i64 %function to void (i64, i64, i64, i64, i64)*
  call void %launcher(i64 %a, i64 %b, i64 %c, i64 %d, i64 %e)
  br label %passed
primitive:
  %threads = load i64, i64* %threads.at
  %same = icmp eq i64 %wanted, %threads
  br i1 %same, label %run, label %set
set:
  %wanted.short = trunc i64 %wanted to i32
  call void %limit(i32 %wanted.short)
  store i64 %wanted, i64* %threads.at
  br label %run
run:
  %execute = inttoptr i64 %function to i32 (i64, i64, i32, i64)*
  %count = trunc i64 %b to i32
  %status = call i32 %execute(i64 %a, i64 %stream, i32 %count, i64 %c)
  %failed = icmp ne i32 %status, 0
  br i1 %failed, label %stop, label %passed
passed:
  %following = add i64 %number, 1
  %more = icmp slt i64 %following, %end
  br i1 %more, label %next, label %done
stop:
  %status.wide = sext i32 %status to i64
  store i64 %status.wide, i64* %status.at
  br label %done
done:
  ret void
}}
"""


def primitive_rows(api: Api, steps: Sequence[Step]) -> list[Row]:
    """Return the rows of primitives."""
    return [
        (threads, api.execute_address, handle, count, addressof(arguments), 0, 0)
        for handle, count, arguments, threads in steps
    ]


def launch_row(launch: Launch) -> Row:
    """Return the row of a generated kernel."""
    return (0, *launch)


class NativeCalls:
    """Calls that run one after another in one call; for one caller at a time.

    Args:
        rows: Of `primitive_rows` and `launch_row`; what they refer to must stay alive.

    Raises:
        KernelError: The loop cannot be compiled.
    """

    __slots__ = ("_address", "_api", "_count", "_params", "_run")

    def __init__(self, api: Api, rows: Sequence[Row]) -> None:
        numbers = [api.limit_address, 0, 0, 0, *(number for row in rows for number in row)]
        self._api = api
        self._count = len(rows)
        self._params = (c_int64 * len(numbers))(*numbers)
        self._address = addressof(self._params)
        self._run = compile_assembly("native calls", lambda: _CODE, __name__).run_alone

    def run(self, stream: int, threads: int) -> int:
        """Run the calls up to a primitive that fails; see `check`.

        Args:
            stream: The calling thread's stream.
            threads: Number of threads of primitives called from this thread.

        Returns:
            That number afterwards.
        """
        params = self._params
        params[_STREAM], params[_STATUS], params[_THREADS] = stream, 0, threads
        self._run(self._count, self._address)
        return params[_THREADS]

    def check(self) -> None:
        """Raise an error if a primitive of the last run failed.

        Raises:
            OneDNNError: A primitive failed.
        """
        self._api.check(self._params[_STATUS], "dnnl_primitive_execute")


def native_calls(api: Api, rows: Sequence[Row]) -> NativeCalls | None:
    """Return the rows as one call; None where generated code is not available."""
    if not available() or not api.limit_address:
        return None
    try:
        return NativeCalls(api, rows)
    except KernelError:
        return None
