"""``sym.linalg``: linear algebra."""

from gluonish.ops.frontend import prefixed
from gluonish.symbol.namespace import make_operator_function

__getattr__, __dir__ = prefixed("_linalg_", __name__, make_operator_function)
