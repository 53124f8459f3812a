"""NumPy's dispatch protocols: ``numpy.sum(x)`` of an ``mx.np`` array calls ``mx.np.sum``.

A call of a NumPy function is dispatched to the function of the same name here. If there is none, or
it does not support the arguments, NumPy computes on copies of the values. NumPy arrays and
``mx.np`` arrays may be mixed.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from gluonish.core.errors import NotSupportedError
from gluonish.ndarray.ndarray import NDArray
from gluonish.numpy.official import call_official

__all__ = ["array_function", "array_ufunc", "register_functions"]

_functions: dict[str, Callable[..., Any]] = {}

# NumPy's ufuncs that have another name here.
_UFUNC_NAMES = {"conjugate": "positive"}


def register_functions(functions: Mapping[str, Callable[..., Any]], prefix: str = "") -> None:
    """Register functions to which NumPy functions of the same names are dispatched.

    Args:
        functions: The functions by name.
        prefix: ``"linalg."`` for ``numpy.linalg``.
    """
    for name, function in functions.items():
        _functions[prefix + name] = function


def _find(function: Any) -> Callable[..., Any] | None:
    module = function.__module__ or ""
    prefix = "linalg." if "linalg" in module else ""
    return _functions.get(prefix + function.__name__)


def array_function(
    self: Any, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Dispatch a call of a NumPy function; implements ``__array_function__``."""
    found = _find(func)
    if found is not None:
        with suppress(NotSupportedError):
            return found(*args, **kwargs)
    return call_official(func, func.__name__, args, kwargs)


def array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """Dispatch a ufunc, or arithmetic with a NumPy array on the left; for ``__array_ufunc__``.

    Methods other than ``"__call__"``, such as ``"reduce"``, are computed by NumPy, and so are calls
    with a NumPy array as ``out``, among them ``values += x``.
    """
    out = kwargs.pop("out", None)
    if out is not None:
        if all(isinstance(target, np.ndarray) for target in out):
            hosted = [np.asarray(x) if isinstance(x, NDArray) else x for x in inputs]
            return getattr(ufunc, method)(*hosted, out=out, **kwargs)
        (out,) = out
        kwargs["out"] = out
    name = _UFUNC_NAMES.get(ufunc.__name__) or ufunc.__name__
    found = _functions.get(name) if method == "__call__" else None
    if found is not None:
        return found(*inputs, **kwargs)
    return call_official(getattr(ufunc, method), name, inputs, kwargs)
