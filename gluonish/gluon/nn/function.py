"""Lambda and HybridLambda: functions as layers."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import gluonish.ndarray as nd
import gluonish.symbol as symbol
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon.block import Block
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.tensor import Tensor

__all__ = ["HybridLambda", "Lambda"]


class Lambda(Block):
    """Run a function of NDArrays as a layer.

    Args:
        function: The function, or the name of one in ``nd``.
        prefix: See `Block`.

    Inputs:
        *args: what the function takes.

    Outputs:
        y: what the function returns.

    Raises:
        ArgumentError: ``nd`` has no function of that name.
        ArgumentTypeError: ``function`` is neither a name nor callable.
    """

    def __init__(self, function: str | Callable[..., Any], prefix: str | None = None) -> None:
        super().__init__(prefix=prefix)
        if isinstance(function, str):
            _check_found(function, (nd,), "Lambda")
            self._func_impl = getattr(nd, function)
            self._func_name = function
        else:
            self._func_impl = function
            self._func_name = _name_of(function, "Lambda")

    def forward(self, *args: Any) -> Any:
        """Call the wrapped function.

        Args:
            *args: Arguments of the function.
        """
        return self._func_impl(*args)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._func_name})"


class HybridLambda(HybridBlock):
    """Run a function of ``F`` and tensors as a layer that can be hybridized.

    Args:
        function: ``function(F, x, *args)``, where ``F`` is ``nd`` or ``sym``; or the name of a
            function that both have.
        prefix: See `HybridBlock`.

    Inputs:
        x, *args: what the function takes.

    Outputs:
        y: what the function returns.

    Raises:
        ArgumentError: ``nd`` or ``sym`` has no function of that name.
        ArgumentTypeError: ``function`` is neither a name nor callable.
    """

    def __init__(self, function: str | Callable[..., Any], prefix: str | None = None) -> None:
        super().__init__(prefix=prefix)
        if isinstance(function, str):
            _check_found(function, (nd, symbol), "HybridLambda")
            self._func = _by_name(function)
            self._func_name = function
        else:
            self._func = function
            self._func_name = _name_of(function, "HybridLambda")

    def hybrid_forward(self, F: ModuleType, x: Tensor, *args: Any) -> Any:
        """Call the wrapped function.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: First input of the function.
            *args: Further inputs.
        """
        return self._func(F, x, *args)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._func_name})"


def _by_name(name: str) -> Callable[..., Any]:
    """Return a function that calls the one of this name in the namespace it is given."""

    def call(F: ModuleType, *args: Any) -> Any:
        return getattr(F, name)(*args)

    return call


def _check_found(name: str, modules: tuple[ModuleType, ...], layer: str) -> None:
    for module in modules:
        if not hasattr(module, name):
            raise ArgumentError(
                f"{layer}: expected the name of a function of {module.__name__}, got {name!r}"
            )


def _name_of(function: Callable[..., Any], layer: str) -> str:
    if not callable(function):
        raise ArgumentTypeError(f"{layer}: expected a function or its name, got {function!r}")
    return getattr(function, "__name__", type(function).__name__)
