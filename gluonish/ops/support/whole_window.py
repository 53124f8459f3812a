"""Global pooling: one window that covers all data, computed by reductions.

Arrays are channels-first: data (N, C, *spatial), results (N, C, 1, ..).
"""

import math
from types import ModuleType
from typing import Any

from gluonish.core.spec import Shape
from gluonish.ops.support.precision import accumulator, widen
from gluonish.ops.support.windows import Geometry


def covers(spatial: Shape, counts: Shape, geometry: Geometry) -> bool:
    """Whether a single window covers the data, without padding."""
    return geometry.kernel == spatial and math.prod(counts) == 1 and not any(geometry.pad)


def _spatial_axes(data: Any) -> tuple[int, ...]:
    return tuple(range(2, data.ndim))


def maximum(data: Any) -> Any:
    """Return the maxima; NaN propagates."""
    return widen(data).max(axis=_spatial_axes(data), keepdims=True)


def total(data: Any) -> Any:
    """Return the sums, in the accumulator's dtype."""
    return data.sum(axis=_spatial_axes(data), keepdims=True, dtype=accumulator(data.dtype))


def first_maximum(xp: ModuleType, data: Any, out: Any) -> Any:
    """Return the mask of the first maximum; empty in channels whose ``out`` is NaN."""
    equal = (data == out).reshape(*data.shape[:2], math.prod(data.shape[2:]))
    first = equal.argmax(axis=2)[:, :, None]
    return (equal & (xp.arange(equal.shape[2]) == first)).reshape(data.shape)
