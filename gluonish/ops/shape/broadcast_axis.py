"""broadcast_axis and broadcast_like: broadcast axes of size 1."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, optional, shape
from gluonish.core.spec import Shape, Spec, checked_spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, V, register
from gluonish.ops.shape.broadcast_to import unbroadcast
from gluonish.ops.support.dtype_rules import dtype_rule
from gluonish.ops.support.shape_rules import Shapes, merge_shape, normalize_axis


def _stretch(name: str, source: Shape, axes: Shape, sizes: Shape) -> Shape:
    if len(axes) != len(sizes):
        raise OperatorError(f"{name}: expected as many axes as sizes, got {axes} and {sizes}")
    target = list(source)
    for axis, size in zip(axes, sizes, strict=True):
        position = normalize_axis(name, axis, len(source))
        if source[position] not in (1, size):
            raise OperatorError(
                f"{name}: expected size 1 or {size} at axis {axis}, got shape {source}"
            )
        target[position] = size
    return tuple(target)


def _axis_infer(data: Spec, *, axis: Shape, size: Shape) -> tuple[Spec]:
    name = "broadcast_axis"
    return (checked_spec(name, _stretch(name, data.shape, axis, size), data.dtype),)


def _kernel(xp: ModuleType, out: Any, data: Any, *_others: Any, **_attrs: Any) -> None:
    out[...] = data


def _axis_gradient(g: V, data: V, *, axis: Shape, size: Shape) -> tuple[Any]:
    return (unbroadcast(g, data.shape),)


BROADCAST_AXIS = register(
    Operator(
        "broadcast_axis",
        _axis_infer,
        _kernel,
        _axis_gradient,
        doc=(
            "Broadcast the axes in axis, all of size 1, to the sizes in size.\n\n"
            "Shapes: data any, output the same except for the axes in axis."
        ),
        schema=Schema(axis=shape(()), size=shape(())),
        aliases=("broadcast_axes",),
        execution=Execution(copies_only=True),
    )
)


def _like_infer(
    lhs: Spec, rhs: Spec, *, lhs_axes: Shape | None, rhs_axes: Shape | None
) -> tuple[Spec]:
    name = "broadcast_like"
    if lhs_axes is None or rhs_axes is None:
        if len(lhs.shape) != len(rhs.shape):
            raise OperatorError(
                f"{name}: expected lhs and rhs of equal rank, got {lhs.shape} and {rhs.shape}"
            )
        lhs_axes = rhs_axes = tuple(range(len(lhs.shape)))
    sizes = tuple(rhs.shape[normalize_axis(name, axis, len(rhs.shape))] for axis in rhs_axes)
    return (Spec(_stretch(name, lhs.shape, lhs_axes, sizes), lhs.dtype),)


def _like_gradient(
    g: V, lhs: V, rhs: V, *, lhs_axes: Shape | None, rhs_axes: Shape | None
) -> tuple[Any, None]:
    return unbroadcast(g, lhs.shape), None


def _like_shapes(inputs: Shapes, outputs: Shapes, attrs: Attrs) -> None:
    """Infer the output's extents: those of like, and of data where it does not broadcast."""
    data, like = inputs
    if attrs["lhs_axes"] is not None or data is None or like is None or len(data) != len(like):
        return
    merge_shape(outputs, 0, tuple(n if n > 1 else m for n, m in zip(data, like, strict=True)))


BROADCAST_LIKE = register(
    Operator(
        "broadcast_like",
        _like_infer,
        _kernel,
        _like_gradient,
        doc=(
            "Broadcast lhs to the shape of rhs: all axes, or lhs_axes to the sizes of rhs_axes.\n\n"
            "Shapes: lhs and rhs with the same number of axes unless lhs_axes and rhs_axes are\n"
            "set, output that of lhs with the broadcast axes at their new sizes."
        ),
        inputs=("lhs", "rhs"),
        schema=Schema(lhs_axes=optional(shape()), rhs_axes=optional(shape())),
        shapes=ShapeFacts(rule=_like_shapes, complete=dtype_rule(0)),
        execution=Execution(copies_only=True),
    )
)
