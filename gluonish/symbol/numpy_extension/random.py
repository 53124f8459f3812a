"""``sym.npx.random``: the samplers of ``mx.npx.random`` on Symbols."""

from gluonish.numpy.views import module_view
from gluonish.numpy_extension import random
from gluonish.symbol.numpy_symbol import symbolic

__getattr__, __dir__ = module_view(random, __name__, symbolic)
