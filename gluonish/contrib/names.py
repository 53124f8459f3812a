"""Makes ``nd.contrib`` importable as ``gluonish.contrib.ndarray``, and so on: the same modules."""

import sys

import gluonish.ndarray.contrib as ndarray
import gluonish.symbol.contrib as symbol

__all__: list[str] = []

for _name, _module in (("nd", ndarray), ("ndarray", ndarray), ("sym", symbol), ("symbol", symbol)):
    sys.modules[f"gluonish.contrib.{_name}"] = _module
