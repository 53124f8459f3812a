"""``sym.sparse``: the operators of sparse arrays; in a graph their values are dense."""

from collections.abc import Callable

from gluonish.ops.face import make_function
from gluonish.ops.sparse.names import OPERATORS
from gluonish.symbol.namespace import make_operator_function
from gluonish.symbol.symbol import Symbol

_made: dict[str, Callable[..., Symbol]] = {}


def __getattr__(name: str) -> Callable[..., Symbol]:
    """Return the symbolic function of an operator, made at its first use.

    Raises:
        AttributeError: if the namespace has no operator of this name.
    """
    made = _made.get(name)
    if made is None:
        if name not in OPERATORS:
            raise AttributeError(f"{__name__}: expected the name of an operator, got {name!r}")
        made = make_function(OPERATORS[name], {}, make_operator_function, "symbol.sparse")
        made.__name__ = made.__qualname__ = name
        made.__module__ = __name__
        _made[name] = made
    return made


def __dir__() -> list[str]:
    """Return the names of the operators."""
    return sorted(OPERATORS)
