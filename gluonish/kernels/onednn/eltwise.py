"""Functions of each element alone, and their gradients."""

from collections.abc import Sequence

from gluonish.kernels.onednn.api import AlgorithmKind, Argument, PropagationKind
from gluonish.kernels.onednn.attributes import Attributes, Eltwise, Finish
from gluonish.kernels.onednn.binding import bind, require
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import Descriptor
from gluonish.kernels.onednn.plan import Builder, Plan, Slot
from gluonish.kernels.onednn.primitive import PrimitiveDescriptor
from gluonish.ops.kernel import Array, Bound

__all__ = [
    "chain_step",
    "eltwise",
    "eltwise_backward",
    "eltwise_backward_step",
    "eltwise_step",
]


def eltwise(
    out: Array, data: Array, algorithm: AlgorithmKind, alpha: float = 0.0, beta: float = 0.0
) -> Bound:
    """Plan for ``out = f(data)``, on operands (out, data).

    Args:
        out: Any shape of 1 to 12 axes, to be filled.
        data: The shape and dtype of ``out``.
        algorithm: One of ``ELTWISE_*``.
        alpha: The function's first parameter, as the library documents it.
        beta: The function's second parameter.

    Raises:
        RefusedError: The library does not take these arrays.
    """
    require("eltwise", out, data)
    return bind("eltwise", _plan_forward, (out, data), (algorithm, alpha, beta))


def eltwise_backward(
    out: Array, grad: Array, data: Array, algorithm: AlgorithmKind, alpha: float = 0.0
) -> Bound:
    """Plan for the gradient of ``data``, on operands (out, grad, data).

    Args:
        out: To be filled.
        grad: Gradient of the function's result.
        data: The function's argument, or for ``*_USE_DST_FOR_BWD`` its result.
        algorithm: One of ``ELTWISE_*``.
        alpha: The function's first parameter.

    Raises:
        RefusedError: The library does not take these arrays.
    """
    require("eltwise_backward", out, grad, data)
    return bind("eltwise_backward", _plan_backward, (out, grad, data), (algorithm, alpha))


def eltwise_step(
    engine: Engine,
    builder: Builder,
    data: Slot,
    out: Slot,
    algorithm: AlgorithmKind,
    alpha: float = 0.0,
    beta: float = 0.0,
) -> None:
    """Add ``out = f(data)`` to a plan; both may be one slot, and ``out`` a new temporary."""
    layout = data.layout
    descriptor = _forward(engine, layout, out.descriptor or layout, algorithm, alpha, beta)
    builder.step(descriptor, {Argument.SRC: data}, {Argument.DST: out})


def chain_step(
    engine: Engine, builder: Builder, data: Slot, out: Slot, functions: Sequence[Eltwise]
) -> None:
    """Add ``out = h(g(f(data)))`` to a plan, in one step; ``out`` may be a new temporary."""
    layout = data.layout
    attributes = Attributes(engine.api, Finish(functions=tuple(functions)))
    # The larger of a number and itself: functions of one array take no others behind them.
    descriptor = PrimitiveDescriptor(
        engine.api,
        "dnnl_binary_primitive_desc_create",
        *(engine.handle, AlgorithmKind.BINARY_MAX, layout.handle, layout.handle),
        *((out.descriptor or layout).handle, attributes.handle),
    )
    builder.step(descriptor, {Argument.SRC: data, Argument.SRC_1: data}, {Argument.DST: out})


def eltwise_backward_step(
    engine: Engine,
    builder: Builder,
    slots: tuple[Slot, Slot, Slot],
    algorithm: AlgorithmKind,
    alpha: float = 0.0,
) -> None:
    """Add the gradient to a plan; ``slots`` are those of out, grad, and data or result."""
    out, grad, data = slots
    layouts = [slot.layout for slot in (grad, data)]
    hint = _forward(engine, layouts[1], layouts[1], algorithm, alpha, 0.0)
    descriptor = PrimitiveDescriptor(
        engine.api,
        "dnnl_eltwise_backward_primitive_desc_create",
        *(engine.handle, algorithm, (out.descriptor or layouts[0]).handle),
        *(layout.handle for layout in layouts),
        *(alpha, 0.0, hint.handle, engine.attributes),
    )
    used = Argument.DST if algorithm.name.endswith("_USE_DST_FOR_BWD") else Argument.SRC
    builder.step(descriptor, {Argument.DIFF_DST: grad, used: data}, {Argument.DIFF_SRC: out})


def _forward(
    engine: Engine,
    data: Descriptor,
    out: Descriptor,
    algorithm: AlgorithmKind,
    alpha: float,
    beta: float,
) -> PrimitiveDescriptor:
    return PrimitiveDescriptor(
        engine.api,
        "dnnl_eltwise_forward_primitive_desc_create",
        *(engine.handle, PropagationKind.FORWARD_TRAINING, algorithm),
        *(data.handle, out.handle, alpha, beta, engine.attributes),
    )


def _plan_forward(
    engine: Engine,
    arrays: tuple[Array, ...],
    attributes: tuple[AlgorithmKind, float, float],
) -> Plan:
    builder = Builder(engine)
    out, data = (builder.operand(engine.describe(array)) for array in arrays)
    eltwise_step(engine, builder, data, out, *attributes)
    return builder.build()


def _plan_backward(
    engine: Engine, arrays: tuple[Array, ...], attributes: tuple[AlgorithmKind, float]
) -> Plan:
    builder = Builder(engine)
    out, grad, data = (builder.operand(engine.describe(array)) for array in arrays)
    eltwise_backward_step(engine, builder, (out, grad, data), *attributes)
    return builder.build()
