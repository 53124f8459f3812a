"""reverse: reverse the order of elements along axes."""

from types import ModuleType
from typing import Any

from gluonish.core.schema import Schema, shape
from gluonish.core.spec import Shape, Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.shape_rules import normalize_axes, same_shape


def _infer(data: Spec, *, axis: Shape) -> tuple[Spec]:
    normalize_axes("reverse", axis, len(data.shape))
    return (data,)


def _kernel(xp: ModuleType, out: Any, data: Any, *, axis: Shape) -> None:
    out[...] = xp.flip(data, axis)


def _gradient(g: V, data: V, *, axis: Shape) -> tuple[Any]:
    return (reverse(g, axis),)


REVERSE = register(
    Operator(
        "reverse",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Reverse the order of elements along the axes in axis.\n\n"
            "Shapes: data any, output the same."
        ),
        schema=Schema(axis=shape()),
        aliases=("flip",),
        shapes=ShapeFacts(rule=same_shape()),
        execution=Execution(copies_only=True),
    )
)


def reverse(x: Any, axis: Shape) -> Any:
    """Reverse the order of elements along the axes ``axis``."""
    return apply(REVERSE, (x,), {"axis": axis})
