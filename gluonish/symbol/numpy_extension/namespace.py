"""The functions of ``sym.npx``: operators on Symbols with NumPy's semantics."""

from gluonish.numpy.views import operator_view
from gluonish.numpy_extension.operators import NAMES
from gluonish.symbol.numpy_symbol import make_np_function

__all__ = ["find", "names"]

find, names = operator_view(NAMES, make_np_function, "gluonish.symbol.numpy_extension")
