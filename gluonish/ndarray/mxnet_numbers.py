"""MXNet's integer codes of element types, storage types and gradient requests.

Programs import these tables under MXNet's names from ``mx.nd.ndarray``.
"""

from typing import Any

import numpy as np

from gluonish.core.dtype import DTYPE_FLAGS

# Python types that programs import from the same module.
integer_types = (int, np.int32, np.int64)
py_slice = slice

DTYPE_NUMBERS: dict[Any, int] = {None: -1} | {
    dtype.type: number for dtype, number in DTYPE_FLAGS.items()
}
DTYPES = {number: dtype for dtype, number in DTYPE_NUMBERS.items()}

STORAGE_TYPE_NUMBERS = {"undefined": -1, "default": 0, "row_sparse": 1, "csr": 2}
STORAGE_TYPES = {number: name for name, number in STORAGE_TYPE_NUMBERS.items()}

GRAD_REQS = {"null": 0, "write": 1, "add": 3}
