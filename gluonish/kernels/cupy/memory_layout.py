"""Memory layouts of arrays (N, C, *spatial): channels first, or last, as in (N, *spatial, C)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def in_memory(array: Any, last: bool) -> Any:
    """Return a view of an array with the axes in the order of a memory layout."""
    return array.transpose(0, *range(2, array.ndim), 1) if last else array


def is_dense(array: Any, last: bool) -> bool:
    """Whether an array is contiguous in a memory layout; it may be in both."""
    return bool(in_memory(array, last).flags.c_contiguous)


def empty_like(xp: Any, array: Any, last: bool) -> Any:
    """Return an uninitialized array of the same shape and dtype in a memory layout."""
    if not last:
        return xp.empty(array.shape, array.dtype)
    shape = in_memory(array, last).shape
    return xp.empty(shape, array.dtype).transpose(0, array.ndim - 1, *range(1, array.ndim - 1))


@contextmanager
def contiguous_target(xp: Any, out: Any) -> Iterator[Any]:
    """Give an array to fill: ``out`` or, if that is not contiguous, one that is copied to it."""
    if out.flags.c_contiguous:
        yield out
        return
    made = xp.empty(out.shape, out.dtype)
    yield made
    out[...] = made
