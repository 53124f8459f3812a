"""_square_sum: the sum of squares over axes."""

from types import ModuleType
from typing import Any

from gluonish.core.schema import Schema, boolean, optional
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Spec
from gluonish.ops.reductions.reduction import SUM, reduced_axes
from gluonish.ops.registry import Operator, V, register
from gluonish.ops.shape.broadcast_to import broadcast_to
from gluonish.ops.shape.reshape import reshape

Axes = tuple[int, ...]


def _infer(data: Spec, **attrs: Any) -> tuple[Spec, ...]:
    reduced_axes("_square_sum", len(data.shape), attrs["axis"], attrs["exclude"])
    return SUM.infer(data, **attrs)


def _kernel(xp: ModuleType, out: Any, data: Any, **attrs: Any) -> None:
    SUM.kernel(xp, out, xp.multiply(data, data), **attrs)


def _gradient(
    g: V, data: V, *, axis: Axes | None, keepdims: bool, exclude: bool
) -> tuple[Any, ...]:
    axes = reduced_axes("_square_sum", len(data.shape), axis, exclude)
    reduced = tuple(1 if i in axes else extent for i, extent in enumerate(data.shape))
    return (broadcast_to(reshape(g, reduced), data.shape) * data * 2.0,)


SQUARE_SUM = register(
    Operator(
        "_square_sum",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Sum the squares of data over axes; the arguments are as in sum.\n\n"
            "For a row-sparse matrix over axis 1 with keepdims the result is row-sparse.\n\n"
            "Shapes: data any, output data's without the axes in axis, or with size 1 there\n"
            "(keepdims)."
        ),
        schema=Schema(axis=optional(shape_attr()), keepdims=boolean(False), exclude=boolean(False)),
    )
)
