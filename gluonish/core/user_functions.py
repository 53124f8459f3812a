"""`mx.util`: NumPy semantics, GPUs and environment variables."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import numpy as np

from gluonish.core.argument_names import (
    wrap_ctx_to_device_func,
    wrap_data_api_linalg_func,
    wrap_data_api_statical_func,
    wrap_sort_functions,
)
from gluonish.core.config import get_variable, set_variable
from gluonish.core.context import Context
from gluonish.core.device import gpu_capability, gpu_count, gpu_memory
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.core.numpy_mode import (
    NumpyScope,
    is_np_array,
    is_np_default_dtype,
    is_np_shape,
    set_np_array,
    set_np_default_dtype,
    set_np_shape,
)

__all__ = [
    "dtype_from_number",
    "get_cuda_compute_capability",
    "get_gpu_count",
    "get_gpu_memory",
    "get_max_supported_compute_capability",
    "get_rtc_compile_opts",
    "getenv",
    "is_np_array",
    "is_np_default_dtype",
    "is_np_shape",
    "np_array",
    "np_default_dtype",
    "np_shape",
    "np_ufunc_legal_option",
    "reset_np",
    "set_flush_denorms",
    "set_module",
    "set_np",
    "set_np_default_dtype",
    "set_np_shape",
    "setenv",
    "use_np",
    "use_np_array",
    "use_np_default_dtype",
    "use_np_shape",
    "wrap_ctx_to_device_func",
    "wrap_data_api_linalg_func",
    "wrap_data_api_statical_func",
    "wrap_np_binary_func",
    "wrap_np_unary_func",
    "wrap_sort_functions",
]

_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])

# Keywords of NumPy's universal functions that are accepted with these values only.
_UFUNC_DEFAULTS = {
    "where": True,
    "casting": "same_kind",
    "order": "K",
    "dtype": None,
    "subok": True,
}
_UFUNC_CHOICES = {
    "casting": ("no", "equiv", "safe", "same_kind", "unsafe"),
    "order": ("C", "F", "A", "K"),
    "subok": (True, False),
}
_UFUNC_DTYPES = ("int8", "uint8", "int32", "int64", "float16", "float32", "float64")


def get_gpu_count() -> int:
    """Return the number of CUDA devices that CuPy finds; 0 without CuPy."""
    return gpu_count()


def get_gpu_memory(gpu_dev_id: int) -> tuple[int, int]:
    """Return the free and the total memory of a GPU, in bytes.

    Args:
        gpu_dev_id: Index of the device, from 0.

    Raises:
        DeviceError: CuPy is not installed, or there is no such device.
    """
    return gpu_memory(gpu_dev_id)


def get_cuda_compute_capability(ctx: Context | None = None, device: Context | None = None) -> int:
    """Return the compute capability of a GPU: 90 for 9.0.

    Args:
        ctx: The GPU.
        device: ``ctx`` under the name it has in MXNet 2.0.

    Raises:
        ArgumentError: ``ctx`` is not a GPU.
        DeviceError: CuPy is not installed, or there is no such device.
    """
    ctx = ctx or device
    if not isinstance(ctx, Context) or not ctx.is_gpu:
        raise ArgumentError(f"get_cuda_compute_capability: expected a GPU, got {ctx}")
    return gpu_capability(ctx.device_id)


class _ArrayMode:
    """The current array setting, under MXNet's name."""

    @property
    def value(self) -> "_NumpyArrayScope":
        """A scope with the current setting."""
        return _NumpyArrayScope(is_np_array())


class _NumpyArrayScope(NumpyScope):
    """The scope of `np_array`, under MXNet's name.

    Args:
        is_np_array: Whether Gluon makes arrays of ``mx.np``.
    """

    _current: ClassVar[_ArrayMode] = _ArrayMode()

    def __init__(self, is_np_array: bool) -> None:
        super().__init__(array=is_np_array)
        self._is_np_array = is_np_array


def np_shape(active: bool = True) -> NumpyScope:
    """Return a context manager that turns NumPy's shape semantics on or off.

    Args:
        active: Whether sizes may be 0 and shapes ().
    """
    return NumpyScope(shape=active)


def np_array(active: bool = True) -> NumpyScope:
    """Return a context manager that decides which arrays Gluon creates.

    Args:
        active: True for arrays of ``mx.np``, False for ``mx.nd``.
    """
    return NumpyScope(array=active)


def np_default_dtype(active: bool = True) -> NumpyScope:
    """Return a context manager that turns NumPy's default dtype on or off.

    Args:
        active: Whether arrays of ``mx.np`` are float64 by default; if not, float32.
    """
    return NumpyScope(dtype=active)


def set_np(shape: bool = True, array: bool = True, dtype: bool = False) -> None:
    """Turn NumPy's semantics on: Gluon's parameters and batches become arrays of ``mx.np``.

    Args:
        shape: Whether shapes follow NumPy: sizes may be 0, and () is a scalar.
        array: Whether Gluon creates arrays of ``mx.np``; needs ``shape``.
        dtype: Whether arrays of ``mx.np`` are float64 by default, as in NumPy; if not, float32.

    Raises:
        ArgumentError: ``array`` is True and ``shape`` is False.

    Example:
        >>> import gluonish as mx
        >>> mx.npx.set_np()
        >>> mx.np.ones(()).shape, mx.util.is_np_array()
        ((), True)
        >>> mx.npx.reset_np()
    """
    if array and not shape:
        raise ArgumentError("set_np: expected shape=True with array=True, got shape=False")
    set_np_shape(shape)
    set_np_array(array)
    set_np_default_dtype(dtype)


def reset_np() -> None:
    """Turn NumPy's semantics off."""
    set_np(shape=False, array=False, dtype=False)


def use_np_shape(func: _Decorated) -> _Decorated:
    """Decorator: a function, or all methods of a class, run with NumPy's shape semantics.

    Raises:
        ArgumentTypeError: ``func`` is neither.
    """
    return _decorated("use_np_shape", func, {"shape": True})


def use_np_array(func: _Decorated) -> _Decorated:
    """Decorator: in a function, or all methods of a class, Gluon creates arrays of ``mx.np``.

    Raises:
        ArgumentTypeError: ``func`` is neither.
    """
    return _decorated("use_np_array", func, {"array": True})


def use_np_default_dtype(func: _Decorated) -> _Decorated:
    """Decorator: in a function, or all methods of a class, arrays are float64 by default.

    Raises:
        ArgumentTypeError: ``func`` is neither.
    """
    return _decorated("use_np_default_dtype", func, {"dtype": True})


def use_np(func: _Decorated) -> _Decorated:
    """Decorator: a function, or all methods of a class, run with NumPy's semantics.

    Raises:
        ArgumentTypeError: ``func`` is neither.
    """
    return _decorated("use_np", func, {"shape": True, "array": True})


def _decorated(what: str, func: _Decorated, settings: dict[str, bool]) -> _Decorated:
    cls: Any = func
    if isinstance(cls, type):
        # Inherited ones, too: a block's parameters are made by methods of its base classes.
        for name, member in inspect.getmembers(cls, inspect.isfunction):
            if isinstance(inspect.getattr_static(cls, name), staticmethod):
                setattr(cls, name, staticmethod(_scoped(member, settings)))
            else:
                setattr(cls, name, _scoped(member, settings))
        for name, member in inspect.getmembers_static(cls):
            if isinstance(member, property) and member.fget is not None:
                read = _scoped(member.fget, settings)
                setattr(cls, name, property(read, member.fset, member.fdel, member.__doc__))
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
    """Return a decorator that sets ``__module__`` of a function or class.

    Args:
        module: The module's name; None changes nothing.
    """

    def decorator(func: _Decorated) -> _Decorated:
        func.__module__ = module
        return func

    return decorator


def getenv(name: str) -> str | None:
    """Return the value of an environment variable; None if it is not set.

    Args:
        name: Name of the variable.

    Raises:
        ArgumentTypeError: ``name`` is not a str.
    """
    return get_variable(name)


def setenv(name: str, value: str | None) -> None:
    """Set an environment variable; None removes it.

    Args:
        name: Name of the variable.
        value: The new value, or None.

    Raises:
        ArgumentTypeError: ``name`` or ``value`` is not a str.
    """
    set_variable(name, value)


def np_ufunc_legal_option(key: str, value: Any) -> bool:
    """Whether NumPy's ufuncs accept a value for a keyword argument.

    Args:
        key: ``"where"``, ``"casting"``, ``"order"``, ``"dtype"`` or ``"subok"``.
    """
    if key == "where":
        return True
    if key == "dtype":
        try:
            return value is not None and np.dtype(value).name in _UFUNC_DTYPES
        except TypeError:
            return False
    return any(type(value) is type(x) and value == x for x in _UFUNC_CHOICES.get(key, ()))


def wrap_np_unary_func(func: _Decorated) -> _Decorated:
    """Decorator: a function of one array accepts the keyword arguments of NumPy's ufuncs.

    Args:
        func: The function, called as ``func(x, out=None)``.

    Raises:
        NotSupportedError: When called: a keyword argument differs from its default.
        ArgumentTypeError: When called: a keyword is unknown, or NumPy does not allow its value.
    """
    wrapped: _Decorated = _with_ufunc_keywords(func)
    return wrapped


def wrap_np_binary_func(func: _Decorated) -> _Decorated:
    """Decorator: a function of two arrays accepts the keyword arguments of NumPy's ufuncs.

    Args:
        func: The function, called as ``func(x1, x2, out=None)``.

    Raises:
        NotSupportedError: When called: a keyword argument differs from its default.
        ArgumentTypeError: When called: a keyword is unknown, or NumPy does not allow its value.
    """
    wrapped: _Decorated = _with_ufunc_keywords(func)
    return wrapped


def _with_ufunc_keywords(func: Any) -> Any:
    @functools.wraps(func)
    def run(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        for key, value in kwargs.items():
            _check_ufunc_keyword(func.__name__, key, value)
        return func(*args, **({} if out is None else {"out": out}))

    return run


def _check_ufunc_keyword(name: str, key: str, value: Any) -> None:
    if key not in _UFUNC_DEFAULTS:
        raise ArgumentTypeError(
            f"{name}: expected keywords among out, {', '.join(_UFUNC_DEFAULTS)}, got {key}"
        )
    default = _UFUNC_DEFAULTS[key]
    if value is default or (isinstance(value, str) and value == default):
        return
    if not np_ufunc_legal_option(key, value):
        raise ArgumentTypeError(f"{name}: expected {key} that NumPy allows, got {value!r}")
    raise NotSupportedError(f"{name}: expected {key}={default!r}, got {value!r}")


def dtype_from_number(number: Any) -> Any:
    """Return the default dtype of a Python number, or the dtype of a NumPy number.

    Args:
        number: The number.

    Raises:
        ArgumentTypeError: It is not a number.
    """
    if isinstance(number, np.generic):
        return number.dtype
    if isinstance(number, int):
        return np.int64
    if isinstance(number, float):
        return np.float64 if is_np_default_dtype() else np.float32
    raise ArgumentTypeError(f"dtype_from_number: expected a number, got {type(number).__name__}")


def set_flush_denorms(value: bool) -> bool:
    """Return False: CPUs keep denormal numbers here, whatever ``value``; fused updates do not.

    Args:
        value: Whether MXNet would set them to 0.
    """
    return False


def get_max_supported_compute_capability() -> int:
    """Return the compute capability of the newest GPU of this machine: 90 for 9.0.

    Raises:
        ArgumentError: There is no GPU.
    """
    count = gpu_count()
    if not count:
        raise ArgumentError("get_max_supported_compute_capability: expected a GPU, got none")
    return max(gpu_capability(number) for number in range(count))


def get_rtc_compile_opts(device: Context) -> list[str]:
    """Return the options of NVRTC for a GPU: ``["--gpu-architecture=sm_90"]``.

    Args:
        device: The GPU.

    Raises:
        ArgumentError: ``device`` is not a GPU.
        DeviceError: CuPy is not installed, or there is no such device.
    """
    return [f"--gpu-architecture=sm_{get_cuda_compute_capability(device)}"]
