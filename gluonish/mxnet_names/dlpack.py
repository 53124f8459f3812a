"""`mx.dlpack`: DLPack's structures for ctypes, and functions that make converters of arrays.

`nd.from_dlpack` and `array.__dlpack__` exchange arrays without these structures.
"""

import ctypes
from collections.abc import Callable
from enum import IntEnum
from typing import Any, ClassVar

from gluonish.ndarray import dlpack
from gluonish.ndarray.ndarray import NDArray
from gluonish.numpy.array import as_np_ndarray, ndarray

__all__ = [
    "DLContext",
    "DLDataType",
    "DLDeviceType",
    "DLManagedTensor",
    "DLPackHandle",
    "DLTensor",
    "DeleterFunc",
    "PyCapsuleDestructor",
    "dl_managed_tensor_deleter",
    "ndarray_from_dlpack",
    "ndarray_from_numpy",
    "ndarray_to_dlpack_for_read",
    "ndarray_to_dlpack_for_write",
]

DLPackHandle = ctypes.c_void_p
PyCapsuleDestructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class DLDeviceType(IntEnum):
    """Kinds of devices."""

    DLCPU = 1
    DLGPU = 2
    DLCPUPINNED = 3
    DLOPENCL = 4
    DLVULKAN = 7
    DLMETAL = 8
    DLVPI = 9
    DLROCM = 10
    DLEXTDEV = 12


class DLContext(ctypes.Structure):
    """A device: its `DLDeviceType` and its number."""

    _fields_: ClassVar = [("device_type", ctypes.c_int), ("device_id", ctypes.c_int)]


class DLDataType(ctypes.Structure):
    """An element type: code, bits and lanes.

    Attributes:
        TYPE_MAP: (code, bits, lanes) by the name of the type.
    """

    _fields_: ClassVar = [
        ("type_code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
    ]
    TYPE_MAP: ClassVar[dict[str, tuple[int, int, int]]] = {
        "int32": (0, 32, 1),
        "int64": (0, 64, 1),
        "bool": (1, 1, 1),
        "uint8": (1, 8, 1),
        "uint32": (1, 32, 1),
        "uint64": (1, 64, 1),
        "float16": (2, 16, 1),
        "float32": (2, 32, 1),
        "float64": (2, 64, 1),
    }


class DLTensor(ctypes.Structure):
    """A tensor: its memory, device, type, shape and strides."""

    _fields_: ClassVar = [
        ("data", ctypes.c_void_p),
        ("ctx", DLContext),
        ("ndim", ctypes.c_int),
        ("dtype", DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


DeleterFunc = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class DLManagedTensor(ctypes.Structure):
    """A tensor with the function that releases its memory."""

    _fields_: ClassVar = [
        ("dl_tensor", DLTensor),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", DeleterFunc),
    ]


@DeleterFunc  # type: ignore[untyped-decorator]
def dl_managed_tensor_deleter(handle: int) -> None:
    """Release nothing: the memory of exported arrays belongs to Python."""


def _of_class(array_cls: type) -> Callable[[NDArray], NDArray]:
    """Return a function that gives an array the class ``array_cls``."""
    return as_np_ndarray if issubclass(array_cls, ndarray) else lambda array: array


def ndarray_from_dlpack(array_cls: type) -> Callable[[Any], NDArray]:
    """Return a function from a DLPack capsule to an array that shares its memory.

    Args:
        array_cls: Class of the arrays, of ``mx.nd`` or of ``mx.np``.
    """
    convert = _of_class(array_cls)
    return lambda capsule: convert(dlpack.from_dlpack(capsule))


def ndarray_to_dlpack_for_read() -> Callable[[NDArray], Any]:
    """Return `nd.to_dlpack_for_read`."""
    return dlpack.to_dlpack_for_read


def ndarray_to_dlpack_for_write() -> Callable[[NDArray], Any]:
    """Return `nd.to_dlpack_for_write`."""
    return dlpack.to_dlpack_for_write


def ndarray_from_numpy(array_cls: type, array_create_fn: Any) -> Callable[..., NDArray]:
    """Return a function from a NumPy array to an array; see `npx.from_numpy`.

    Args:
        array_cls: Class of the arrays, of ``mx.nd`` or of ``mx.np``.
        array_create_fn: Function that copies a NumPy array to an array, for ``zero_copy=False``.
    """
    convert = _of_class(array_cls)

    def from_numpy(ndarray: Any, zero_copy: bool = True) -> NDArray:
        if not zero_copy:
            copied: NDArray = array_create_fn(ndarray, dtype=ndarray.dtype)
            return copied
        return convert(dlpack.from_numpy(ndarray))

    return from_numpy
