"""The functions of ``nd.np``: those of ``mx.np``, and operators under their own signatures."""

import gluonish.numpy as functions
from gluonish.ndarray.namespace import make_operator_function
from gluonish.numpy.views import OPERATORS, module_view, named_as_in_numpy, operator_view
from gluonish.numpy_extension.operators import taking_np_arrays

__all__ = ["find", "names"]

_MODULE = "gluonish.numpy_extension.nd_namespaces.np"
_make = named_as_in_numpy(taking_np_arrays(make_operator_function), functions)
_operators = operator_view(OPERATORS, _make, _MODULE)
find, names = module_view(functions, _MODULE, None, _operators)
