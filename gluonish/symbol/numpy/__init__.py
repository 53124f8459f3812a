"""``sym.np``: what ``F.np`` is inside a `hybrid_forward` that is traced."""

from gluonish.symbol.numpy import _internal as _internal
from gluonish.symbol.numpy import linalg, random
from gluonish.symbol.numpy.namespace import find as __getattr__  # noqa: F401
from gluonish.symbol.numpy.namespace import names as __dir__  # noqa: F401
from gluonish.symbol.numpy_symbol import NumpySymbol as _Symbol  # noqa: F401

__all__ = ["linalg", "random"]
