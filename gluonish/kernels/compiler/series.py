"""Series: launches of kernels in one call.

Products of few rows stream their weights through the processor's caches, so that what the
interpreter does between two kernels waits for memory: about 10 us.
"""

from collections.abc import Sequence
from ctypes import addressof, c_int64

from gluonish.kernels.compiler.compile import Launch, compile_assembly

__all__ = ["Series"]

# A kernel whose steps are calls of launchers; the params are the fields of `Launch` of each.
_CODE = """
define void @gluonish_body(i64 %begin, i64 %end, i64* %calls) {
entry:
  %none = icmp sge i64 %begin, %end
  br i1 %none, label %done, label %next
next:
  %number = phi i64 [ %begin, %entry ], [ %following, %next ]
  %first = mul i64 %number, 6
  %call = getelementptr i64, i64* %calls, i64 %first
  %extent.at = getelementptr i64, i64* %call, i64 1
  %params.at = getelementptr i64, i64* %call, i64 2
  %grain.at = getelementptr i64, i64* %call, i64 3
  %threads.at = getelementptr i64, i64* %call, i64 4
  %parallel.at = getelementptr i64, i64* %call, i64 5
  %address = load i64, i64* %call
  %extent = load i64, i64* %extent.at
  %params = load i64, i64* %params.at
  %grain = load i64, i64* %grain.at
  %threads = load i64, i64* %threads.at
  %parallel = load i64, i64* %parallel.at
  %launcher = inttoptr i64 %address to void (i64, i64, i64, i64, i64)*
  call void %launcher(i64 %extent, i64 %params, i64 %grain, i64 %threads, i64 %parallel)
  %following = add i64 %number, 1
  %more = icmp slt i64 %following, %end
  br i1 %more, label %next, label %done
done:
  ret void
}
"""


class Series:
    """Launches that run one after another in one call.

    Args:
        launches: What `CompiledKernel.launch_of` returned; the params must stay where they are.
        quick: Whether all of them take less time than to release the GIL.
    """

    __slots__ = ("_calls", "_count", "_run")

    def __init__(self, launches: Sequence[Launch], *, quick: bool) -> None:
        code = compile_assembly("series of launches", lambda: _CODE)._code
        numbers = [number for launch in launches for number in launch]
        self._calls = (c_int64 * len(numbers))(*numbers)
        self._count = len(launches)
        self._run = code.quick if quick else code.launch

    def run(self) -> None:
        """Run them."""
        self._run(self._count, addressof(self._calls), self._count, 1, 0)
