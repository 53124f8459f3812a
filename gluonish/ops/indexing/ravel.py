"""ravel_multi_index and unravel_index: convert coordinates to flat indices, and back."""

import math
from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.mxnet_rules import follows_mxnet
from gluonish.core.schema import Schema, optional
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec
from gluonish.ops.facts import zero_gradient
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.precision import check_positions

_SCHEMA = Schema(shape=optional(shape_attr()))


def _check_shape(name: str, shape: Shape | None) -> Shape:
    """Check and return the shape of the indexed array; its first extent is not used."""
    if not shape or shape[0] < -1 or min(shape[1:], default=1) < 1 or math.prod(shape[1:]) >> 62:
        raise OperatorError(
            f"{name}: expected shape of at least 1 axis with sizes above 0, got {shape}"
        )
    return shape


def _strides(shape: Shape) -> list[int]:
    """Return the row-major strides in elements."""
    return [math.prod(shape[i + 1 :]) for i in range(len(shape))]


def _ravel_infer(data: Spec, *, shape: Shape | None) -> tuple[Spec]:
    shape = _check_shape("_ravel_multi_index", shape)
    if len(data.shape) != 2 or data.shape[0] != len(shape):
        raise OperatorError(
            f"_ravel_multi_index: expected data ({len(shape)}, N) for shape {shape}, "
            f"got {data.shape}"
        )
    if not follows_mxnet():
        count = max(1, shape[0]) * math.prod(shape[1:])
        check_positions("ravel_multi_index", count, data.dtype, "cast the coordinates with astype")
    return (Spec(data.shape[1:], data.dtype),)


def _ravel_kernel(xp: ModuleType, out: Any, data: Any, *, shape: Shape) -> None:
    coordinates = data.astype(xp.int64)
    total = xp.zeros(out.shape, dtype=xp.int64)
    for coordinate, stride in zip(coordinates, _strides(shape), strict=True):
        total += coordinate * stride
    out[...] = total.astype(out.dtype)


RAVEL_MULTI_INDEX = register(
    Operator(
        "_ravel_multi_index",
        _ravel_infer,
        _ravel_kernel,
        zero_gradient,
        doc=(
            "Convert coordinates to flat indices of an array of shape, in row-major order.\n\n"
            "The first size in shape is not used, and may be -1.\n\n"
            "Shapes: data (axes, N), output (N,)."
        ),
        schema=_SCHEMA,
        aliases=("ravel_multi_index",),
    )
)


def _unravel_infer(data: Spec, *, shape: Shape | None) -> tuple[Spec]:
    shape = _check_shape("_unravel_index", shape)
    return (Spec((len(shape), *data.shape), data.dtype),)


def _unravel_kernel(xp: ModuleType, out: Any, data: Any, *, shape: Shape) -> None:
    remainder = data.astype(xp.int64)
    for axis in range(len(shape) - 1, 0, -1):
        coordinate = xp.fmod(remainder, shape[axis])  # toward zero, as in C
        out[axis] = coordinate.astype(out.dtype)
        remainder = (remainder - coordinate) // shape[axis]
    out[0] = remainder.astype(out.dtype)


UNRAVEL_INDEX = register(
    Operator(
        "_unravel_index",
        _unravel_infer,
        _unravel_kernel,
        zero_gradient,
        doc=(
            "Convert flat indices of an array of shape, in row-major order, to coordinates.\n\n"
            "The first size in shape is not used, and may be -1.\n\n"
            "Shapes: data (...), output (axes, ...)."
        ),
        schema=_SCHEMA,
        aliases=("unravel_index",),
    )
)
