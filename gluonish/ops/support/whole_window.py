"""Pooling by one window that covers everything: reductions, without a loop over positions.

Arrays are channels-first: data (N, C, *spatial), results (N, C, 1, ..).
"""

import math
from types import ModuleType
from typing import Any

from gluonish.core.spec import Shape
from gluonish.ops.support.precision import accumulator, widen
from gluonish.ops.support.windows import Geometry


def covers(spatial: Shape, counts: Shape, geometry: Geometry) -> bool:
    """Whether the only window is the data, without padding."""
    return geometry.kernel == spatial and math.prod(counts) == 1 and not any(geometry.pad)


def _spatial_axes(data: Any) -> tuple[int, ...]:
    return tuple(range(2, data.ndim))


def maximum(data: Any) -> Any:
    """Return the largest elements; NaN where there is one."""
    return widen(data).max(axis=_spatial_axes(data), keepdims=True)


def total(data: Any) -> Any:
    """Return the sums, in the type that sums are kept in."""
    return data.sum(axis=_spatial_axes(data), keepdims=True, dtype=accumulator(data.dtype))


def first_maximum(xp: ModuleType, data: Any, out: Any) -> Any:
    """Return where the data first equals ``out``; nowhere in a channel whose ``out`` is NaN."""
    equal = (data == out).reshape(*data.shape[:2], math.prod(data.shape[2:]))
    first = equal.argmax(axis=2)[:, :, None]
    return (equal & (xp.arange(equal.shape[2]) == first)).reshape(data.shape)
