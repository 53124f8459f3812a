"""``sym.np.random``: ``mx.np.random`` on Symbols."""

from gluonish.numpy import random
from gluonish.numpy.views import module_view
from gluonish.symbol.numpy_symbol import symbolic

__getattr__, __dir__ = module_view(random, __name__, symbolic)
