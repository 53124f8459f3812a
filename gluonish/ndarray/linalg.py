"""``nd.linalg``: linear algebra."""

from gluonish.ndarray.namespace import make_operator_function
from gluonish.ops.frontend import prefixed

__getattr__, __dir__ = prefixed("_linalg_", __name__, make_operator_function)
