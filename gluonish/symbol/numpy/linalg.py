"""``sym.np.linalg``: ``mx.np.linalg`` on Symbols."""

from gluonish.numpy import linalg
from gluonish.numpy.views import module_view
from gluonish.symbol.numpy_symbol import symbolic

__getattr__, __dir__ = module_view(linalg, __name__, symbolic)
