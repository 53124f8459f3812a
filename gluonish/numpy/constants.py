"""NumPy's constants and element types."""

import math
from typing import Any

import numpy as np
from numpy import (
    bool_,
    dtype,
    finfo,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)

__all__ = [
    "NAN",
    "NINF",
    "NZERO",
    "PINF",
    "PZERO",
    "NaN",
    "bool",
    "bool_",
    "boolean_dtypes",
    "dtype",
    "e",
    "finfo",
    "float16",
    "float32",
    "float64",
    "floating_dtypes",
    "iinfo",
    "inf",
    "int8",
    "int16",
    "int32",
    "int64",
    "integer_dtypes",
    "nan",
    "newaxis",
    "numeric_dtypes",
    "pi",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]

bool: Any = np.bool_  # NumPy's name
e = math.e
inf = math.inf
nan = math.nan
newaxis = None
pi = math.pi
NAN = nan
NaN = nan
NINF = -inf
NZERO = -0.0
PINF = inf
PZERO = 0.0


class iinfo(np.iinfo):  # NumPy's name
    """The limits of a type of integers: ``min``, ``max`` and ``bits``.

    Args:
        dtype: Type of integers, or its name.

    Raises:
        ValueError: It is no type of integers.
    """

    def __init__(self, dtype: Any) -> None:
        super().__init__(dtype)


# MXNet 2.0's lists of element types.
boolean_dtypes = [np.dtype("bool")]
integer_dtypes = [np.dtype(f"{kind}{bits}") for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
floating_dtypes = [np.dtype(f"float{bits}") for bits in (16, 32, 64)]
numeric_dtypes = [*integer_dtypes, *floating_dtypes]
