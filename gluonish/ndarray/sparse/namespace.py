"""The operators of ``nd.sparse``, functions made when first asked for."""

import sys

from gluonish.ndarray.namespace import make_operator_function
from gluonish.ops.frontend import chosen
from gluonish.ops.sparse.names import OPERATORS

_MODULE = "gluonish.ndarray.sparse"

operator_function = chosen(OPERATORS, _MODULE, make_operator_function)


def names() -> list[str]:
    """Return what the namespace holds, operators included; this is its ``__dir__``."""
    return sorted({*vars(sys.modules[_MODULE]), *OPERATORS})
