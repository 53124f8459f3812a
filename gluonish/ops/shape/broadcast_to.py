"""broadcast_to, and its gradient, the sum over the broadcast axes."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, shape
from gluonish.core.spec import Shape, Spec, checked_spec
from gluonish.ops.facts import Execution
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.precision import accumulator, total


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
