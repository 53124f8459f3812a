"""Elementwise plans: functions of one array, and operators on two or more.

Also PReLU, forward and backward: data where it is positive, else data times a factor.
"""

import ctypes
from collections.abc import Sequence

from gluonish.kernels.onednn.api import AlgorithmKind, Argument, PropagationKind
from gluonish.kernels.onednn.binding import bind, contiguous_layout, require, require_fast, source
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import Descriptor, element_strides
from gluonish.kernels.onednn.plan import Builder, Plan, Slot
from gluonish.kernels.onednn.primitive import Attributes, Eltwise, PostOps, PrimitiveDescriptor
from gluonish.ops.kernel import Array, Bound


def eltwise(
    out: Array, data: Array, algorithm: AlgorithmKind, alpha: float = 0.0, beta: float = 0.0
) -> Bound:
    """Plan ``out = f(data)``; the operands are (out, data), of 1 to 12 axes.

    Args:
        algorithm: The function f: one of ``ELTWISE_*``.
        alpha: The function's first parameter in the library.
        beta: The function's second parameter.

    Raises:
        RefusedError: The library does not support these arrays.
    """
    require("eltwise", out, data)
    return bind("eltwise", _plan_forward, (out, data), (algorithm, alpha, beta))


def eltwise_backward(
    out: Array, grad: Array, data: Array, algorithm: AlgorithmKind, alpha: float = 0.0
) -> Bound:
    """Plan the gradient of ``data``; the operands are (out, grad, data).

    Args:
        data: The function's argument, or for ``*_USE_DST_FOR_BWD`` its result.
        algorithm: One of ``ELTWISE_*``.
        alpha: The function's first parameter.

    Raises:
        RefusedError: The library does not support these arrays.
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
    """Add ``out = f(data)`` to a plan; ``out`` may be a temporary, or the slot of the data."""
    layout = data.layout
    descriptor = _forward(engine, layout, out.descriptor or layout, algorithm, alpha, beta)
    builder.step(descriptor, {Argument.SRC: data}, {Argument.DST: out})


def chain_step(
    engine: Engine, builder: Builder, data: Slot, out: Slot, functions: Sequence[Eltwise]
) -> None:
    """Add ``out = h(g(f(data)))`` to a plan as one step; ``out`` may be a temporary."""
    layout = data.layout
    attributes = Attributes(engine.api, PostOps(functions=tuple(functions)))
    # The maximum of data and itself, as eltwise primitives accept no post-ops.
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
    """Add the gradient of a function to a plan; ``slots`` are out, grad, and data or result."""
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


def binary(out: Array, lhs: Array, rhs: Array, algorithm: AlgorithmKind) -> Bound:
    """Plan ``out = f(lhs, rhs)`` with broadcasting; the operands are (out, lhs, rhs).

    Raises:
        RefusedError: The library does not support these arrays.
    """
    require("binary", out, lhs, rhs)
    return bind("binary", _plan, (out, lhs, rhs), algorithm)


def _describe(engine: Engine, array: Array, rank: int) -> Descriptor:
    """Return an array's layout, with leading axes of length 1 added up to ``rank`` axes."""
    missing = rank - array.ndim
    strides = (array.size,) * missing + element_strides(array)
    shape = (1,) * missing + array.shape
    return Descriptor.strided(engine.api, shape, strides, engine.data_type(array))


def _plan(engine: Engine, arrays: tuple[Array, ...], algorithm: AlgorithmKind) -> Plan:
    layouts = [_describe(engine, array, arrays[0].ndim) for array in arrays]
    descriptor = PrimitiveDescriptor(
        engine.api,
        "dnnl_binary_primitive_desc_create",
        *(engine.handle, algorithm, layouts[1].handle, layouts[2].handle, layouts[0].handle),
        engine.attributes,
    )
    builder = Builder(engine)
    out, lhs, rhs = map(builder.operand, layouts)
    builder.step(descriptor, {Argument.SRC: lhs, Argument.SRC_1: rhs}, {Argument.DST: out})
    return builder.build()


def weighted_sum(out: Array, arrays: Sequence[Array], scales: Sequence[float]) -> Bound:
    """Plan the weighted sum of ``arrays``; the operands are (out, *arrays).

    Args:
        out: The result; may be the first of ``arrays``.

    Raises:
        RefusedError: The library does not support these arrays.
    """
    require("sum", out, *arrays)
    return bind("sum", _plan_sum, (out, *arrays), tuple(scales))


def sum_step(
    engine: Engine, builder: Builder, slots: Sequence[Slot], out: Slot, scales: Sequence[float]
) -> None:
    """Add a weighted sum to a plan; ``out`` may be the first of ``slots``."""
    count = len(slots)
    layouts = [slot.layout for slot in slots]
    handles = (ctypes.c_void_p * count)(*(layout.handle for layout in layouts))
    descriptor = PrimitiveDescriptor(
        engine.api,
        "dnnl_sum_primitive_desc_create",
        *(engine.handle, out.layout.handle, count, (ctypes.c_float * count)(*scales), handles),
        engine.attributes,
    )
    reads = {source(i): slot for i, slot in enumerate(slots)}
    builder.step(descriptor, reads, {Argument.DST: out})


def _plan_sum(engine: Engine, arrays: tuple[Array, ...], scales: tuple[float, ...]) -> Plan:
    builder = Builder(engine)
    out, *slots = (builder.operand(engine.describe(array)) for array in arrays)
    sum_step(engine, builder, slots, out, scales)
    return builder.build()


def prelu(out: Array, data: Array, gamma: Array) -> Bound:
    """Plan the forward pass of PReLU on operands (out, data, gamma); gamma is (C,), contiguous.

    Raises:
        RefusedError: The library does not support these arrays.
    """
    require("prelu", out, data, gamma)
    return bind("prelu", _plan_forward_prelu, (out, data, gamma))


def prelu_backward(out: Array, gamma_out: Array, grad: Array, data: Array, gamma: Array) -> Bound:
    """Plan the gradients of PReLU; the operands are (out, gamma_out, grad, data, gamma).

    Raises:
        RefusedError: The library does not support these arrays.
    """
    arrays = (out, gamma_out, grad, data, gamma)
    require("prelu_backward", *arrays)
    return bind("prelu_backward", _plan_backward_prelu, arrays)


def _factor(engine: Engine, gamma: Array, data: Array) -> Descriptor:
    return contiguous_layout(engine, gamma, (1, gamma.size, *(1,) * (data.ndim - 2)))


def _forward_prelu(
    engine: Engine, out: Descriptor, data: Descriptor, gamma: Descriptor
) -> PrimitiveDescriptor:
    return PrimitiveDescriptor(
        engine.api,
        "dnnl_prelu_forward_primitive_desc_create",
        *(engine.handle, PropagationKind.FORWARD_TRAINING),
        *(data.handle, gamma.handle, out.handle, engine.attributes),
    )


def _plan_forward_prelu(engine: Engine, arrays: tuple[Array, ...], _: object) -> Plan:
    out, data, gamma = arrays
    factor = _factor(engine, gamma, data)
    layouts = (engine.describe(out), engine.describe(data), factor)
    descriptor = _forward_prelu(engine, *layouts)
    require_fast(descriptor)
    builder = Builder(engine)
    target, source, weights = map(builder.operand, layouts)
    reads = {Argument.SRC: source, Argument.WEIGHTS: weights}
    builder.step(descriptor, reads, {Argument.DST: target})
    return builder.build()


def _plan_backward_prelu(engine: Engine, arrays: tuple[Array, ...], _: object) -> Plan:
    out, gamma_out, grad, data, gamma = arrays
    layouts = (
        engine.describe(out),
        _factor(engine, gamma_out, data),
        engine.describe(grad),
        engine.describe(data),
        _factor(engine, gamma, data),
    )
    d_data, d_gamma, head, source, weights = layouts
    hint = _forward_prelu(engine, head, source, weights)
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
