"""``sym.np._internal``: operators behind ``mx.np``, by their names without ``_npi_``."""

from gluonish.ops.frontend import prefixed
from gluonish.symbol.numpy_symbol import make_np_function

__all__: list[str] = []

__getattr__, __dir__ = prefixed("_npi_", __name__, make_np_function, own=__all__)
