"""broadcast_to of mx.np: 0 is an extent, and -2 copies the array's."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec, checked_spec
from gluonish.ops.facts import Execution
from gluonish.ops.registry import Operator, V, register
from gluonish.ops.shape.broadcast_to import unbroadcast


def _infer(array: Spec, *, shape: Shape) -> tuple[Spec]:
    lead = len(shape) - len(array.shape)
    source = (1,) * lead + array.shape
    fits = lead >= 0 and -2 not in shape[:lead]
    target = tuple(s if t == -2 else t for s, t in zip(source, shape, strict=False))
    fits = fits and all(t >= 0 and s in (1, t) for s, t in zip(source, target, strict=True))
    if not fits:
        raise OperatorError(
            f"_npi_broadcast_to: expected shape to stretch {array.shape} where it is 1, got {shape}"
        )
    return (checked_spec("_npi_broadcast_to", target, array.dtype),)


def _kernel(xp: ModuleType, out: Any, array: Any, *, shape: Shape) -> None:
    out[...] = array


def _gradient(g: V, array: V, *, shape: Shape) -> tuple[Any]:
    return (unbroadcast(g, array.shape),)


BROADCAST_TO = register(
    Operator(
        "_npi_broadcast_to",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Broadcast the axes of size 1 to shape; -2 in shape keeps the size of an axis.\n\n"
            "Shapes: array any, output shape, which has at least as many axes."
        ),
        inputs=("array",),
        schema=Schema(shape=shape_attr(())),
        execution=Execution(copies_only=True),
    )
)
