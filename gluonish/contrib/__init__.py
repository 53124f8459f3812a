"""`mx.contrib`: the experimental operators of both faces under the names that programs import."""

import gluonish.ndarray.contrib as nd
import gluonish.ndarray.contrib as ndarray
import gluonish.symbol.contrib as sym
import gluonish.symbol.contrib as symbol
from gluonish.contrib import names as _names  # noqa: F401  # it registers the modules

__all__ = ["nd", "ndarray", "sym", "symbol"]
