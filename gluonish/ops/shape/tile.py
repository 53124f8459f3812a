"""tile and repeat: repeat an array, or each of its elements."""

import math
from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer, optional, shape
from gluonish.core.spec import Shape, Spec
from gluonish.ops.facts import Execution
from gluonish.ops.reductions.reduction import sum_
from gluonish.ops.registry import Operator, V, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.shape_rules import normalize_axis

_MOST = 1 << 40  # copies; sizes must not overflow even for empty arrays


def _aligned(shape: Shape, reps: Shape) -> tuple[Shape, Shape]:
    """Return shape and reps, the shorter one padded with leading 1s to the other's length."""
    rank = max(len(shape), len(reps))
    return (1,) * (rank - len(shape)) + shape, (1,) * (rank - len(reps)) + reps


def _tile_infer(data: Spec, *, reps: Shape) -> tuple[Spec]:
    if not all(0 <= count <= _MOST for count in reps):
        raise OperatorError(f"tile: expected reps from 0 to {_MOST}, got {reps}")
    extents, counts = _aligned(data.shape, reps)
    return (Spec(tuple(n * r for n, r in zip(extents, counts, strict=True)), data.dtype),)


def _tile_kernel(xp: ModuleType, out: Any, data: Any, *, reps: Shape) -> None:
    extents, counts = _aligned(data.shape, reps)
    # Axes in pairs (reps, extent), so that data broadcasts into every copy.
    pairs = tuple(k for pair in zip(counts, extents, strict=True) for k in pair)
    ones = tuple(k for extent in extents for k in (1, extent))
    out.reshape(pairs)[...] = data.reshape(ones)


def _tile_gradient(g: V, data: V, *, reps: Shape) -> tuple[Any]:
    extents, counts = _aligned(data.shape, reps)
    pairs = tuple(k for pair in zip(counts, extents, strict=True) for k in pair)
    if not pairs:
        return (g,)
    summed = sum_(reshape(g, pairs), axis=tuple(range(0, len(pairs), 2)))
    return (reshape(summed, data.shape),)


TILE = register(
    Operator(
        "tile",
        _tile_infer,
        _tile_kernel,
        _tile_gradient,
        doc=(
            "Repeat the array reps[i] times along axis i; the shorter of the shape and reps is\n"
            "prepended with 1s.\n\n"
            "Shapes: data any, output (size_i * reps_i, ...)."
        ),
        schema=Schema(reps=shape()),
        aliases=("_npi_tile",),
        execution=Execution(copies_only=True),
    )
)


def _repeat_view(shape: Shape, axis: int | None) -> tuple[int, int]:
    """Return the number and the length of the contiguous runs that are repeated."""
    if axis is None:
        return math.prod(shape), 1
    axis = normalize_axis("repeat", axis, len(shape))
    return math.prod(shape[: axis + 1]), math.prod(shape[axis + 1 :])


def _repeat_infer(data: Spec, *, repeats: int, axis: int | None) -> tuple[Spec]:
    if repeats > _MOST:
        raise OperatorError(f"repeat: expected repeats of at most {_MOST}, got {repeats}")
    if axis is None:
        return (Spec((data.size * repeats,), data.dtype),)
    axis = normalize_axis("repeat", axis, len(data.shape))
    shape = (*data.shape[:axis], data.shape[axis] * repeats, *data.shape[axis + 1 :])
    return (Spec(shape, data.dtype),)


def _repeat_kernel(xp: ModuleType, out: Any, data: Any, *, repeats: int, axis: int | None) -> None:
    before, after = _repeat_view(data.shape, axis)
    out.reshape(before, repeats, after)[...] = data.reshape(before, 1, after)


def _repeat_gradient(g: V, data: V, *, repeats: int, axis: int | None) -> tuple[Any]:
    before, after = _repeat_view(data.shape, axis)
    return (reshape(sum_(reshape(g, (before, repeats, after)), axis=(1,)), data.shape),)


REPEAT = register(
    Operator(
        "repeat",
        _repeat_infer,
        _repeat_kernel,
        _repeat_gradient,
        doc=(
            "Repeat every element repeats times along axis; without axis, data is flattened\n"
            "first.\n\n"
            "Shapes: data any, output the same with repeats times the size along axis, or\n"
            "without axis (elements * repeats,)."
        ),
        schema=Schema(repeats=integer(low=0), axis=optional(integer())),
        aliases=("_np_repeat",),
        execution=Execution(copies_only=True),
    )
)
