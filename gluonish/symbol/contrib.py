"""``sym.contrib``: operators that MXNet held to be experimental, and control flow."""

from gluonish.ops.face import prefixed
from gluonish.symbol.namespace import make_operator_function

__getattr__, __dir__ = prefixed("_contrib_", __name__, make_operator_function)
