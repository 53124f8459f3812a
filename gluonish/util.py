"""Which of MXNet's array semantics is in force, and GPUs: `mx.util`."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from gluonish.core.context import Context
from gluonish.core.device import gpu_capability, gpu_count, gpu_memory
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.numpy_mode import (
    NumpyScope,
    is_np_array,
    is_np_shape,
    set_np_array,
    set_np_shape,
)

__all__ = [
    "get_cuda_compute_capability",
    "get_gpu_count",
    "get_gpu_memory",
    "is_np_array",
    "is_np_shape",
    "np_array",
    "np_shape",
    "reset_np",
    "set_module",
    "set_np",
    "set_np_shape",
    "use_np",
    "use_np_array",
    "use_np_shape",
]

_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])


def get_gpu_count() -> int:
    """Return how many CUDA devices CuPy finds; 0 without CuPy."""
    return gpu_count()


def get_gpu_memory(gpu_dev_id: int) -> tuple[int, int]:
    """Return free and total memory of a GPU, in bytes.

    Raises:
        DeviceError: if CuPy or the device is missing.
    """
    return gpu_memory(gpu_dev_id)


def get_cuda_compute_capability(ctx: Context) -> int:
    """Return the compute capability of a GPU, as 90 for 9.0.

    Args:
        ctx: The GPU.

    Raises:
        ArgumentError: if ``ctx`` is no GPU.
        DeviceError: if CuPy or the device is missing.
    """
    if not isinstance(ctx, Context) or not ctx.is_gpu:
        raise ArgumentError(f"get_cuda_compute_capability: expected a GPU, got {ctx}")
    return gpu_capability(ctx.device_id)


def np_shape(active: bool = True) -> NumpyScope:
    """Return a scope with NumPy's semantics of shapes, or without them."""
    return NumpyScope(shape=active)


def np_array(active: bool = True) -> NumpyScope:
    """Return a scope in which Gluon makes arrays of ``mx.np``, or of ``mx.nd``."""
    return NumpyScope(array=active)


def set_np(shape: bool = True, array: bool = True) -> None:
    """Put NumPy's semantics in force: Gluon's parameters and batches are arrays of ``mx.np``.

    Args:
        shape: Semantics of shapes.
        array: Whether Gluon makes arrays of ``mx.np``, which needs ``shape``.

    Raises:
        ArgumentError: for ``array`` without ``shape``.
    """
    if array and not shape:
        raise ArgumentError("set_np: expected shape=True with array=True, got shape=False")
    set_np_shape(shape)
    set_np_array(array)


def reset_np() -> None:
    """Put NumPy's semantics out of force."""
    set_np(shape=False, array=False)


def use_np_shape(func: _Decorated) -> _Decorated:
    """Make a function, or all methods of a class, run with NumPy's semantics of shapes.

    Raises:
        ArgumentTypeError: if ``func`` is neither.
    """
    return _decorated("use_np_shape", func, {"shape": True})


def use_np_array(func: _Decorated) -> _Decorated:
    """Make a function, or all methods of a class, run where Gluon makes arrays of ``mx.np``.

    Raises:
        ArgumentTypeError: if ``func`` is neither.
    """
    return _decorated("use_np_array", func, {"array": True})


def use_np(func: _Decorated) -> _Decorated:
    """Make a function, or all methods of a class, run with NumPy's semantics.

    Raises:
        ArgumentTypeError: if ``func`` is neither.
    """
    return _decorated("use_np", func, {"shape": True, "array": True})


def _decorated(what: str, func: _Decorated, settings: dict[str, bool]) -> _Decorated:
    whole: Any = func
    if isinstance(whole, type):
        for name, member in list(vars(whole).items()):
            if inspect.isfunction(member):
                setattr(whole, name, _scoped(member, settings))
        return func
    if not callable(func):
        raise ArgumentTypeError(
            f"{what}: expected a function or a class, got {type(func).__name__}"
        )
    scoped: _Decorated = _scoped(func, settings)
    return scoped


def _scoped(func: Callable[..., Any], settings: dict[str, bool]) -> Any:
    @functools.wraps(func)
    def run(*args: Any, **kwargs: Any) -> Any:
        with NumpyScope(**settings):
            return func(*args, **kwargs)

    return run


def set_module(module: str) -> Callable[[_Decorated], _Decorated]:
    """Return a decorator that gives a function or class another ``__module__``."""

    def decorator(func: _Decorated) -> _Decorated:
        func.__module__ = module
        return func

    return decorator
