"""The functions of ``sym.np``: those of ``mx.np`` on Symbols, and operators."""

import gluonish.numpy as functions
from gluonish.numpy.views import OPERATORS, module_view, named_as_in_numpy, operator_view
from gluonish.symbol.numpy_symbol import make_np_function, symbolic

__all__ = ["find", "names"]

_MODULE = "gluonish.symbol.numpy"
_operators = operator_view(OPERATORS, named_as_in_numpy(make_np_function, functions), _MODULE)
find, names = module_view(functions, _MODULE, symbolic, _operators)
