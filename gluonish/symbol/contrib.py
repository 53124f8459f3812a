"""``sym.contrib``: operators that were experimental in MXNet, and control flow."""

from gluonish.ops.frontend import prefixed
from gluonish.symbol.control_flow import cond, foreach, rand_zipfian, while_loop
from gluonish.symbol.creation import adamw_update, mp_adamw_update
from gluonish.symbol.namespace import make_operator_function

__all__ = ["adamw_update", "cond", "foreach", "mp_adamw_update", "rand_zipfian", "while_loop"]

__getattr__, __dir__ = prefixed("_contrib_", __name__, make_operator_function, own=__all__)
