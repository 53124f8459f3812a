"""delete: an array without some of its elements."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError, OperatorIndexError
from gluonish.core.schema import Schema, integer, optional
from gluonish.core.spec import UNKNOWN, Shape, Spec
from gluonish.ops.facts import ShapeFacts
from gluonish.ops.numpy.rearrangement import moved_gradient
from gluonish.ops.registry import Attrs, Operator, register
from gluonish.ops.support.shape_rules import normalize_axis

_NAME = "_npi_delete"


def _flat(shape: Shape, axis: int | None) -> tuple[Shape, int]:
    """Return the shape and axis that elements are deleted from."""
    if axis is not None:
        return shape, normalize_axis(_NAME, axis, len(shape))
    size = 1
    for extent in shape:
        size *= extent
    return (size,), 0


def _check_inside(index: int, extent: int) -> None:
    if not -extent <= index < extent:
        raise OperatorIndexError(
            f"{_NAME}: expected positions in [{-extent}, {extent}), got {index}"
        )


def _deleted(
    extent: int, start: int | None, stop: int | None, step: int | None, int_ind: int | None
) -> range:
    """Return the indices to delete, ascending or descending."""
    if int_ind is not None:
        _check_inside(int_ind, extent)
        return range(int_ind % extent, int_ind % extent + 1)
    if step == 0:
        raise OperatorError(f"{_NAME}: expected a step other than 0, got 0")
    return range(*slice(start, stop, step).indices(extent))


def _remaining_shape(shape: Shape, axis: int, count: int) -> Shape:
    return (*shape[:axis], count, *shape[axis + 1 :])


def _infer(
    arr: Spec,
    obj: Spec | None = None,
    *,
    start: int | None,
    stop: int | None,
    step: int | None,
    int_ind: int | None,
    axis: int | None,
) -> tuple[Spec]:
    shape, along = _flat(arr.shape, axis)
    if obj is None:
        count = shape[along] - len(_deleted(shape[along], start, stop, step, int_ind))
    elif obj.dtype.kind == "b":
        raise OperatorError(f"{_NAME}: expected obj of numbers, got bool; use nonzero")
    else:
        count = UNKNOWN
    return (Spec(_remaining_shape(shape, along, count), arr.dtype),)


def _remaining(
    xp: ModuleType,
    extent: int,
    obj: Any,
    start: int | None,
    stop: int | None,
    step: int | None,
    int_ind: int | None,
) -> Any:
    """Return the mask of remaining elements along the axis."""
    keep = xp.ones((extent,), bool)
    if obj is None:
        gone = _deleted(extent, start, stop, step, int_ind)
        for index in gone[:1]:
            keep[index] = False
        if len(gone) > 1:
            keep[xp.arange(gone.start, gone.stop, gone.step)] = False
    elif obj.size:
        positions = obj.astype(xp.int64).reshape(-1)
        keep[positions[(positions >= -extent) & (positions < extent)]] = False
    return keep


def _measure(
    xp: ModuleType, arr: Any, obj: Any = None, *, axis: int | None, **bounds: int | None
) -> tuple[Shape]:
    shape, along = _flat(arr.shape, axis)
    keep = _remaining(xp, shape[along], obj, **bounds)
    return (_remaining_shape(shape, along, int(xp.count_nonzero(keep))),)


def _kernel(
    xp: ModuleType,
    out: Any,
    arr: Any,
    obj: Any = None,
    *,
    axis: int | None,
    **bounds: int | None,
) -> None:
    shape, along = _flat(arr.shape, axis)
    keep = _remaining(xp, shape[along], obj, **bounds)
    out[...] = xp.compress(keep, arr.reshape(shape), axis=along)


def _inputs(attrs: Attrs) -> tuple[str, ...]:
    by_attributes = attrs["step"] is not None or attrs["int_ind"] is not None
    return ("arr",) if by_attributes else ("arr", "obj")


DELETE = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        moved_gradient(_NAME, _kernel),
        doc=(
            "arr without some positions along axis: int_ind, a slice, or those in obj.\n\n"
            "Without axis arr is flattened. Positions in obj that are out of range are ignored;\n"
            "int_ind out of range is an error.\n\n"
            "Shapes: arr any, obj (count,), output arr's with fewer along axis."
        ),
        inputs=("arr", "obj"),
        active_inputs=_inputs,
        schema=Schema(
            start=optional(integer()),
            stop=optional(integer()),
            step=optional(integer()),
            int_ind=optional(integer()),
            axis=optional(integer()),
        ),
        shapes=ShapeFacts(measure=_measure),
    )
)
