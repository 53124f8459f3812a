"""NumPy's constants and element types."""

import math
from typing import Any

import numpy as np
from numpy import (
    bool_,
    finfo,
    float16,
    float32,
    float64,
    iinfo,
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
    "e",
    "finfo",
    "float16",
    "float32",
    "float64",
    "iinfo",
    "inf",
    "int8",
    "int16",
    "int32",
    "int64",
    "nan",
    "newaxis",
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
