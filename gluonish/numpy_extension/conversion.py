"""`util.default_array` and `util.numpy_fallback`: between arrays of MXNet and of NumPy."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from gluonish.core.context import Context
from gluonish.core.numpy_mode import is_np_array
from gluonish.ndarray.creation import array as nd_array
from gluonish.ndarray.ndarray import NDArray
from gluonish.numpy.calls import from_official
from gluonish.numpy.creation import array as np_array

__all__ = ["default_array", "numpy_fallback"]


def default_array(
    source_array: Any,
    device: Context | None = None,
    dtype: Any = None,
    ctx: Context | None = None,
) -> Any:
    """Return an array of ``mx.np`` where `is_np_array` is on, else of ``mx.nd``.

    Args:
        source_array: Array, number, or nested sequence of numbers.
        device: Device; the current one by default.
        dtype: Element type; float32 by default.
        ctx: ``device`` under its name in MXNet 1.9.
    """
    make = np_array if is_np_array() else nd_array
    dtype = "float32" if dtype is None and not isinstance(source_array, NDArray) else dtype
    return make(source_array, dtype=dtype, ctx=device or ctx)


def numpy_fallback(func: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: a function gets NumPy's arrays, and its results become arrays of ``mx.np``.

    Gradients do not flow through it.

    Args:
        func: Function of NumPy arrays.
    """

    @functools.wraps(func)
    def run(*args: Any, **kwargs: Any) -> Any:
        found = func(
            *[_on_host(x) for x in args], **{name: _on_host(x) for name, x in kwargs.items()}
        )
        if isinstance(found, list | tuple):
            return type(found)(_returned(x) for x in found)
        return _returned(found)

    return run


def _on_host(x: Any) -> Any:
    if isinstance(x, list | tuple):
        return type(x)(_on_host(item) for item in x)
    return x.asnumpy() if isinstance(x, NDArray) else x


def _returned(x: Any) -> Any:
    return from_official(x) if isinstance(x, np.ndarray) else x
