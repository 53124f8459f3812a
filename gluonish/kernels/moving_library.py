"""The array library that reference kernels get where outputs copy what is assigned to them."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any


class MovingLibrary:
    """NumPy or CuPy, with concatenate and stack by assignments to parts of the output.

    Args:
        xp: The library.
    """

    def __init__(self, xp: ModuleType) -> None:
        self._xp = xp

    def __getattr__(self, name: str) -> Any:
        return getattr(self._xp, name)

    def concatenate(self, arrays: Sequence[Any], axis: int, out: Any) -> None:
        """Concatenate arrays along an axis."""
        begin = 0
        lead = (slice(None),) * (axis % out.ndim)
        for array in arrays:
            end = begin + array.shape[axis]
            out[(*lead, slice(begin, end))] = array
            begin = end

    def stack(self, arrays: Sequence[Any], axis: int, out: Any) -> None:
        """Stack arrays along a new axis."""
        lead = (slice(None),) * (axis % out.ndim)
        for i, array in enumerate(arrays):
            out[(*lead, i)] = array
