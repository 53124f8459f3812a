"""Concat and stack: join arrays along an existing or a new axis."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer
from gluonish.core.spec import UNKNOWN, Shape, Spec, merge_shapes
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.indexing.slice import slice_axis
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.broadcasting import check_same_dtype
from gluonish.ops.support.shape_rules import Shapes, merge_shape, normalize_axis, unknown_of


def _infer(*arrays: Spec, num_args: int, dim: int) -> tuple[Spec]:
    first = arrays[0]
    axis = normalize_axis("Concat", dim, len(first.shape))
    total = 0
    for spec in arrays:
        check_same_dtype("Concat", first, spec)
        rest = (*spec.shape[:axis], *spec.shape[axis + 1 :])
        if len(spec.shape) != len(first.shape) or rest != (
            *first.shape[:axis],
            *first.shape[axis + 1 :],
        ):
            raise OperatorError(
                f"Concat: expected shapes that differ along axis {axis} only, "
                f"got {', '.join(str(s.shape) for s in arrays)}"
            )
        total += spec.shape[axis]
    return (Spec((*first.shape[:axis], total, *first.shape[axis + 1 :]), first.dtype),)


def _kernel(xp: ModuleType, out: Any, *arrays: Any, num_args: int, dim: int) -> None:
    xp.concatenate(arrays, axis=dim, out=out)


def _gradient(g: V, *arrays: V, num_args: int, dim: int) -> tuple[Any, ...]:
    axis = dim % len(g.shape)
    entries = []
    begin = 0
    for x in arrays:
        end = begin + x.shape[axis]
        entries.append(lambda begin=begin, end=end: slice_axis(g, axis, begin, end))
        begin = end
    return tuple(entries)


def _shapes(inputs: Shapes, outputs: Shapes, attrs: Attrs) -> None:
    known = [shape for shape in (*inputs, outputs[0]) if shape is not None]
    if not known:
        return
    rank = len(known[0])
    axis = attrs["dim"] + rank * (attrs["dim"] < 0)
    if not 0 <= axis < rank:
        return
    rest: Shape | None = unknown_of(rank)
    for shape in known:
        rest = merge_shapes(rest, (*shape[:axis], UNKNOWN, *shape[axis + 1 :]), "Concat")
    for shapes in (inputs, outputs):
        for i in range(len(shapes)):
            merge_shape(shapes, i, rest)
    extents = [shape[axis] if shape is not None else UNKNOWN for shape in inputs]
    total = outputs[0][axis] if outputs[0] is not None else UNKNOWN
    if UNKNOWN not in extents:
        total = sum(extents)
    elif extents.count(UNKNOWN) == 1 and total != UNKNOWN:
        missing = total - sum(n for n in extents if n != UNKNOWN)
        if missing >= 0:
            i = extents.index(UNKNOWN)
            merge_shape(inputs, i, _with_extent(rank, axis, missing))
    merge_shape(outputs, 0, _with_extent(rank, axis, total))


def _with_extent(rank: int, axis: int, extent: int) -> Shape:
    """Return a shape with only the extent of ``axis`` known."""
    return tuple(extent if i == axis else UNKNOWN for i in range(rank))


CONCAT = register(
    Operator(
        "Concat",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Join arrays along axis dim; their other sizes are equal.\n\n"
            "Shapes: arrays (..., n_i, ...) with n_i along dim, output (..., sum of n_i, ...)."
        ),
        inputs=("data",),
        schema=Schema(num_args=integer(low=1), dim=integer(1)),
        aliases=("concat", "_sparse_concat"),
        variadic="num_args",
        shapes=ShapeFacts(rule=_shapes),
    )
)


def concat(arrays: Sequence[Any], axis: int) -> Any:
    """Join arrays along ``axis``."""
    return apply(CONCAT, tuple(arrays), {"num_args": len(arrays), "dim": axis})


def _stack_infer(*arrays: Spec, num_args: int, axis: int) -> tuple[Spec]:
    first = arrays[0]
    axis = normalize_axis("stack", axis, len(first.shape) + 1)
    for spec in arrays:
        check_same_dtype("stack", first, spec)
        if spec.shape != first.shape:
            raise OperatorError(
                f"stack: expected arrays of equal shape, got {first.shape} and {spec.shape}"
            )
    shape = (*first.shape[:axis], len(arrays), *first.shape[axis:])
    return (Spec(shape, first.dtype),)


def _stack_kernel(xp: ModuleType, out: Any, *arrays: Any, num_args: int, axis: int) -> None:
    xp.stack(arrays, axis=axis, out=out)


def _stack_gradient(g: V, *arrays: V, num_args: int, axis: int) -> tuple[Any, ...]:
    axis %= len(g.shape)
    return tuple(
        lambda i=i, x=x: reshape(slice_axis(g, axis, i, i + 1), x.shape)
        for i, x in enumerate(arrays)
    )


def _stack_shapes(inputs: Shapes, outputs: Shapes, attrs: Attrs) -> None:
    out = outputs[0]
    shape = next((shape for shape in inputs if shape is not None), None)
    if shape is None and out is None:
        return
    rank = len(shape) + 1 if shape is not None else len(out or ())
    axis = attrs["axis"] + rank * (attrs["axis"] < 0)
    if not 0 <= axis < rank:
        return
    rest: Shape | None = None if out is None else (*out[:axis], *out[axis + 1 :])
    for known in inputs:
        rest = merge_shapes(rest, known, "stack")
    inputs[:] = [rest] * len(inputs)
    if rest is not None:
        merge_shape(outputs, 0, (*rest[:axis], len(inputs), *rest[axis:]))


STACK = register(
    Operator(
        "stack",
        _stack_infer,
        _stack_kernel,
        _stack_gradient,
        doc=(
            "Join arrays of one shape along a new axis.\n\n"
            "Shapes: arrays all of one shape, output with one more axis, whose size is the\n"
            "number of arrays."
        ),
        inputs=("data",),
        schema=Schema(axis=integer(0), num_args=integer(low=1)),
        variadic="num_args",
        shapes=ShapeFacts(rule=_stack_shapes),
        execution=Execution(copies_only=True),
    )
)


def stack(arrays: Sequence[Any], axis: int = 0) -> Any:
    """Join arrays along a new axis at position ``axis``."""
    return apply(STACK, tuple(arrays), {"axis": axis, "num_args": len(arrays)})
