"""Source expressions for positions along an axis: truncated to integers, clipped or wrapped.

The expressions name the array ``positions``, its index ``i``, the result ``chosen`` and the extent
of the axis ``count``.
"""

from typing import Any

import numpy as np

from gluonish.ops.kernel import Array

# The view and the int64 position of each dtype. NaN and numbers out of range become the lowest
# int64, as with NumPy on most machines.
_INTEGER = "int64(positions[i])"
_TRUNCATED = (
    "select(fabs(positions[i]) < 9.223372036854775808e18, int64(positions[i]), "
    "int64(-9223372036854775808))"
)
POSITIONS: dict[np.dtype[Any], tuple[str, str]] = {
    np.dtype(name): form
    for name, form in {
        "float32": ("f32", _TRUNCATED),
        "float64": ("f64", _TRUNCATED),
        "int8": ("i8", _INTEGER),
        "uint8": ("u8", _INTEGER),
        "int32": ("i32", _INTEGER),
        "int64": ("i64", _INTEGER),
    }.items()
}

WITHIN = {  # by mode
    "clip": "select(chosen < 0, int64(0), select(chosen < count, chosen, count - 1))",
    "wrap": "chosen % count",
}


def readable(positions: Array) -> Array:
    """Return contiguous positions of a supported dtype."""
    if positions.dtype not in POSITIONS:
        positions = positions.astype(np.int64)
    return np.ascontiguousarray(positions)
