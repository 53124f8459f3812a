"""DLPack capsules of the types that NumPy and CuPy do not exchange: bfloat16 and 8-bit floats.

A capsule points to a tensor that says what its numbers are. NumPy makes and takes such capsules for
unsigned integers of the same width, and here the word for the type is exchanged: after NumPy made
one, and before it takes one. The memory is the same, and so is who frees it.
"""

import ctypes
from typing import Any, ClassVar

import ml_dtypes
import numpy as np

from gluonish.core.device import Device
from gluonish.core.dtype import BFLOAT16
from gluonish.core.errors import ArgumentTypeError

_UNSIGNED = 1
# DLPack's words for types (dlpack.h).
_CODES: dict[np.dtype[Any], int] = {
    BFLOAT16: 4,
    np.dtype(ml_dtypes.float8_e4m3fn): 10,
    np.dtype(ml_dtypes.float8_e4m3fnuz): 11,
    np.dtype(ml_dtypes.float8_e5m2): 12,
    np.dtype(ml_dtypes.float8_e5m2fnuz): 13,
    np.dtype(ml_dtypes.float8_e8m0fnu): 14,
}
_DTYPES = {(code, 8 * dtype.itemsize): dtype for dtype, code in _CODES.items()}
_BITS = {1: np.dtype(np.uint8), 2: np.dtype(np.uint16)}

_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


class _Tensor(ctypes.Structure):
    """The beginning of what a capsule points to: ``DLTensor`` of dlpack.h."""

    _fields_: ClassVar[Any] = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("axes", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
    ]


# Names of a capsule, and where the tensor lies in what it points to: the newer kind
# (``DLManagedTensorVersioned``) has a version, two pointers and flags in front.
_KINDS = ((b"dltensor", 0), (b"dltensor_versioned", 32))


def _tensor_of(capsule: Any) -> _Tensor | None:
    """Return a capsule's tensor; None if it is no capsule, or was taken."""
    for name, offset in _KINDS:
        try:
            return _Tensor.from_address(int(_pointer_of(capsule, name)) + offset)
        except ValueError:
            continue
    return None


class BareCapsule:
    """Gives a bare DLPack capsule the interface that importers ask for.

    Args:
        capsule: The capsule; nobody took it yet.

    Raises:
        ArgumentTypeError: It is none.
    """

    def __init__(self, capsule: Any) -> None:
        tensor = _tensor_of(capsule)
        if tensor is None:
            raise ArgumentTypeError(
                "from_dlpack: expected an object with __dlpack__ or a capsule that nobody took, "
                f"got {capsule!r}"
            )
        self._capsule = capsule
        self._device = (int(tensor.device_type), int(tensor.device_id))

    def __dlpack__(self, **_options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device


class Retyped:
    """Offers what another object does, bfloat16 and 8-bit floats as unsigned integers.

    Args:
        offered: An object with ``__dlpack__``.

    Attributes:
        dtype: What the integers stand for, once they were taken; None if they are what they say.
    """

    def __init__(self, offered: Any) -> None:
        self._offered = offered
        self.dtype: np.dtype[Any] | None = None

    def __dlpack__(self, **options: Any) -> Any:
        capsule = self._offered.__dlpack__(**options)
        tensor = _tensor_of(capsule)
        if tensor is not None and tensor.lanes == 1:
            self.dtype = _DTYPES.get((tensor.code, tensor.bits))
            if self.dtype is not None:
                tensor.code = _UNSIGNED
        return capsule

    def __dlpack_device__(self) -> Any:
        return self._offered.__dlpack_device__()

    def typed(self, raw: Any) -> Any:
        """Return what an importer made of it, with its own type."""
        return raw if self.dtype is None else raw.view(self.dtype)


def as_bits(raw: Any) -> Any:
    """Return a raw array of a type that NumPy does not exchange as the integers that it is."""
    return raw.view(_BITS[raw.dtype.itemsize]) if raw.dtype in _CODES else raw


def export(device: Device, raw: Any, **options: Any) -> Any:
    """Return a capsule over a raw array of any type, on whose values nobody works any more.

    Args:
        device: Where it lies.
        raw: The array.
        **options: Those of ``__dlpack__``.
    """
    capsule = device.to_dlpack(as_bits(raw), **options)
    code = _CODES.get(raw.dtype)
    if code is not None:
        tensor = _tensor_of(capsule)
        assert tensor is not None, "a capsule that was just made"
        tensor.code = code
    return capsule
