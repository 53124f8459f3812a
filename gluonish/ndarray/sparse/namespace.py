"""The operators of ``nd.sparse``, functions made when first asked for."""

import sys
from collections.abc import Callable
from typing import Any

from gluonish.ndarray.namespace import make_operator_function
from gluonish.ops.face import make_function
from gluonish.ops.sparse.names import OPERATORS

__all__ = ["names", "operator_function"]

_MODULE = "gluonish.ndarray.sparse"
_made: dict[str, Callable[..., Any]] = {}


def operator_function(name: str) -> Callable[..., Any]:
    """Return the function of an operator; this is the ``__getattr__`` of the namespace.

    Raises:
        AttributeError: if the namespace has no operator of this name.
    """
    made = _made.get(name)
    if made is None:
        if name not in OPERATORS:
            raise AttributeError(
                f"{_MODULE}: expected the name of a function or an operator, got {name!r}"
            )
        made = make_function(OPERATORS[name], {}, make_operator_function, "ndarray.sparse")
        made.__name__ = made.__qualname__ = name
        made.__module__ = _MODULE
        _made[name] = made
    return made


def names() -> list[str]:
    """Return what the namespace holds, operators included; this is its ``__dir__``."""
    return sorted({*vars(sys.modules[_MODULE]), *OPERATORS})
