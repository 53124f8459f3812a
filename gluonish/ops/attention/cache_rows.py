"""Rows of keys and values in a cache: where a position is, and how its numbers are stored.

The row of position p is in slot p mod length. A cache that has room for all positions has each in
the slot of its number; a shorter one is a ring, in which new rows replace the oldest ones.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, INT8
from gluonish.ops.support.precision import widen

_MOST = 127  # magnitude of a rounded number


def slots(start: int, end: int, length: int) -> list[slice]:
    """Return the slots of neighbouring positions, at most ``length``, in their order.

    Args:
        start: First position.
        end: Position after the last one.
        length: Slots of the cache.
    """
    first = start % length
    last = first + end - start
    if last <= length:
        return [slice(first, last)]
    return [slice(first, length), slice(0, last - length)]


def rounded(xp: ModuleType, rows: Any) -> tuple[Any, Any]:
    """Return int8 numbers and a float32 scale of each row, whose product is near the row.

    The scale is 1/127 of the row's greatest magnitude, so that errors are at most half of it. A row
    with an infinity or NaN has a scale that makes NaN of all of its numbers.

    Args:
        xp: NumPy or CuPy.
        rows: (..., C).
    """
    wide = widen(rows).astype(FLOAT32, copy=False)
    top = abs(wide).max(axis=-1, keepdims=True)
    scale = top / np.float32(_MOST)
    is_usable = (scale > 0) & xp.isfinite(top)
    divisor = xp.where(is_usable, scale, np.float32(1))
    numbers = xp.rint(xp.where(is_usable, wide, 0) / divisor)
    return xp.clip(numbers, -_MOST, _MOST).astype(INT8), scale[..., 0]


class CacheRows:
    """The rows of a cache of keys or values.

    Args:
        array: (N, K, S, C), floating, or int8 with scales.
        scale: (N, K, S) in float32; None without scales.
    """

    def __init__(self, array: Any, scale: Any = None) -> None:
        self._array, self._scale = array, scale

    @property
    def length(self) -> int:
        """Number S of slots."""
        return int(self._array.shape[2])

    def write(self, samples: slice, start: int, rows: Any) -> None:
        """Write rows (n, K, T, C) of some samples from a position on, in host memory."""
        begin = 0
        for place in slots(start, start + rows.shape[2], self.length):
            end = begin + place.stop - place.start
            self._store(np, (samples, slice(None), place), rows[:, :, begin:end])
            begin = end

    def write_each(self, xp: ModuleType, places: Any, rows: Any) -> None:
        """Write rows (N, K, T, C) at positions (N, T)."""
        samples, heads, count = rows.shape[:3]
        index = (
            xp.arange(samples).reshape(-1, 1, 1),
            xp.arange(heads).reshape(1, -1, 1),
            (places % self.length).reshape(-1, 1, count),
        )
        self._store(xp, index, rows)

    def _store(self, xp: ModuleType, index: Any, rows: Any) -> None:
        if self._scale is None:
            self._array[index] = rows.astype(self._array.dtype, copy=False)
        elif rows.size:
            self._array[index], self._scale[index] = rounded(xp, rows)

    def read(self, samples: slice, start: int, end: int, dtype: Any) -> Any:
        """Return the rows of neighbouring positions of some samples, (n, K, end - start, C)."""
        places = slots(start, end, self.length)
        found = [self._load((samples, slice(None), place), dtype) for place in places]
        return found[0] if len(found) == 1 else np.concatenate(found, axis=2)

    def whole(self, dtype: Any) -> Any:
        """Return the rows of all slots."""
        return self._load((), dtype)

    def _load(self, index: Any, dtype: Any) -> Any:
        rows = self._array[index]
        if self._scale is not None:
            rows = rows.astype(FLOAT32) * self._scale[index][..., None]
        return rows.astype(dtype, copy=False)
