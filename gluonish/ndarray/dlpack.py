"""Sharing memory with other libraries: DLPack capsules in and out, and NumPy arrays in."""

import ctypes
from typing import Any

import numpy as np

from gluonish.core.argument_docs import document_arguments
from gluonish.core.context import Context, cpu
from gluonish.core.device import device_of
from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import ArgumentError
from gluonish.core.spec import Spec
from gluonish.ndarray.ndarray import NDArray, from_host
from gluonish_engine import Var

__all__ = ["from_dlpack", "from_numpy", "to_dlpack_for_read", "to_dlpack_for_write"]


def to_dlpack_for_read(data: NDArray) -> Any:
    """Return a DLPack capsule over the array's memory, for reading; waits for the values.

    Raises:
        ArgumentTypeError: for bfloat16.
    """
    data.wait_to_read()
    return data.__dlpack__()


def to_dlpack_for_write(data: NDArray) -> Any:
    """Return a DLPack capsule over the array's memory, for writing; waits for all its readers.

    The engine does not see writes through the capsule: be done before the array is used again.

    Raises:
        ArgumentTypeError: for bfloat16.
    """
    data.wait_to_write()
    return data.__dlpack__()


class _Capsule:
    """Gives a bare DLPack capsule the interface that NumPy's importer asks for."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def from_dlpack(dlpack: Any, ctx: Context | None = None) -> NDArray:
    """Return an array over the memory behind a DLPack capsule.

    Args:
        dlpack: A capsule, taken over by this call, or an object that offers ``__dlpack__``.
        ctx: Another device to copy the values to.

    Returns:
        An array that shares the memory; a copy of what is not C-contiguous or may not be written.
    """
    bare = not hasattr(dlpack, "__dlpack__")
    values = np.from_dlpack(_Capsule(dlpack) if bare else dlpack)
    if bare and not values.flags.writeable and values.flags.c_contiguous:
        # A capsule of the first version cannot say whether it may be written, and NumPy then
        # assumes not; MXNet's programs write through it.
        values = _writable(values)
    elsewhere = ctx is not None and ctx.device_type != "cpu"
    if elsewhere or not (values.flags.c_contiguous and values.flags.writeable):
        return from_host(values, ctx, values.dtype)
    return _wrap(values, ctx)


def _writable(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    memory: Any = (ctypes.c_char * values.nbytes).from_address(values.ctypes.data)
    memory.owner = values  # keeps the exporter's memory alive
    return np.frombuffer(memory, dtype=values.dtype).reshape(values.shape)


def _wrap(values: np.ndarray[Any, Any], ctx: Context | None) -> NDArray:
    spec = Spec(values.shape, normalize_dtype(values.dtype))
    return NDArray(values, spec, device_of(cpu() if ctx is None else ctx), Var())


def from_numpy(
    ndarray: np.ndarray[Any, Any], zero_copy: bool = True, array_cls: Any = NDArray
) -> NDArray:
    """Return an array over a NumPy array's values; the dtype is kept.

    Args:
        ndarray: C-contiguous values of a dtype that gluonish has.
        zero_copy: Share the memory; ``ndarray`` becomes read-only, since the engine orders writes
            to it from now on. A read-only array is copied.
        array_cls: Accepted for compatibility.

    Raises:
        ArgumentError: if the values are not C-contiguous.
        ArgumentTypeError: if gluonish has no such dtype.
    """
    if not ndarray.flags.c_contiguous:
        raise ArgumentError(
            "from_numpy: expected a C-contiguous array, got one that is not; "
            "use numpy.ascontiguousarray"
        )
    if not zero_copy or not ndarray.flags.writeable:
        return from_host(ndarray, None, ndarray.dtype)
    shared = _wrap(ndarray.view(np.ndarray), None)
    ndarray.flags.writeable = False
    return shared


document_arguments(globals(), __all__)
