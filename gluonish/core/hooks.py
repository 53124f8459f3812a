"""Hooks: functions of higher layers that lower layers call; filled by `gluonish.mxnet_names.start`.

A lower layer imports nothing above it. The first call of a hook loads its function.
"""

from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any, Generic, ParamSpec, TypeVar

from gluonish.core.lazy import resolve

Params = ParamSpec("Params")
Result = TypeVar("Result")


class Hook(Generic[Params, Result]):
    """A function of a higher layer."""

    __slots__ = ("_function", "_target")

    def __init__(self) -> None:
        self._function: Callable[Params, Result] | None = None
        self._target = ""

    def fill(self, target: str) -> None:
        """Set the function by name, as ``module:name``, before the first call."""
        self._target = target

    def __call__(self, *args: Params.args, **kwargs: Params.kwargs) -> Result:
        """Call the function; the first call loads it."""
        function = self._function
        if function is None:
            function = self._function = resolve(self._target)
        return function(*args, **kwargs)


# For `gluonish.core.device`: returns the back end of GPU contexts, a `GPUSupport`.
make_gpu_support: Hook[[], Any] = Hook()

# For `gluonish.ops.registry`: yields the fast kernels of an operator, the preferred ones first.
kernels_of: Hook[[Any], Any] = Hook()

# For `gluonish.kernels.teams`: if all workers are idle, calls a function in each that ends its team
# of threads; returns whether they were.
end_idle_teams: Hook[[Callable[[], None]], bool] = Hook()

# For `gluonish.engine`: starts the profiler when the engine is made, for MXNET_PROFILER_AUTOSTART.
start_profiler: Hook[[], None] = Hook()

# For the engine: checks the values of all operators from then on, for MXNET_CHECK_VALUES.
start_checks: Hook[[], None] = Hook()

# For `gluonish.ndarray.recording`: checks the values of an operator's call.
check_call: Hook[[Any, Mapping[str, Any], Sequence[Any], Sequence[Any]], None] = Hook()

# For `gluonish.ndarray.value_checks`: describes the innermost Block that is called in a frame or
# around it; empty outside Blocks.
calling_layer: Hook[[FrameType | None], str] = Hook()

# For `gluonish.ops.recurrent.rnn`: runs an eager call of RNN as another operator, on devices whose
# kernel has a reserve in a private format; else returns NotImplemented.
divert_rnn: Hook[[Sequence[Any], Mapping[str, Any], Any], Any] = Hook()

# For `gluonish.autograd`: returns the Symbol of an edge of the tape.
symbol_of: Hook[[Any], Any] = Hook()

# For the namespace ``nd``: names of higher layers, with their targets as in `gluonish.core.lazy`.
ndarray_names: dict[str, str] = {}
