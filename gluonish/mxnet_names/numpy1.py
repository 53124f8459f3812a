"""Restores what NumPy 1.20 to 2.4 removed, for older programs: names, and arrays of ragged lists.

The lists are from NumPy's migration guide to 2.0 and the release notes of 1.24. Names that the
installed NumPy has are not changed: ``np.bool`` is NumPy's own type again.
"""

import ast
import functools
import importlib
import importlib.util
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["removed_names", "restore"]

# Aliases of objects of Python and NumPy.
_SAME: dict[str, Any] = {
    "bool": bool,
    "complex": complex,
    "float": float,
    "int": int,
    "long": int,
    "object": object,
    "str": str,
    "unicode": str,
    "math": math,
    "safe_eval": ast.literal_eval,
    "Inf": math.inf,
    "Infinity": math.inf,
    "infty": math.inf,
    "PINF": math.inf,
    "NINF": -math.inf,
    "NaN": math.nan,
    "NZERO": -0.0,
    "PZERO": 0.0,
    "issubclass_": issubclass,
    "typeDict": np.sctypeDict,
}
_RENAMED = {
    "bool8": "bool_",
    "bytes0": "bytes_",
    "cfloat": "complex128",
    "clongfloat": "clongdouble",
    "complex_": "complex128",
    "float_": "float64",
    "int0": "intp",
    "longcomplex": "clongdouble",
    "longfloat": "longdouble",
    "object0": "object_",
    "singlecomplex": "complex64",
    "str0": "str_",
    "string_": "bytes_",
    "uint0": "uintp",
    "unicode_": "str_",
    "void0": "void",
    "alltrue": "all",
    "cumproduct": "cumprod",
    "product": "prod",
    "round_": "round",
    "sometrue": "any",
    "row_stack": "vstack",
    "trapz": "trapezoid",
    "mat": "asmatrix",
}

# Modules of ``numpy.lib`` that became private.
_MODULES = (
    *("arraypad", "arraysetops", "arrayterator", "function_base", "histograms", "index_tricks"),
    *("nanfunctions", "polynomial", "shape_base", "twodim_base", "type_check", "ufunclike"),
    "utils",
)


def _sctypes() -> dict[str, list[type]]:
    kinds = {"int": "bhilq", "uint": "BHILQ", "float": "efdg", "complex": "FDG"}
    found = {
        kind: sorted({np.dtype(c).type for c in codes}, key=lambda t: np.dtype(t).itemsize)
        for kind, codes in kinds.items()
    }
    return {**found, "others": [bool, object, bytes, str, np.void]}


def _asfarray(a: Any, dtype: Any = np.float64) -> Any:
    kind = np.dtype(dtype)
    return np.asarray(a, kind if np.issubdtype(kind, np.inexact) else np.float64)


def _find_common_type(array_types: Any, scalar_types: Any) -> Any:
    arrays, scalars = ([np.dtype(t) for t in types] for types in (array_types, scalar_types))
    if not arrays or not scalars:
        return np.result_type(*arrays, *scalars)
    one, other = np.result_type(*arrays), np.result_type(*scalars)
    order = "biufc"  # a scalar promotes an array only if its kind is higher
    return other if order.find(other.kind) > order.find(one.kind) else one


def _in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    return np.isin(np.ravel(ar1), ar2, assume_unique=assume_unique, invert=invert)


def _obj2sctype(rep: Any, default: Any = None) -> Any:
    try:
        return np.dtype(rep).type
    except TypeError:
        return default


class _Cast(dict[Any, Callable[..., Any]]):
    """``np.cast``: conversion functions by type."""

    def __missing__(self, kind: Any) -> Callable[..., Any]:
        return lambda x: np.array(x, copy=None).astype(kind)


_FUNCTIONS: dict[str, Any] = {
    "asfarray": _asfarray,
    "asscalar": lambda a: a.item(),
    "cast": _Cast(),
    "disp": lambda mesg, device=None, linefeed=True: print(
        mesg, end="\n" if linefeed else "", file=device
    ),
    "find_common_type": _find_common_type,
    "in1d": _in1d,
    "issctype": lambda rep: isinstance(rep, type | np.dtype) and _obj2sctype(rep) != np.object_,
    "issubsctype": lambda arg1, arg2: issubclass(_obj2sctype(arg1), _obj2sctype(arg2)),
    "msort": lambda a: np.sort(a, axis=0),
    "obj2sctype": _obj2sctype,
    "sctype2char": lambda sctype: np.dtype(sctype).char,
    "sctypes": _sctypes(),
}


def _ragged(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap an array function to make object arrays of ragged lists, as before NumPy 1.24."""

    @functools.wraps(function)
    def call(a: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return function(a, *args, **kwargs)
        except ValueError as error:
            if "inhomogeneous" not in str(error) or args or kwargs.get("dtype") is not None:
                raise
            return function(a, **{**kwargs, "dtype": object})

    return call


def restore() -> None:
    """Restore the removed names and behavior of ``numpy`` in this process."""
    for name in ("array", "asarray", "asanyarray"):
        if not hasattr(getattr(np, name), "__wrapped__"):  # not wrapped yet
            setattr(np, name, _ragged(getattr(np, name)))
    for name in removed_names():
        setattr(np, name, _value(name))
    for name in _MODULES:
        private = f"numpy.lib._{name}_impl"
        if not hasattr(np.lib, name) and importlib.util.find_spec(private) is not None:
            module = sys.modules[f"numpy.lib.{name}"] = importlib.import_module(private)
            setattr(np.lib, name, module)


def removed_names() -> list[str]:
    """Return the names that the installed NumPy lacks and `restore` restores."""
    return [name for name in (*_SAME, *_RENAMED, *_FUNCTIONS) if name not in vars(np)]


def _value(name: str) -> Any:
    if name in _RENAMED:
        return getattr(np, _RENAMED[name])
    return _SAME[name] if name in _SAME else _FUNCTIONS[name]
