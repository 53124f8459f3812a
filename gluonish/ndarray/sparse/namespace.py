"""The ``nd.sparse`` namespace: functions of operators, created on first access."""

import sys

from gluonish.ndarray.namespace import make_operator_function
from gluonish.ops.frontend import chosen
from gluonish.ops.sparse.compressed import OPERATORS

_MODULE = "gluonish.ndarray.sparse"

operator_function = chosen(OPERATORS, _MODULE, make_operator_function)


def names() -> list[str]:
    """Return all names of the namespace, operators included; implements ``__dir__``."""
    return sorted({*vars(sys.modules[_MODULE]), *OPERATORS})
