"""DLPack capsules of types that NumPy and CuPy do not exchange: bfloat16 and 8-bit floats.

NumPy exports and imports capsules of unsigned integers of the same width. The type code in the
capsule's tensor is replaced after NumPy exports it, and before NumPy imports it. Memory and deleter
stay the same.
"""

import ctypes
from typing import Any, ClassVar

import ml_dtypes
import numpy as np

from gluonish.core.device import Device
from gluonish.core.dtype import BFLOAT16
from gluonish.core.errors import ArgumentTypeError

_UNSIGNED = 1
# DLPack's type codes (dlpack.h).
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
    """The first fields of ``DLTensor`` (dlpack.h)."""

    _fields_: ClassVar[Any] = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("axes", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
    ]


# Capsule names, and the offset of the tensor in the struct: ``DLManagedTensorVersioned`` begins
# with a version, two pointers and flags.
_KINDS = ((b"dltensor", 0), (b"dltensor_versioned", 32))


def _tensor_of(capsule: Any) -> _Tensor | None:
    """Return a capsule's tensor; None for another object or a consumed capsule."""
    for name, offset in _KINDS:
        try:
            return _Tensor.from_address(int(_pointer_of(capsule, name)) + offset)
        except ValueError:
            continue
    return None


class BareCapsule:
    """An exporter (``__dlpack__``, ``__dlpack_device__``) of a DLPack capsule.

    Raises:
        ArgumentTypeError: The object is not a capsule, or the capsule was consumed.
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
    """A wrapper of an exporter that exports bfloat16 and 8-bit floats as unsigned integers.

    Attributes:
        dtype: The original type, set by `__dlpack__`; None if it was not replaced.
    """

    def __init__(self, exporter: Any) -> None:
        self._exporter = exporter
        self.dtype: np.dtype[Any] | None = None

    def __dlpack__(self, **options: Any) -> Any:
        capsule = self._exporter.__dlpack__(**options)
        tensor = _tensor_of(capsule)
        if tensor is not None and tensor.lanes == 1:
            self.dtype = _DTYPES.get((tensor.code, tensor.bits))
            if self.dtype is not None:
                tensor.code = _UNSIGNED
        return capsule

    def __dlpack_device__(self) -> Any:
        return self._exporter.__dlpack_device__()

    def typed(self, raw: Any) -> Any:
        """Return an imported array as a view of its original type."""
        return raw if self.dtype is None else raw.view(self.dtype)


def as_bits(raw: Any) -> Any:
    """Return a raw array of bfloat16 or 8-bit floats as unsigned integers; others unchanged."""
    return raw.view(_BITS[raw.dtype.itemsize]) if raw.dtype in _CODES else raw


def export(device: Device, raw: Any, **options: Any) -> Any:
    """Return a capsule of a raw array of any type, on which no operation is pending."""
    capsule = device.to_dlpack(as_bits(raw), **options)
    code = _CODES.get(raw.dtype)
    if code is not None:
        tensor = _tensor_of(capsule)
        assert tensor is not None, "a new capsule"
        tensor.code = code
    return capsule
