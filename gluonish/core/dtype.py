"""Element types: their names, their numbers in files, and type promotion.

NumPy and CuPy disagree about bfloat16 (NumPy raises, CuPy widens), so the table below is the only
promotion rule, and kernels receive arrays that already have the right type.
"""

from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np

from gluonish.core.errors import ArgumentTypeError, DtypeError, nearest
from gluonish.core.mxnet_rules import follows_mxnet1

# An element type as an argument: its name, a type of NumPy or Python, or a NumPy dtype.
DType = str | type | np.dtype[Any]

BOOL = np.dtype(np.bool_)
UINT8 = np.dtype(np.uint8)
INT8 = np.dtype(np.int8)
INT16 = np.dtype(np.int16)
UINT16 = np.dtype(np.uint16)
UINT32 = np.dtype(np.uint32)
UINT64 = np.dtype(np.uint64)
INT4 = np.dtype(ml_dtypes.int4)  # of files only; arrays have no such elements
INT32 = np.dtype(np.int32)
INT64 = np.dtype(np.int64)
FLOAT16 = np.dtype(np.float16)
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOAT32 = np.dtype(np.float32)
FLOAT64 = np.dtype(np.float64)

# The numbers that `.params` files and `__dtype__` attributes use (shared/api/formats.md, section
# 1.5).
DTYPE_FLAGS: Mapping[np.dtype[Any], int] = {
    FLOAT32: 0,
    FLOAT64: 1,
    FLOAT16: 2,
    UINT8: 3,
    INT32: 4,
    INT8: 5,
    INT64: 6,
    BOOL: 7,
    INT16: 8,
    UINT16: 9,
    UINT32: 10,
    UINT64: 11,
    BFLOAT16: 12,
}
# Types without a number in files: arrays of them can be loaded, printed, cast and saved.
STORED_DTYPES: tuple[np.dtype[Any], ...] = tuple(
    np.dtype(stored)
    for stored in (
        ml_dtypes.float8_e4m3fn,
        ml_dtypes.float8_e5m2,
        ml_dtypes.float8_e8m0fnu,
        ml_dtypes.float8_e4m3fnuz,
        ml_dtypes.float8_e5m2fnuz,
    )
)
_BY_FLAG = {flag: dtype for dtype, flag in DTYPE_FLAGS.items()}
_BY_NAME = {dtype.name: dtype for dtype in (*DTYPE_FLAGS, *STORED_DTYPES)}
_SAME = {
    dtype: dtype for dtype in (*DTYPE_FLAGS, *STORED_DTYPES)
}  # NumPy may have several objects for one type
# NumPy's other names. NumPy's own parser also accepts deprecated codes, with a warning.
_BY_ANY_NAME = {
    **_BY_NAME,
    **{
        name: dtype
        for dtype in DTYPE_FLAGS
        if dtype is not BFLOAT16
        for name in (dtype.str, dtype.str[1:], dtype.char)
    },
    "double": FLOAT64,
    "float": FLOAT64,
    "half": FLOAT16,
    "int": INT64,
    "single": FLOAT32,
}
# Floating types, with the bits of their significands.
_FLOATING = {FLOAT16: 11, BFLOAT16: 8, FLOAT32: 24, FLOAT64: 53}

# Widening order; float16 and bfloat16 represent different numbers and promote to float32.
_SIGNED = (INT8, INT16, INT32, INT64)
_UNSIGNED = (UINT8, UINT16, UINT32, UINT64)
_FLOAT_ORDER = (FLOAT16, FLOAT32, FLOAT64)


def normalize_dtype(dtype: object) -> np.dtype[Any]:
    """Return the NumPy dtype for a name, a type, a dtype or an array of it; None means float32.

    Raises:
        DtypeError: Gluonish has no such element type.
    """
    if dtype is None:
        return FLOAT32
    found: np.dtype[Any] | None
    if isinstance(dtype, str):
        found = _BY_ANY_NAME.get(dtype)
    else:
        # An array means its element type, as in older functions of NumPy.
        dtype = dtype if isinstance(dtype, type) else getattr(dtype, "dtype", dtype)
        try:
            found = _SAME.get(np.dtype(dtype))  # type: ignore[call-overload]  # any object
        except (TypeError, ValueError):
            found = None
    if found is None:
        raise DtypeError(
            f"dtype: expected one of {', '.join(_BY_NAME)}, got {dtype!r}"
            f"{nearest(dtype, _BY_NAME) or '; convert the data first'}"
        )
    return found


def dtype_from_flag(flag: int) -> np.dtype[Any]:
    """Return the dtype of a number in a file.

    Raises:
        ArgumentTypeError: The number is unknown.
    """
    found = _BY_FLAG.get(flag)
    if found is None:
        raise ArgumentTypeError(f"dtype flag: expected one of {sorted(_BY_FLAG)}, got {flag}")
    return found


def is_floating(dtype: np.dtype[Any]) -> bool:
    """Whether this is a floating type, bfloat16 included."""
    return dtype in _FLOATING


def _exact_up_to(dtype: np.dtype[Any]) -> int:
    if dtype == BOOL:
        return 1
    if is_floating(dtype):
        return 1 << _FLOATING[dtype]
    return int(np.iinfo(dtype).max)


_EXACT_UP_TO = {dtype: _exact_up_to(dtype) for dtype in DTYPE_FLAGS}


def exact_up_to(dtype: np.dtype[Any]) -> int:
    """Return the largest N so that the type represents all integers from 0 to N exactly."""
    return _EXACT_UP_TO[dtype]


def _promote_pair(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any] | None:
    if a == b:
        return a
    if a == BOOL or b == BOOL:
        return b if a == BOOL else a
    if is_floating(a) != is_floating(b):
        return a if is_floating(a) else b
    if is_floating(a):
        if BFLOAT16 in (a, b):
            other = b if a == BFLOAT16 else a
            return FLOAT32 if other == FLOAT16 else other
        return max(a, b, key=_FLOAT_ORDER.index)
    if (a in _SIGNED) == (b in _SIGNED):
        return max(a, b, key=(_SIGNED if a in _SIGNED else _UNSIGNED).index)
    signed, unsigned = (a, b) if a in _SIGNED else (b, a)
    if {a, b} == {UINT8, INT8}:
        return INT16
    wider = _SIGNED[_UNSIGNED.index(unsigned) + 1 :]
    return max(signed, wider[0], key=_SIGNED.index) if wider else None


_PROMOTION = {(a, b): _promote_pair(a, b) for a in DTYPE_FLAGS for b in DTYPE_FLAGS}


def promote(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """Return the promoted type of two types.

    A float wins over any integer, every type over bool; integers give the narrowest type that holds
    both, and float16 with bfloat16 gives float32. By the rules of MXNet 1.9 uint8 with int8 is
    int32.

    Raises:
        ArgumentTypeError: For uint64 with a signed type, which no integer type holds, and for 8-bit
            floats, which are only for storage.
    """
    found = _PROMOTION.get((a, b))
    if found is None:
        raise ArgumentTypeError(
            f"promotion: expected types with a common one, got {a.name} and {b.name}; "
            "cast one of them first"
        )
    if found is INT16 and a.itemsize == b.itemsize == 1 and follows_mxnet1():
        return INT32
    return found
