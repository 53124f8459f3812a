"""Element types of ONNX, and carrier types for those that gluonish's arrays lack.

float8 and float4 numbers are stored in float32 arrays, 4-bit and 2-bit integers in int8 or uint8
arrays: the carrier type represents all values of the narrow type exactly. `Narrow` adds the ONNX
type to such an array. Strings and complex numbers have no carrier type.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from gluonish.core.dtype import BFLOAT16, FLOAT32
from gluonish.core.errors import FileFormatError, NotSupportedError

_INT8, _UINT8 = np.dtype(np.int8), np.dtype(np.uint8)


class Element(NamedTuple):
    """An element type of ONNX.

    Attributes:
        name: Name in ONNX, such as ``FLOAT``.
        number: Number in ONNX.
        dtype: Dtype of gluonish's arrays.
        stored: Dtype of the numbers in a file; it differs from ``dtype`` for narrow types.
        bits: Bits of one number in a file.
    """

    name: str
    number: int
    dtype: np.dtype[Any]
    stored: np.dtype[Any]
    bits: int

    @property
    def is_narrow(self) -> bool:
        """Whether gluonish's arrays use a wider carrier type."""
        return self.dtype != self.stored


class Narrow(NamedTuple):
    """An array of a carrier type, and the narrow element type of its numbers."""

    array: Any
    element: Element


def _plain(name: str, number: int, dtype: Any) -> Element:
    known = np.dtype(dtype)
    return Element(name, number, known, known, known.itemsize * 8)


def _narrow(name: str, number: int, carrier: np.dtype[Any], bits: int) -> Element | None:
    word = name.lower().replace("float8e", "float8_e").replace("float4e2m1", "float4_e2m1fn")
    word = {"float8_e8m0": "float8_e8m0fnu"}.get(word, word)
    kind = getattr(ml_dtypes, word, None)  # versions before 0.5 lack some
    return None if kind is None else Element(name, number, carrier, np.dtype(kind), bits)


_LISTED = (
    _plain("FLOAT", 1, np.float32),
    _plain("UINT8", 2, np.uint8),
    _plain("INT8", 3, np.int8),
    _plain("UINT16", 4, np.uint16),
    _plain("INT16", 5, np.int16),
    _plain("INT32", 6, np.int32),
    _plain("INT64", 7, np.int64),
    _plain("BOOL", 9, np.bool_),
    _plain("FLOAT16", 10, np.float16),
    _plain("DOUBLE", 11, np.float64),
    _plain("UINT32", 12, np.uint32),
    _plain("UINT64", 13, np.uint64),
    _plain("BFLOAT16", 16, BFLOAT16),
    _narrow("FLOAT8E4M3FN", 17, FLOAT32, 8),
    _narrow("FLOAT8E4M3FNUZ", 18, FLOAT32, 8),
    _narrow("FLOAT8E5M2", 19, FLOAT32, 8),
    _narrow("FLOAT8E5M2FNUZ", 20, FLOAT32, 8),
    _narrow("UINT4", 21, _UINT8, 4),
    _narrow("INT4", 22, _INT8, 4),
    _narrow("FLOAT4E2M1", 23, FLOAT32, 4),
    _narrow("FLOAT8E8M0", 24, FLOAT32, 8),
    _narrow("UINT2", 25, _UINT8, 2),
    _narrow("INT2", 26, _INT8, 2),
)
ELEMENTS: Mapping[int, Element] = {entry.number: entry for entry in _LISTED if entry is not None}
_ABSENT = {
    0: "numbers of no declared type",
    8: "strings",
    14: "complex numbers",
    15: "complex numbers",
}
_BY_DTYPE = {entry.dtype: entry for entry in ELEMENTS.values() if not entry.is_narrow}


def element(number: int, what: str) -> Element:
    """Return the element type of an ONNX number.

    Args:
        number: Number of the type in ONNX.
        what: The owner of the elements, for error messages.

    Raises:
        NotSupportedError: gluonish's arrays do not support this type.
        FileFormatError: ONNX has no type with this number.
    """
    found = ELEMENTS.get(number)
    if found is not None:
        return found
    if number in _ABSENT or 16 < number < 40:
        kind = _ABSENT.get(number, f"elements of ONNX's type {number}")
        raise NotSupportedError(f"{what}: expected numbers that arrays here hold, got {kind}")
    raise FileFormatError(f"{what}: expected one of ONNX's element types, got {number}")


def element_of(value: Any) -> Element:
    """Return the element type of a value: an array or a `Narrow`."""
    if isinstance(value, Narrow):
        return value.element
    return _BY_DTYPE[np.dtype(value.dtype)]


def narrowed(array: Any, kind: Element) -> Any:
    """Return an array as a value of an element type: wrapped in `Narrow` if the type is narrow."""
    return Narrow(array, kind) if kind.is_narrow else array
