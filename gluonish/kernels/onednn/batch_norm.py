"""Batch normalization in training, and with known statistics.

Data may be float32 or bfloat16; gamma, beta, the statistics and their gradients are always float32.
Vectors of channels that the library does not compute, the moving statistics and the inverse
standard deviation, are computed by additional steps of the same plan.

With a fused ReLU, the library writes one bit for each positive element, in memory order, if the
channels come last and their number is a multiple of 16. These bits are the operator's mask, which
its gradient reads. Otherwise the library writes a byte per element, slowly; then the ReLU is a
separate step, its gradient reads the output, and the mask is not written.

`batch_norm_apply` is a subtraction with post-ops that multiply and add, so that adding another
array and a ReLU take no further pass.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gluonish.kernels.onednn.api import (
    AlgorithmKind,
    Argument,
    NormalizationFlag,
    PropagationKind,
    post_op_source,
)
from gluonish.kernels.onednn.binding import (
    bind,
    channels_last,
    require,
    require_statistics,
    single_thread,
)
from gluonish.kernels.onednn.eltwise import (
    chain_step,
    eltwise_backward_step,
    eltwise_step,
    sum_step,
)
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import Descriptor, element_strides
from gluonish.kernels.onednn.plan import Builder, Plan
from gluonish.kernels.onednn.primitive import Chain, Eltwise, PrimitiveDescriptor
from gluonish.ops.kernel import Array, Bound, RefusedError
from gluonish.ops.registry import Attrs

_BLOCK = 16  # channels
_SQUARE = Eltwise(AlgorithmKind.ELTWISE_SQUARE)
_ROOT = Eltwise(AlgorithmKind.ELTWISE_SQRT)
_INVERSE = Eltwise(AlgorithmKind.ELTWISE_POW, 1.0, -1.0)


class _Kind(NamedTuple):
    """The attributes that a plan depends on.

    Attributes:
        batch: Whether to normalize with the statistics of the batch.
        scaled: Whether gamma is used, rather than 1.
        relu: Whether a ReLU follows.
        fused: Whether the library computes the ReLU and its mask.
    """

    eps: float
    momentum: float
    batch: bool
    scaled: bool
    relu: bool
    fused: bool = False

    @property
    def flags(self) -> int:
        """The library's normalization flags."""
        flags = int(NormalizationFlag.USE_SHIFT)
        if self.scaled:
            flags |= NormalizationFlag.USE_SCALE
        if not self.batch:
            flags |= NormalizationFlag.USE_GLOBAL_STATS
        if self.fused:
            flags |= NormalizationFlag.FUSE_RELU
        return flags


def batch_norm(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    """Plan the forward pass.

    Args:
        outputs: out (N, C, *spatial), mean (C,) and inverse standard deviation (C,); with a fourth,
            the mask, a ReLU follows.
        inputs: data (N, C, *spatial), and gamma, beta, moving mean, moving variance (C,). Training
            overwrites the last two.
        attrs: The operator's attributes, and ``train``.

    Raises:
        RefusedError: The library does not support these arrays.
    """
    require("batch_norm", outputs[0], inputs[0])
    require_statistics("batch_norm", *outputs[1:3], *inputs[1:])
    kind = _Kind(
        attrs["eps"],
        attrs["momentum"],
        attrs["train"] and not attrs["use_global_stats"],
        not attrs["fix_gamma"],
        len(outputs) == 4,
    )
    used = [*range(3), *range(len(outputs), len(outputs) + 5)]
    return _bind("batch_norm", _plan_forward, (*outputs, *inputs), kind, used, mask=3)


def batch_norm_backward(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    """Plan the gradients of data, gamma and beta.

    Args:
        outputs: The three gradients: (N, C, *spatial), (C,) and (C,).
        inputs: Gradient of the output and data (N, C, *spatial), and gamma, mean, inverse standard
            deviation (C,); with a ReLU also the output and the mask.

    Raises:
        RefusedError: The library does not support these arrays.
    """
    relu = len(inputs) == 7
    require("batch_norm_backward", outputs[0], *inputs[:2], *inputs[5:6])
    require_statistics("batch_norm_backward", *outputs[1:], *inputs[2:5])
    # The operator's inverse standard deviation already includes eps.
    kind = _Kind(0.0, 0.0, not attrs["use_global_stats"], not attrs["fix_gamma"], relu)
    used = range(9 if relu else 8)
    return _bind("batch_norm_backward", _plan_backward, (*outputs, *inputs), kind, used, mask=9)


def _bind(
    name: str,
    build: Callable[[Engine, tuple[Array, ...], _Kind], Plan],
    arrays: tuple[Array, ...],
    kind: _Kind,
    operands: Sequence[int],
    mask: int,
) -> Bound:
    """Return a plan, cached or new; the ReLU is fused if the library writes a mask of bits.

    Args:
        operands: Indices of the plan's operands among the arrays, without the mask.
        mask: Index of the mask.
    """
    if kind.relu and _has_bit_mask([array for array in arrays if array.ndim > 1]):
        try:
            return bind(name, build, arrays, kind._replace(fused=True), (*operands, mask))
        except RefusedError:
            pass  # the library writes a mask of bytes on this machine
    return bind(name, build, arrays, kind, operands)


def _has_bit_mask(arrays: Sequence[Array]) -> bool:
    if not all(map(channels_last, arrays)):
        return False
    return arrays[0].shape[1] % _BLOCK == 0 and len(set(map(element_strides, arrays))) == 1


def _mask_layout(descriptor: PrimitiveDescriptor, mask: Array) -> Descriptor:
    """Return the library's layout of the mask.

    Raises:
        RefusedError: The library's mask is larger than the operator's.
    """
    layout = descriptor.layout_of(Argument.WORKSPACE)
    if layout.nbytes > mask.nbytes:
        raise RefusedError(
            f"oneDNN: expected a mask of at most {mask.nbytes} bytes, got {layout.nbytes}"
        )
    return layout


def _forward(
    engine: Engine, training: bool, out: Array, data: Array, kind: _Kind
) -> PrimitiveDescriptor:
    source, target = engine.common_layouts(data, out)
    propagation = (
        PropagationKind.FORWARD_TRAINING if training else PropagationKind.FORWARD_INFERENCE
    )
    return PrimitiveDescriptor(
        engine.api,
        "dnnl_batch_normalization_forward_primitive_desc_create",
        *(engine.handle, propagation, source.handle, target.handle),
        *(kind.eps, kind.flags, engine.attributes),
    )


def _plan_forward(engine: Engine, arrays: tuple[Array, ...], kind: _Kind) -> Plan:
    out, data = arrays[0], arrays[-5]
    descriptor = _forward(engine, kind.batch or kind.fused, out, data, kind)
    builder = Builder(engine)
    (target, mean, inverse), (source, gamma, beta, *moving) = (
        [builder.operand(engine.describe(array)) for array in group]
        for group in (arrays[:3], arrays[-5:])
    )
    reads = {Argument.SRC: source, Argument.SHIFT: beta}
    if kind.scaled:
        reads[Argument.SCALE] = gamma
    writes = {Argument.DST: target}
    if kind.batch:
        variance = builder.temporary()
        writes |= {Argument.MEAN: mean, Argument.VARIANCE: variance}
    else:
        variance = moving[1]
        reads |= {Argument.MEAN: moving[0], Argument.VARIANCE: variance}
    if kind.fused:
        writes[Argument.WORKSPACE] = builder.operand(_mask_layout(descriptor, arrays[3]))
    builder.step(descriptor, reads, writes)
    if kind.relu and not kind.fused:
        eltwise_step(engine, builder, target, target, AlgorithmKind.ELTWISE_RELU)
    with single_thread(engine):
        if kind.batch:
            share = (kind.momentum, 1 - kind.momentum)
            for average, new in zip(moving, (mean, variance), strict=True):
                sum_step(engine, builder, (average, new), average, share)
        else:
            builder.reorder(moving[0], mean)
        chain_step(engine, builder, variance, inverse, _inverse_root(kind.eps))
    return builder.build()


def _inverse_root(eps: float) -> tuple[Eltwise, ...]:
    """Return the functions that turn a variance into an inverse standard deviation."""
    return Eltwise(AlgorithmKind.ELTWISE_LINEAR, 1.0, eps), _ROOT, _INVERSE


def _plan_backward(engine: Engine, arrays: tuple[Array, ...], kind: _Kind) -> Plan:
    dx, grad, data = arrays[0], *arrays[3:5]
    hint = _forward(engine, True, grad, data, kind)
    layouts = engine.common_layouts(dx, grad, data)
    descriptor = PrimitiveDescriptor(
        engine.api,
        "dnnl_batch_normalization_backward_primitive_desc_create",
        *(engine.handle, PropagationKind.BACKWARD, *(layout.handle for layout in layouts)),
        *(kind.eps, kind.flags, hint.handle, engine.attributes),
    )
    builder = Builder(engine)
    used = arrays[: 9 if kind.relu else 8]
    slots = [builder.operand(engine.describe(array)) for array in used]
    target, dgamma, dbeta, head, source, gamma, mean, inverse, *out = slots
    variance = builder.temporary()
    with single_thread(engine):
        # The library computes the inverse standard deviation from this variance and eps 0.
        chain_step(engine, builder, inverse, variance, (_SQUARE, _INVERSE))
        if not kind.scaled:
            eltwise_step(engine, builder, gamma, dgamma, AlgorithmKind.ELTWISE_CLIP)
    reads = {Argument.SRC: source, Argument.MEAN: mean, Argument.VARIANCE: variance}
    writes = {Argument.DIFF_SRC: target, Argument.DIFF_SHIFT: dbeta}
    if kind.scaled:
        reads[Argument.SCALE] = gamma
        writes[Argument.DIFF_SCALE] = dgamma
    if kind.relu and not kind.fused:
        masked, rule = builder.temporary(), AlgorithmKind.ELTWISE_RELU_USE_DST_FOR_BWD
        eltwise_backward_step(engine, builder, (masked, head, out[0]), rule)
        head = masked
    reads[Argument.DIFF_DST] = head
    if kind.fused:
        reads[Argument.WORKSPACE] = builder.operand(_mask_layout(hint, arrays[9]))
    builder.step(descriptor, reads, writes)
    return builder.build()


class _BatchNormApplyKind(NamedTuple):
    scaled: bool
    relu: bool


def batch_norm_apply(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    """Plan ``(data - mean) * inverse_std * gamma + beta``, optionally plus ``add``, and a ReLU.

    Args:
        outputs: out (N, C, *spatial).
        inputs: data (N, C, *spatial), and gamma, beta, mean, inverse standard deviation (C,); with
            ``add`` an array like data, which is added.

    Raises:
        RefusedError: The library does not support these arrays.
    """
    require("batch_norm_apply", *outputs, inputs[0], *inputs[5:])
    require_statistics("batch_norm_apply", *inputs[1:5])
    kind = _BatchNormApplyKind(not attrs["fix_gamma"], attrs["relu"])
    used = [i for i in range(len(inputs) + 1) if i != 2 or kind.scaled]
    return bind("batch_norm_apply", _plan, (*outputs, *inputs), kind, used)


def _plan(engine: Engine, arrays: tuple[Array, ...], kind: _BatchNormApplyKind) -> Plan:
    builder = Builder(engine)
    out, data = (builder.operand(engine.describe(array)) for array in arrays[:2])
    rank = arrays[0].ndim
    gamma = builder.operand(_channels(engine, arrays[2], rank)) if kind.scaled else None
    beta, mean, inverse = (builder.operand(_channels(engine, array, rank)) for array in arrays[3:6])
    addends = [builder.operand(engine.describe(array)) for array in arrays[6:]]
    # Arrays with another layout than the result are reordered: the library accepts them, but would
    # not vectorize.
    common = _common(engine, arrays[0])
    factors = [inverse] if gamma is None else [inverse, gamma]
    steps = [
        *((AlgorithmKind.BINARY_MUL, slot, slot.layout) for slot in factors),
        (AlgorithmKind.BINARY_ADD, beta, beta.layout),
        *((AlgorithmKind.BINARY_ADD, slot, common) for slot in addends),
    ]
    functions = [Eltwise(AlgorithmKind.ELTWISE_RELU)] if kind.relu else []
    chain = Chain(engine.api, [*((how, layout) for how, _, layout in steps), *functions])
    descriptor = PrimitiveDescriptor(
        engine.api,
        "dnnl_binary_primitive_desc_create",
        *(engine.handle, AlgorithmKind.BINARY_SUB),
        *(layout.handle for layout in (common, mean.layout, common)),
        chain.handle,
    )
    reads = {Argument.SRC: data, Argument.SRC_1: mean}
    for i, (_, slot, _) in enumerate(steps):
        reads[post_op_source(i)] = slot
    builder.step(descriptor, reads, {Argument.DST: out})
    return builder.build()


def _common(engine: Engine, out: Array) -> Descriptor:
    """Return the layout of the result if its channels come last, else the contiguous one."""
    return engine.describe(out) if channels_last(out) else engine.contiguous(out)


def _channels(engine: Engine, array: Array, rank: int) -> Descriptor:
    """Return the layout of a vector that is broadcast along axis 1 of arrays of a rank."""
    shape = (1, array.size, *(1,) * (rank - 2))
    strides = (array.size, *(1,) * (rank - 1))
    return Descriptor.strided(engine.api, shape, strides, engine.data_type(array))
