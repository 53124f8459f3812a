"""NumPy's protocols: ``numpy.sum(x)`` of an array of ours computes with ours.

A function of NumPy's goes to the function of this package of the same name, or, if there is none
or it cannot do what is asked, to NumPy itself on copies of the values. Arrays of both kinds may
stand beside each other.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from gluonish.core.errors import NotSupportedError
from gluonish.numpy.official import call_official

__all__ = ["array_function", "array_ufunc", "register_functions"]

_functions: dict[str, Callable[..., Any]] = {}

# NumPy's names of functions that are called otherwise here.
_UFUNC_NAMES = {"conjugate": "positive"}


def register_functions(functions: Mapping[str, Callable[..., Any]], prefix: str = "") -> None:
    """Make functions the answers to those of NumPy's with the same names.

    Args:
        functions: By name.
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
    """Answer a function of NumPy's: ``__array_function__``.

    Args:
        self: An array among the arguments.
        func: NumPy's function.
        types: The arrays' classes.
        args: Arguments.
        kwargs: Keywords.
    """
    found = _find(func)
    if found is not None:
        with suppress(NotSupportedError):
            return found(*args, **kwargs)
    return call_official(func, func.__name__, args, kwargs)


def array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """Answer a ufunc of NumPy's, and arithmetic with one of its arrays on the left.

    Args:
        self: An array among the inputs.
        ufunc: The ufunc.
        method: ``"__call__"``; others, such as ``"reduce"``, are NumPy's own work.
        *inputs: Arrays and numbers.
        **kwargs: Options.

    Raises:
        NotSupportedError: The result should go into an array of NumPy's.
    """
    out = kwargs.pop("out", None)
    if out is not None:
        (out,) = out
        if isinstance(out, np.ndarray):
            raise NotSupportedError(
                f"{ufunc.__name__}: expected out to be an array of mx.np, got one of NumPy's; "
                "assign the result's asnumpy()"
            )
        kwargs["out"] = out
    known = str(ufunc.__name__)
    name = _UFUNC_NAMES.get(known, known)
    found = _functions.get(name) if method == "__call__" else None
    if found is not None:
        return found(*inputs, **kwargs)
    return call_official(getattr(ufunc, method), name, inputs, kwargs)
