"""transpose, moveaxis, roll, flip and rot90: the same elements in another order.

np.repeat with a separate count for each index along an axis, and its gradient.
"""

import math
from itertools import accumulate
from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer, optional
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec, checked_spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.precision import accumulator, total
from gluonish.ops.support.shape_rules import normalize_axes, normalize_axis, permuted


def _order(axes: Shape | None, rank: int) -> Shape:
    """Return the axis order of transpose, with non-negative axes."""
    return tuple(range(rank))[::-1] if axes is None else tuple(axis % rank for axis in axes)


def _transpose_infer(a: Spec, *, axes: Shape | None) -> tuple[Spec]:
    rank = len(a.shape)
    if axes is not None:
        if len(axes) != rank:
            raise OperatorError(f"_np_transpose: expected axes to name all {rank} axes, got {axes}")
        normalize_axes("_np_transpose", axes, rank)
    return (Spec(tuple(a.shape[axis] for axis in _order(axes, rank)), a.dtype),)


def _transpose_kernel(xp: ModuleType, out: Any, a: Any, *, axes: Shape | None) -> None:
    out[...] = a.transpose(_order(axes, a.ndim))


def _inverse(order: Shape) -> Shape:
    return tuple(order.index(i) for i in range(len(order)))


def _transpose_gradient(g: V, a: V, *, axes: Shape | None) -> tuple[Any]:
    return (transpose(g, _inverse(_order(axes, len(a.shape)))),)


TRANSPOSE = register(
    Operator(
        "_np_transpose",
        _transpose_infer,
        _transpose_kernel,
        _transpose_gradient,
        doc=(
            "Permute the axes; without axes their order is reversed.\n\n"
            "Shapes: a any, output the same sizes in another order."
        ),
        inputs=("a",),
        schema=Schema(axes=optional(shape_attr())),
        shapes=ShapeFacts(rule=permuted(lambda rank, attrs: _order(attrs["axes"], rank))),
        execution=Execution(copies_only=True),
    )
)


def transpose(a: Any, axes: Shape | None = None) -> Any:
    """Return ``a`` with permuted axes, reversed by default."""
    return apply(TRANSPOSE, (a,), {"axes": axes})


def moved_order(rank: int, source: Shape, destination: Shape) -> Shape:
    """Return the axis order of moveaxis."""
    moving = {d % rank: s % rank for s, d in zip(source, destination, strict=True)}
    staying = iter([i for i in range(rank) if i not in moving.values()])
    return tuple(moving[i] if i in moving else next(staying) for i in range(rank))


def _move_infer(a: Spec, *, source: Shape, destination: Shape) -> tuple[Spec]:
    rank = len(a.shape)
    if len(source) != len(destination):
        raise OperatorError(
            f"_np_moveaxis: expected as many destinations as sources, got {source} and "
            f"{destination}"
        )
    normalize_axes("_np_moveaxis", source, rank)
    normalize_axes("_np_moveaxis", destination, rank)
    order = moved_order(rank, source, destination)
    return (Spec(tuple(a.shape[axis] for axis in order), a.dtype),)


def _move_kernel(xp: ModuleType, out: Any, a: Any, *, source: Shape, destination: Shape) -> None:
    out[...] = a.transpose(moved_order(a.ndim, source, destination))


def _move_gradient(g: V, a: V, *, source: Shape, destination: Shape) -> tuple[Any]:
    return (transpose(g, _inverse(moved_order(len(a.shape), source, destination))),)


MOVEAXIS = register(
    Operator(
        "_np_moveaxis",
        _move_infer,
        _move_kernel,
        _move_gradient,
        doc=(
            "Move the axes in source to the positions in destination; the others keep their\n"
            "order.\n\n"
            "Shapes: a any, output the same sizes in another order."
        ),
        inputs=("a",),
        schema=Schema(source=shape_attr(), destination=shape_attr()),
        shapes=ShapeFacts(
            rule=permuted(
                lambda rank, attrs: moved_order(rank, attrs["source"], attrs["destination"])
            )
        ),
        execution=Execution(copies_only=True),
    )
)


def _shifts(shape: Shape, shift: Shape | None, axis: Shape | None) -> tuple[Shape, Shape]:
    """Return the shifts and their axes."""
    if shift is None:
        raise OperatorError("_np_roll: expected shift, got None")
    if axis is None:
        if len(shift) != 1:
            raise OperatorError(f"_np_roll: expected one shift without axis, got {shift}")
        return shift, ()
    if not axis or len(shift) not in (1, len(axis)):
        raise OperatorError(
            f"_np_roll: expected a shift for every axis, got {shift} and axis {axis}"
        )
    normalize_axes("_np_roll", axis, len(shape))
    return shift * (len(axis) // len(shift)), axis


def _roll_infer(data: Spec, *, shift: Shape | None, axis: Shape | None) -> tuple[Spec]:
    _shifts(data.shape, shift, axis)
    return (data,)


def _roll_kernel(
    xp: ModuleType, out: Any, data: Any, *, shift: Shape | None, axis: Shape | None
) -> None:
    if not data.size:
        return
    shifts, axes = _shifts(data.shape, shift, axis)
    if axes:
        steps = tuple(s % data.shape[a] for s, a in zip(shifts, axes, strict=True))
        out[...] = xp.roll(data, steps, axes)
    else:
        out[...] = xp.roll(data, shifts[0] % data.size)


def _roll_gradient(g: V, data: V, *, shift: Shape | None, axis: Shape | None) -> tuple[Any]:
    back = tuple(-s for s in shift or ())
    return (apply(ROLL, (g,), {"shift": back, "axis": axis}),)


ROLL = register(
    Operator(
        "_np_roll",
        _roll_infer,
        _roll_kernel,
        _roll_gradient,
        doc=(
            "Shift elements by shift positions along axis; elements shifted past the end wrap\n"
            "around.\n\n"
            "Without axis all elements are shifted in row-major order.\n\n"
            "Shapes: data any, output the same."
        ),
        schema=Schema(shift=optional(shape_attr()), axis=optional(shape_attr())),
    )
)


def _flip_infer(data: Spec, *, axis: Shape) -> tuple[Spec]:
    normalize_axes("_npi_flip", axis, len(data.shape))
    return (data,)


def _flip_kernel(xp: ModuleType, out: Any, data: Any, *, axis: Shape) -> None:
    out[...] = xp.flip(data, axis) if axis else data


def _flip_gradient(g: V, data: V, *, axis: Shape) -> tuple[Any]:
    return (apply(FLIP, (g,), {"axis": axis}),)


FLIP = register(
    Operator(
        "_npi_flip",
        _flip_infer,
        _flip_kernel,
        _flip_gradient,
        doc=(
            "Reverse the order of elements along the axes in axis.\n\n"
            "Shapes: data any, output the same."
        ),
        schema=Schema(axis=shape_attr()),
        execution=Execution(copies_only=True),
    )
)


def _turned_axes(shape: Shape, axes: Shape | None) -> tuple[int, int]:
    if axes is None or len(axes) != 2:
        raise OperatorError(f"_npi_rot90: expected two axes, got {axes}")
    first, second = (normalize_axis("_npi_rot90", axis, len(shape)) for axis in axes)
    if first == second:
        raise OperatorError(f"_npi_rot90: expected two different axes, got {axes}")
    return first, second


def _rot_infer(data: Spec, *, k: int, axes: Shape | None) -> tuple[Spec]:
    first, second = _turned_axes(data.shape, axes)
    shape = list(data.shape)
    if k % 2:
        shape[first], shape[second] = shape[second], shape[first]
    return (Spec(tuple(shape), data.dtype),)


def _rot_kernel(xp: ModuleType, out: Any, data: Any, *, k: int, axes: Shape | None) -> None:
    out[...] = xp.rot90(data, k % 4, _turned_axes(data.shape, axes))


def _rot_gradient(g: V, data: V, *, k: int, axes: Shape | None) -> tuple[Any]:
    return (apply(ROT90, (g,), {"k": -k, "axes": axes}),)


ROT90 = register(
    Operator(
        "_npi_rot90",
        _rot_infer,
        _rot_kernel,
        _rot_gradient,
        doc=(
            "Rotate by k quarter turns in the plane of two axes, from the first toward the\n"
            "second.\n\n"
            "Shapes: data of at least 2 axes, output the same, with the two sizes exchanged for\n"
            "odd k."
        ),
        schema=Schema(k=integer(1), axes=optional(shape_attr())),
        execution=Execution(copies_only=True),
    )
)


_NAME = "_npi_repeats"


def _infer(data: Spec, *, repeats: Shape, axis: int | None) -> tuple[Spec]:
    if any(n < 0 for n in repeats):
        raise OperatorError(f"{_NAME}: expected repeats of at least 0, got {repeats}")
    shape = (data.size,) if axis is None else data.shape
    along = 0 if axis is None else normalize_axis(_NAME, axis, len(shape))
    extent = shape[along]
    if len(repeats) not in (1, extent):
        raise OperatorError(
            f"{_NAME}: expected one number, or one for each of {extent} positions, as repeats, got "
            f"{len(repeats)}"
        )
    total = repeats[0] * extent if len(repeats) == 1 else sum(repeats)
    return (checked_spec(_NAME, (*shape[:along], total, *shape[along + 1 :]), data.dtype),)


def _kernel(xp: ModuleType, out: Any, data: Any, *, repeats: Shape, axis: int | None) -> None:
    out[...] = xp.repeat(data, list(repeats) if len(repeats) > 1 else sum(repeats), axis)


def _gradient(g: V, data: V, *, repeats: Shape, axis: int | None) -> tuple[Any]:
    along = 0 if axis is None else axis % len(data.shape)
    extent = math.prod(data.shape) if axis is None else data.shape[axis]
    each = repeats if len(repeats) == extent else repeats * extent
    summed = apply(_RUN_SUMS, (g,), {"lengths": each, "axis": along})
    return (summed if axis is not None else reshape(summed, data.shape),)


def _sums_infer(data: Spec, *, lengths: Shape, axis: int) -> tuple[Spec]:
    return (Spec((*data.shape[:axis], len(lengths), *data.shape[axis + 1 :]), data.dtype),)


def _sums_kernel(xp: ModuleType, out: Any, data: Any, *, lengths: Shape, axis: int) -> None:
    ends = accumulate(lengths)
    source, target = xp.moveaxis(data, axis, 0), xp.moveaxis(out, axis, 0)
    for i, (end, length) in enumerate(zip(ends, lengths, strict=True)):
        rows = source[end - length : end]
        target[i] = total(xp, rows, (0,), accumulator(data.dtype)).astype(out.dtype)


def _sums_gradient(g: V, data: V, *, lengths: Shape, axis: int) -> tuple[Any]:
    return (apply(NPI_REPEATS, (g,), {"repeats": lengths, "axis": axis}),)


NPI_REPEATS = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Repeat each position along axis repeats times, with one number for all or one for\n"
            "each; without axis, data is flattened first.\n\n"
            "Shapes: data any, output the same with the sum of repeats along axis."
        ),
        schema=Schema(repeats=shape_attr(), axis=optional(integer())),
    )
)

_RUN_SUMS = register(
    Operator(
        "_run_sums",
        _sums_infer,
        _sums_kernel,
        _sums_gradient,
        doc=(
            "Sums of successive runs of given lengths along axis: the gradient of repeats.\n\n"
            "Shapes: data any, output the same with as many positions along axis as lengths."
        ),
        schema=Schema(lengths=shape_attr(), axis=integer()),
    )
)
