"""PReLU: data where it is positive, else data times a factor; forward and backward."""

from gluonish.kernels.onednn.api import Argument, PropagationKind
from gluonish.kernels.onednn.binding import bind, contiguous_layout, require, require_fast
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import Descriptor
from gluonish.kernels.onednn.plan import Builder, Plan
from gluonish.kernels.onednn.primitive import PrimitiveDescriptor
from gluonish.ops.kernel import Array, Bound


def prelu(out: Array, data: Array, gamma: Array) -> Bound:
    """Plan the forward, on operands (out, data, gamma); gamma is (C,) and contiguous.

    Raises:
        RefusedError: The library does not support these arrays.
    """
    require("prelu", out, data, gamma)
    return bind("prelu", _plan_forward, (out, data, gamma))


def prelu_backward(out: Array, gamma_out: Array, grad: Array, data: Array, gamma: Array) -> Bound:
    """Plan the gradients of data and gamma, on operands (out, gamma_out, grad, data, gamma).

    Raises:
        RefusedError: The library does not support these arrays.
    """
    arrays = (out, gamma_out, grad, data, gamma)
    require("prelu_backward", *arrays)
    return bind("prelu_backward", _plan_backward, arrays)


def _factor(engine: Engine, gamma: Array, data: Array) -> Descriptor:
    return contiguous_layout(engine, gamma, (1, gamma.size, *(1,) * (data.ndim - 2)))


def _forward(
    engine: Engine, out: Descriptor, data: Descriptor, gamma: Descriptor
) -> PrimitiveDescriptor:
    return PrimitiveDescriptor(
        engine.api,
        "dnnl_prelu_forward_primitive_desc_create",
        *(engine.handle, PropagationKind.FORWARD_TRAINING),
        *(data.handle, gamma.handle, out.handle, engine.attributes),
    )


def _plan_forward(engine: Engine, arrays: tuple[Array, ...], _: object) -> Plan:
    out, data, gamma = arrays
    factor = _factor(engine, gamma, data)
    layouts = (engine.describe(out), engine.describe(data), factor)
    descriptor = _forward(engine, *layouts)
    require_fast(descriptor)
    builder = Builder(engine)
    target, source, weights = map(builder.operand, layouts)
    reads = {Argument.SRC: source, Argument.WEIGHTS: weights}
    builder.step(descriptor, reads, {Argument.DST: target})
    return builder.build()


def _plan_backward(engine: Engine, arrays: tuple[Array, ...], _: object) -> Plan:
    out, gamma_out, grad, data, gamma = arrays
    layouts = (
        engine.describe(out),
        _factor(engine, gamma_out, data),
        engine.describe(grad),
        engine.describe(data),
        _factor(engine, gamma, data),
    )
    d_data, d_gamma, head, source, weights = layouts
    hint = _forward(engine, head, source, weights)
    order = (source, weights, d_data, d_gamma, head)
    descriptor = PrimitiveDescriptor(
        engine.api,
        "dnnl_prelu_backward_primitive_desc_create",
        *(engine.handle, *(layout.handle for layout in order), hint.handle, engine.attributes),
    )
    require_fast(descriptor)
    builder = Builder(engine)
    slots = [builder.operand(layout) for layout in layouts]
    builder.step(
        descriptor,
        {Argument.DIFF_DST: slots[2], Argument.SRC: slots[3], Argument.WEIGHTS: slots[4]},
        {Argument.DIFF_SRC: slots[0], Argument.DIFF_WEIGHTS: slots[1]},
    )
    return builder.build()
