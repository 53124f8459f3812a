"""Activations of cells: names, Blocks, or functions."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError

CellActivation = str | Callable[..., Any]

# Activations with a separate operator, which graphs of MXNet contain.
_OPERATORS = ("relu", "sigmoid", "softsign", "tanh")
_NAMES = (*_OPERATORS, "softrelu")


def check_activation(activation: Any, what: str) -> None:
    """Check the activation of a cell.

    Raises:
        ArgumentError: There is no activation of this name.
        ArgumentTypeError: ``activation`` is neither a name nor callable.
    """
    if isinstance(activation, str):
        if activation not in _NAMES:
            raise ArgumentError(
                f"{what}: expected activation {', '.join(sorted(_NAMES))}, a Block or a function, "
                f"got {activation!r}"
            )
    elif not callable(activation):
        raise ArgumentTypeError(
            f"{what}: expected activation to be a name, a Block or a function, got {activation!r}"
        )


def activated(F: ModuleType, x: Any, activation: CellActivation, **kwargs: Any) -> Any:
    """Apply an activation; ``kwargs`` may hold the ``name`` of the node."""
    if not isinstance(activation, str):
        return activation(x)
    if activation in _OPERATORS:
        return getattr(F, activation)(x, **kwargs)
    return F.Activation(x, act_type=activation, **kwargs)
