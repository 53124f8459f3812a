"""moments: mean and variance over axes."""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, optional, shape
from gluonish.core.spec import Shape, Spec
from gluonish.ops.reductions.reduction import MEAN
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.shape.broadcast_to import broadcast_to
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.precision import widen
from gluonish.ops.support.shape_rules import normalize_axes


def _axes(data: Shape, axes: Shape | None) -> Shape:
    if not axes:
        raise OperatorError(
            f"moments: expected at least one axis in axes, got {axes}; list all axes of {data} to "
            "reduce over all elements"
        )
    return normalize_axes("moments", axes, len(data))


def _keepdims_shape(data: Shape, axes: Shape) -> Shape:
    return tuple(1 if i in axes else extent for i, extent in enumerate(data))


def _infer(data: Spec, *, axes: Shape | None, keepdims: bool) -> tuple[Spec, Spec]:
    reduced = _axes(data.shape, axes)
    if data.dtype.kind == "b":
        raise OperatorError("moments: expected numbers, got bool")
    if keepdims:
        shape = _keepdims_shape(data.shape, reduced)
    else:
        shape = tuple(n for i, n in enumerate(data.shape) if i not in reduced) or (1,)
    return Spec(shape, data.dtype), Spec(shape, data.dtype)


def _kernel(xp: ModuleType, out: Any, data: Any, *, axes: Shape | None, keepdims: bool) -> None:
    reduced = _axes(data.shape, axes)
    count = 1
    for axis in reduced:
        count *= data.shape[axis]
    wide = widen(data)
    total = wide.sum(axis=reduced, keepdims=True)
    if is_floating(data.dtype):
        mean = total / count if count else total * xp.nan
        square = xp.square(wide - mean).sum(axis=reduced, keepdims=True)
        variance = square / count if count else mean
    else:
        # Means of integers are integers.
        mean = (total / max(1, count)).astype(data.dtype)
        square = xp.square(wide - mean).sum(axis=reduced, keepdims=True)
        variance = (square / max(1, count)).astype(data.dtype)
    out[0][...] = mean.reshape(out[0].shape)
    out[1][...] = variance.reshape(out[1].shape)


def _mean(x: Any, axes: Shape) -> Any:
    return apply(MEAN, (x,), {"axis": axes, "keepdims": True, "exclude": False})


def _gradient(
    g: tuple[V | None, V | None], data: V, *, axes: Shape | None, keepdims: bool
) -> tuple[Any]:
    reduced = _axes(data.shape, axes)
    keepdims_shape = _keepdims_shape(data.shape, reduced)
    share = 1.0
    for axis in reduced:
        share /= max(1, data.shape[axis])

    def of_data() -> Any:
        of_mean, of_variance = (None if h is None else reshape(h, keepdims_shape) for h in g)
        total = None if of_mean is None else broadcast_to(of_mean * share, data.shape)
        if of_variance is not None:
            term = (data - _mean(data, reduced)) * (of_variance * (2.0 * share))
            total = term if total is None else total + term
        return total

    return (of_data,)


MOMENTS = register(
    Operator(
        "moments",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Compute mean and variance over axes, which is required.\n\n"
            "keepdims keeps the reduced axes with size 1. Without remaining axes the shape is\n"
            "(1,).\n\n"
            "Shapes: data any, outputs data's without the axes in axes, or with size 1 there\n"
            "(keepdims)."
        ),
        schema=Schema(axes=optional(shape()), keepdims=boolean(False)),
        outputs=2,
        output_names=("output0", "output1"),
    )
)
