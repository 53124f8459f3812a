"""``sym.npx.image``: ``mx.npx.image`` on Symbols."""

from gluonish.numpy.views import operator_view
from gluonish.numpy_extension.operators import IMAGE_NAMES
from gluonish.symbol.numpy_symbol import make_np_function

__all__ = ["__dir__", "__getattr__"]

__getattr__, __dir__ = operator_view(IMAGE_NAMES, make_np_function, __name__)
