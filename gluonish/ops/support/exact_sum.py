"""Sums of float32 over any axes that stay within a few roundings of the exact ones.

NumPy adds pairwise along the axis that lies densest in memory only; over others it adds term by
term, and loses a digit for every hundredfold of terms. Here no more than `_BLOCK` terms are added
so in float32, what comes of them is added in float64, and the time is that of NumPy's own sum.
"""

from math import prod
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, FLOAT64
from gluonish.core.spec import Shape

__all__ = ["average", "running_total", "total"]

Axes = tuple[int, ...]

_SMALL = 1 << 12  # elements that are added in float64 as fast as in any other way
_BLOCK = 64  # terms that are added in float32 one after the other
_LONG = 1 << 20  # elements of a row from which on its running sum restarts,
_RESTART = 1 << 10  # and after how many


def total(
    xp: ModuleType, data: Any, axes: Axes, dtype: Any = None, *, keepdims: bool = False
) -> Any:
    """Return the sum of elements over axes.

    Args:
        xp: NumPy or CuPy, which adds in a tree anyway.
        data: Any dtype; only sums of float32 differ from NumPy's.
        axes: Ascending, from 0.
        dtype: What is added in; the dtype of data by default.
        keepdims: Whether the axes stay, with size 1.

    Returns:
        In ``dtype``, or float64 for a sum of float32 that was formed in it.
    """
    same = dtype is None or dtype == data.dtype
    if xp is not np or data.dtype != FLOAT32 or not same or not data.size:
        return xp.add.reduce(data, axis=axes, dtype=dtype, keepdims=keepdims)
    found = (
        np.add.reduce(data, axis=axes, dtype=FLOAT64)
        if data.size <= _SMALL
        else _dense_last(data, axes)
    )
    if keepdims:
        found = np.expand_dims(found, axes)
    return found


def average(xp: ModuleType, data: Any, axes: Axes, dtype: Any) -> Any:
    """Return the mean of elements over axes; arguments of `total`.

    Returns:
        In ``dtype``, or float64 where that is an integer. A mean is infinite where the sum
        overflows in ``dtype``, as in MXNet.
    """
    count = max(1, prod(data.shape[i] for i in axes))
    return total(xp, data, axes, dtype).astype(dtype, copy=False) / count


def running_total(xp: ModuleType, data: Any, axis: int, dtype: Any) -> Any:
    """Return the sum of all elements up to each one along an axis.

    A long sum of float32 restarts after every `_RESTART` elements, and sums of what went before are
    formed in float64: one after the other, ones would stop at 2 ** 24.

    Args:
        xp: NumPy or CuPy.
        data: Any dtype.
        axis: Along which.
        dtype: What is added in.
    """
    count = data.shape[axis]
    # By the ufunc: np.cumsum would warn of inf - inf in NumPy's own name.
    accumulate = np.add.accumulate if xp is np else xp.cumsum
    if xp is not np or dtype != FLOAT32 or count < _LONG or not data.size:
        return accumulate(data, axis=axis, dtype=dtype)
    moved = np.moveaxis(data, axis, -1)
    found = np.empty(moved.shape, FLOAT32)
    whole = count - count % _RESTART
    blocks = moved[..., :whole].reshape(*moved.shape[:-1], -1, _RESTART)
    before = accumulate(np.add.reduce(blocks, axis=-1, dtype=FLOAT64), axis=-1)
    parts = found[..., :whole].reshape(blocks.shape)
    accumulate(blocks, axis=-1, dtype=FLOAT32, out=parts)
    parts[..., 1:, :] += before[..., :-1, None].astype(FLOAT32)
    accumulate(moved[..., whole:], axis=-1, dtype=FLOAT32, out=found[..., whole:])
    found[..., whole:] += before[..., -1:].astype(FLOAT32)
    return np.moveaxis(found, -1, axis)


def _dense_last(data: Any, axes: Axes) -> Any:
    """Sum with the axes in the order in which they lie in memory, and undo that."""
    if data.flags.c_contiguous:
        return _sum(data, axes)
    order = sorted(range(data.ndim), key=lambda i: -abs(data.strides[i]))
    found = _sum(data.transpose(order), tuple(i for i, k in enumerate(order) if k in axes))
    left = [k for k in order if k not in axes]
    return found.transpose([left.index(k) for k in sorted(left)])


def _sum(data: Any, axes: Axes) -> Any:
    """Sum over ascending axes of an array whose last axis is the densest."""
    outer = _outer(data.shape, axes)
    if len(outer) < len(axes):  # NumPy's pairwise sum
        data = np.add.reduce(data, axis=axes[len(outer) :])
    if outer:
        data = _blocks(data, outer)
    return data


def _outer(shape: Shape, axes: Axes) -> Axes:
    """Return the axes that are not among the last ones; any axis of one element may be."""
    last = len(shape) - 1
    kept = list(axes)
    while kept and (kept[-1] == last or shape[last] == 1):
        if kept[-1] == last:
            kept.pop()
        last -= 1
    return tuple(kept)


def _blocks(data: Any, axes: Axes) -> Any:
    """Sum over axes that are not the last: along the longest in blocks, and these in float64."""
    axis = max(axes, key=lambda i: data.shape[i])
    count = data.shape[axis]
    if count <= _BLOCK:
        if len(axes) == 1:
            return np.add.reduce(data, axis=axis)
        parts = np.add.reduce(data, axis=axis, keepdims=True)
        return np.add.reduce(parts, axis=axes, dtype=FLOAT64)
    whole = count - count % _BLOCK
    before, behind = data.shape[:axis], data.shape[axis + 1 :]
    head = (slice(None),) * axis
    blocks = data[(*head, slice(whole))].reshape(*before, whole // _BLOCK, _BLOCK, *behind)
    parts = np.add.reduce(blocks, axis=axis + 1)
    found = np.add.reduce(parts, axis=axes, dtype=FLOAT64)
    if whole < count:
        rest = np.add.reduce(data[(*head, slice(whole, None))], axis=axis, keepdims=True)
        found = found + np.add.reduce(rest, axis=axes, dtype=FLOAT64)
    return found
