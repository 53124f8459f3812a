"""Which of MXNet's array semantics is in force, and GPUs: `mx.util`.

MXNet 1.9 can switch from its own arrays to NumPy's semantics. That mode does not exist here:
asking says no, leaving it does nothing, entering it is refused.
"""

from collections.abc import Callable
from typing import NoReturn

from gluonish.core.device import gpu_count, gpu_memory
from gluonish.core.errors import NotSupportedError

__all__ = [
    "get_gpu_count",
    "get_gpu_memory",
    "is_np_array",
    "is_np_shape",
    "np_array",
    "np_shape",
    "reset_np",
    "set_np",
    "set_np_shape",
    "use_np",
    "use_np_array",
    "use_np_shape",
]


class _Classic:
    """Scope of MXNet's own semantics, which are in force anyway."""

    __slots__ = ()

    def __enter__(self) -> None:
        """Change nothing."""

    def __exit__(self, *exc_info: object) -> None:
        """Change nothing."""


def _refuse(what: str) -> NoReturn:
    raise NotSupportedError(
        f"{what}: expected MXNet's own array semantics, got a wish for NumPy's; use mx.nd and "
        "classic Blocks (axes of extent 0 and, as shape (1,), scalars work without it)"
    )


def get_gpu_count() -> int:
    """Return how many CUDA devices CuPy finds; 0 without CuPy."""
    return gpu_count()


def get_gpu_memory(gpu_dev_id: int) -> tuple[int, int]:
    """Return free and total memory of a GPU, in bytes.

    Raises:
        DeviceError: if CuPy or the device is missing.
    """
    return gpu_memory(gpu_dev_id)


def is_np_shape() -> bool:
    """Return whether shapes have NumPy's semantics: never."""
    return False


def is_np_array() -> bool:
    """Return whether Blocks compute with ``mx.np`` arrays: never."""
    return False


def set_np_shape(active: bool) -> bool:
    """Leave NumPy's shape semantics, which is nothing to do; return whether they were in force.

    Raises:
        NotSupportedError: if ``active``.
    """
    if active:
        _refuse("set_np_shape")
    return False


def np_shape(active: bool = True) -> _Classic:
    """Return a scope without NumPy's shape semantics.

    Raises:
        NotSupportedError: if ``active``.
    """
    if active:
        _refuse("np_shape")
    return _Classic()


def np_array(active: bool = True) -> _Classic:
    """Return a scope without ``mx.np`` arrays.

    Raises:
        NotSupportedError: if ``active``.
    """
    if active:
        _refuse("np_array")
    return _Classic()


def set_np(shape: bool = True, array: bool = True) -> None:
    """Leave NumPy's semantics.

    Raises:
        NotSupportedError: if ``shape`` or ``array``.
    """
    if shape or array:
        _refuse("set_np")


def reset_np() -> None:
    """Leave NumPy's semantics, which is nothing to do."""


def use_np_shape(func: Callable[..., object]) -> NoReturn:
    """Refuse a function or class written for NumPy's shape semantics.

    Raises:
        NotSupportedError: always.
    """
    _refuse(f"use_np_shape of {func.__name__}")


def use_np_array(func: Callable[..., object]) -> NoReturn:
    """Refuse a function or class written for ``mx.np`` arrays.

    Raises:
        NotSupportedError: always.
    """
    _refuse(f"use_np_array of {func.__name__}")


def use_np(func: Callable[..., object]) -> NoReturn:
    """Refuse a function or class written for NumPy's semantics.

    Raises:
        NotSupportedError: always.
    """
    _refuse(f"use_np of {func.__name__}")
