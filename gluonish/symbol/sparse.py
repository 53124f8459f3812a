"""``sym.sparse``: the operators of sparse arrays; in a graph their values are dense."""

from gluonish.ops.frontend import chosen
from gluonish.ops.sparse.compressed import OPERATORS
from gluonish.symbol.namespace import make_operator_function

__getattr__ = chosen(OPERATORS, __name__, make_operator_function)


def __dir__() -> list[str]:
    """Return the names of the operators."""
    return sorted(OPERATORS)
