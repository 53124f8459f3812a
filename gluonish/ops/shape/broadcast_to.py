"""broadcast_to, and its gradient, the sum over the broadcast axes.

broadcast_axis and broadcast_like: broadcast axes of size 1.
"""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, optional, shape
from gluonish.core.spec import Shape, Spec, checked_spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.support.dtype_rules import dtype_rule
from gluonish.ops.support.precision import accumulator, total
from gluonish.ops.support.shape_rules import Shapes, merge_shape, normalize_axis


def _infer(data: Spec, *, shape: Shape) -> tuple[Spec]:
    lead = len(shape) - len(data.shape)
    source = (1,) * lead + data.shape
    target = tuple(s if t == 0 else t for s, t in zip(source, shape, strict=False))
    if lead < 0 or any(s not in (1, t) or t < 0 for s, t in zip(source, target, strict=True)):
        raise OperatorError(
            f"broadcast_to: expected a shape that {data.shape} broadcasts to, got {shape}"
        )
    return (checked_spec("broadcast_to", target, data.dtype),)


def _kernel(xp: ModuleType, out: Any, data: Any, *, shape: Shape) -> None:
    out[...] = data


def _gradient(g: V, data: V, *, shape: Shape) -> tuple[Any]:
    return (unbroadcast(g, data.shape),)


BROADCAST_TO = register(
    Operator(
        "broadcast_to",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Broadcast the axes of size 1 to shape; 0 in shape keeps the size of an axis.\n\n"
            "Shapes: data any, output shape, which has the same number of axes."
        ),
        schema=Schema(shape=shape(())),
        execution=Execution(copies_only=True),
    )
)


def _exact_infer(data: Spec, *, shape: Shape) -> tuple[Spec]:
    return (Spec(shape, data.dtype),)


BROADCAST_EXACT = register(
    Operator(
        "_broadcast_exact",
        _exact_infer,
        _kernel,
        _gradient,
        doc="Broadcast the axes of size 1 to shape, where 0 means a size of 0.",
        schema=Schema(shape=shape(())),
        execution=Execution(copies_only=True),
    )
)


def stretched_axes(shape: Shape, source: Shape) -> Shape:
    """Return the axes along which ``source`` broadcasts to ``shape``."""
    lead = len(shape) - len(source)
    return tuple(range(lead)) + tuple(
        lead + i for i, n in enumerate(source) if n == 1 and shape[lead + i] != 1
    )


def _sum_infer(data: Spec, *, shape: Shape) -> tuple[Spec]:
    return (Spec(shape, data.dtype),)


def _sum_kernel(xp: ModuleType, out: Any, data: Any, *, shape: Shape) -> None:
    axes = stretched_axes(data.shape, shape)
    out[...] = total(xp, data, axes, accumulator(data.dtype)).reshape(shape)


def _sum_gradient(g: V, data: V, *, shape: Shape) -> tuple[Any]:
    return (broadcast_to(g, data.shape),)


SUM_TO_SHAPE = register(
    Operator(
        "_sum_to_shape",
        _sum_infer,
        _sum_kernel,
        _sum_gradient,
        doc="Sum over the axes along which shape broadcasts to the shape of data.",
        schema=Schema(shape=shape(())),
    )
)


def broadcast_to(data: Any, shape: Shape) -> Any:
    """Broadcast the axes of size 1 of ``data`` to ``shape``."""
    if data.shape == shape:
        return data
    return apply(BROADCAST_EXACT if 0 in shape else BROADCAST_TO, (data,), {"shape": shape})


def unbroadcast(g: Any, shape: Shape) -> Any:
    """Sum a gradient over the axes along which a value of ``shape`` was broadcast."""
    return g if g.shape == shape else apply(SUM_TO_SHAPE, (g,), {"shape": shape})


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


def _kernel_broadcast_axis(
    xp: ModuleType, out: Any, data: Any, *_others: Any, **_attrs: Any
) -> None:
    out[...] = data


def _axis_gradient(g: V, data: V, *, axis: Shape, size: Shape) -> tuple[Any]:
    return (unbroadcast(g, data.shape),)


BROADCAST_AXIS = register(
    Operator(
        "broadcast_axis",
        _axis_infer,
        _kernel_broadcast_axis,
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
        _kernel_broadcast_axis,
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
