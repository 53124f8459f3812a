"""Positions along an axis, as generated kernels read them: of any type, cut and brought inside.

The texts name the array ``positions``, its index ``i``, the result ``chosen`` and the extent of the
axis ``count``.
"""

from typing import Any

import numpy as np

from gluonish.ops.kernel import Array

# By type: the view, and the position as int64, which for NaN and what is too large is the lowest
# one, as NumPy has it on most machines.
_WHOLE = "int64(positions[i])"
_CUT = (
    "select(fabs(positions[i]) < 9.223372036854775808e18, int64(positions[i]), "
    "int64(-9223372036854775808))"
)
POSITIONS: dict[np.dtype[Any], tuple[str, str]] = {
    np.dtype(name): form
    for name, form in {
        "float32": ("f32", _CUT),
        "float64": ("f64", _CUT),
        "int8": ("i8", _WHOLE),
        "uint8": ("u8", _WHOLE),
        "int32": ("i32", _WHOLE),
        "int64": ("i64", _WHOLE),
    }.items()
}

# By mode.
WITHIN = {
    "clip": "select(chosen < 0, int64(0), select(chosen < count, chosen, count - 1))",
    "wrap": "chosen % count",
}


def readable(positions: Array) -> Array:
    """Return positions as the kernels read them: contiguous, of a type that they know."""
    if positions.dtype not in POSITIONS:
        positions = positions.astype(np.int64)
    return np.ascontiguousarray(positions)
