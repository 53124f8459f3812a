"""``nd.contrib``: operators that MXNet held to be experimental, and control flow."""

from gluonish.ndarray.namespace import make_operator_function
from gluonish.ops.face import prefixed

__getattr__, __dir__ = prefixed("_contrib_", __name__, make_operator_function)
