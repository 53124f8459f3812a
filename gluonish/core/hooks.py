"""What lower floors have from upper ones: declared here, filled in by `gluonish.mxnet_names.start`.

A lower floor names nothing above it. It calls one of the hooks, which loads what stands behind it
at the first call.
"""

from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

from gluonish.core.lazy import resolve

Params = ParamSpec("Params")
Result = TypeVar("Result")


class Hook(Generic[Params, Result]):
    """A function of an upper floor, which lower ones call."""

    __slots__ = ("_function", "_target")

    def __init__(self) -> None:
        self._function: Callable[Params, Result] | None = None
        self._target = ""

    def fill(self, target: str) -> None:
        """Say which function it is, before the first call.

        Args:
            target: Its name, as ``module:name``.
        """
        self._target = target

    def __call__(self, *args: Params.args, **kwargs: Params.kwargs) -> Result:
        """Call the function, which loads at the first call."""
        function = self._function
        if function is None:
            function = self._function = resolve(self._target)
        return function(*args, **kwargs)


# Of `gluonish.core.device`: returns the back end of GPU contexts, a `GPUSupport`.
make_gpu_support: Hook[[], Any] = Hook()

# Of `gluonish.ops.registry`: yields the fast kernels of an operator, the preferred ones first.
kernels_of: Hook[[Any], Any] = Hook()

# Of `gluonish.kernels.teams`: has every worker call a function that ends its team of threads if all
# workers are idle, and returns whether they are.
end_idle_teams: Hook[[Callable[[], None]], bool] = Hook()

# Of `gluonish.engine`: starts the profiler when the engine is made, for MXNET_PROFILER_AUTOSTART.
start_profiler: Hook[[], None] = Hook()

# Of `gluonish.autograd`: returns the Symbol of a place on the tape.
symbol_of: Hook[[Any], Any] = Hook()

# Of the namespace ``nd``: names of upper floors, each with its target as of `gluonish.core.lazy`.
ndarray_names: dict[str, str] = {}
