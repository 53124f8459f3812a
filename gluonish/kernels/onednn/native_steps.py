"""Steps of plans that run in one native call, without the interpreter between them.

A network's primitives push what the interpreter needs out of the processor's caches, so that it
takes 1 to 2 us for each.
"""

from collections.abc import Sequence
from ctypes import Array as CArray
from ctypes import addressof, c_int64

from gluonish.kernels.compiler import KernelError, available, compile_assembly
from gluonish.kernels.onednn.api import Api, ExecArgument

# Handle of a primitive, number of arguments, arguments, and number of threads.
Step = tuple[int, int, CArray[ExecArgument], int]

# The params: address of dnnl_primitive_execute, address of omp_set_num_threads, stream, status of
# the step that failed, the thread's number of threads, and for each step handle, number of
# arguments, arguments, and number of threads.
_EXECUTE, _LIMIT, _STREAM, _STATUS, _THREADS, _FIRST = range(6)
_ROW = 4
_CODE = f"""
define void @gluonish_body(i64 %begin, i64 %end, i64* %params) {{
entry:
  %execute.at = getelementptr i64, i64* %params, i64 {_EXECUTE}
  %limit.at = getelementptr i64, i64* %params, i64 {_LIMIT}
  %stream.at = getelementptr i64, i64* %params, i64 {_STREAM}
  %status.at = getelementptr i64, i64* %params, i64 {_STATUS}
  %threads.at = getelementptr i64, i64* %params, i64 {_THREADS}
  %rows = getelementptr i64, i64* %params, i64 {_FIRST}
  %execute.address = load i64, i64* %execute.at
  %execute = inttoptr i64 %execute.address to i32 (i64, i64, i32, i64)*
  %limit.address = load i64, i64* %limit.at
  %limit = inttoptr i64 %limit.address to void (i32)*
  %stream = load i64, i64* %stream.at
  %none = icmp sge i64 %begin, %end
  br i1 %none, label %done, label %next
next:
  %number = phi i64 [ %begin, %entry ], [ %following, %passed ]
  %first = mul i64 %number, {_ROW}
  %row = getelementptr i64, i64* %rows, i64 %first
  %count.at = getelementptr i64, i64* %row, i64 1
  %arguments.at = getelementptr i64, i64* %row, i64 2
  %wanted.at = getelementptr i64, i64* %row, i64 3
  %handle = load i64, i64* %row
  %count.wide = load i64, i64* %count.at
  %count = trunc i64 %count.wide to i32
  %arguments = load i64, i64* %arguments.at
  %wanted = load i64, i64* %wanted.at
  %threads = load i64, i64* %threads.at
  %same = icmp eq i64 %wanted, %threads
  br i1 %same, label %run, label %set
set:
  %wanted.short = trunc i64 %wanted to i32
  call void %limit(i32 %wanted.short)
  store i64 %wanted, i64* %threads.at
  br label %run
run:
  %status = call i32 %execute(i64 %handle, i64 %stream, i32 %count, i64 %arguments)
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


class NativeSteps:
    """Steps that run in one call; for one caller at a time.

    Args:
        steps: As of `gluonish.kernels.onednn.engine.ThreadState.run`; what their arguments refer
            to must stay alive.

    Raises:
        KernelError: The loop cannot be compiled.
    """

    __slots__ = ("_address", "_api", "_count", "_params", "_run", "_steps")

    def __init__(self, api: Api, steps: Sequence[Step]) -> None:
        numbers = [api.execute_address, api.limit_address, 0, 0, 0]
        for handle, count, arguments, threads in steps:
            numbers += [handle, count, addressof(arguments), threads]
        self._api = api
        self._steps = steps  # keeps the arguments alive
        self._count = len(steps)
        self._params = (c_int64 * len(numbers))(*numbers)
        self._address = addressof(self._params)
        self._run = compile_assembly("steps of oneDNN", lambda: _CODE, __name__).run_alone

    def run(self, stream: int, threads: int) -> int:
        """Run the steps up to one that fails; see `check`.

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


def native_steps(api: Api, steps: Sequence[Step]) -> NativeSteps | None:
    """Return the steps as one call; None where generated code is not available."""
    limits = api.limit_address or all(threads == api.max_threads() for *_, threads in steps)
    if not available() or not limits:
        return None
    try:
        return NativeSteps(api, steps)
    except KernelError:
        return None
