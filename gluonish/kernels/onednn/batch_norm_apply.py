"""Batch normalization over axis 1 with statistics that are known: one pass over memory.

It is a subtraction that multiplies and adds before it writes, so that a sum with another array and
max(x, 0) behind it cost no pass of their own.
"""

from collections.abc import Sequence
from typing import NamedTuple, cast

from gluonish.kernels.onednn.api import AlgorithmKind, Api, Argument
from gluonish.kernels.onednn.binding import bind, channels_last, require, vectors
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import Descriptor
from gluonish.kernels.onednn.plan import Builder, Plan
from gluonish.kernels.onednn.primitive import PrimitiveDescriptor
from gluonish.ops.kernel import Array, Bound
from gluonish.ops.registry import Attrs

__all__ = ["batch_norm_apply"]

_POST_OP = 32768  # roles of the second arrays of post-ops are so far apart


class _Kind(NamedTuple):
    """The attributes."""

    scaled: bool
    relu: bool


class _Chain:
    """One ``dnnl_primitive_attr_t``, owned: arithmetic with other arrays, then max(x, 0)."""

    __slots__ = ("__weakref__", "api", "handle")

    def __init__(
        self, api: Api, steps: Sequence[tuple[AlgorithmKind, Descriptor]], *, relu: bool
    ) -> None:
        self.api = api
        self.handle = api.create_attributes(self)
        chain = api.create_post_ops(self)
        for kind, layout in steps:
            api.call("dnnl_post_ops_append_binary", chain, kind, layout.handle)
        if relu:
            kind = AlgorithmKind.ELTWISE_RELU
            api.call("dnnl_post_ops_append_eltwise", chain, kind, 0.0, 0.0)
        api.call("dnnl_primitive_attr_set_post_ops", self.handle, chain)


def batch_norm_apply(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    """Plan for ``(data - mean) * inverse_std * gamma + beta``, and what comes behind.

    Args:
        outputs: One, (N, C, *spatial), to be filled.
        inputs: data (N, C, *spatial), and gamma, beta, mean, inverse standard deviation (C,); with
            ``add`` an array like data, which is added.
        attrs: Those of the operator.

    Returns:
        The plan, for (*outputs, *inputs) but gamma under ``fix_gamma``.

    Raises:
        RefusedError: The library does not take these arrays.
    """
    require("batch_norm_apply", *outputs, inputs[0], *inputs[5:])
    vectors("batch_norm_apply", *inputs[1:5])
    kind = _Kind(not attrs["fix_gamma"], attrs["relu"])
    used = [i for i in range(len(inputs) + 1) if i != 2 or kind.scaled]
    return bind("batch_norm_apply", _plan, (*outputs, *inputs), kind, used)


def _plan(engine: Engine, arrays: tuple[Array, ...], kind: _Kind) -> Plan:
    builder = Builder(engine)
    out, data = (builder.operand(engine.describe(array)) for array in arrays[:2])
    rank = arrays[0].ndim
    gamma = builder.operand(_channels(engine, arrays[2], rank)) if kind.scaled else None
    beta, mean, inverse = (builder.operand(_channels(engine, array, rank)) for array in arrays[3:6])
    addends = [builder.operand(engine.describe(array)) for array in arrays[6:]]
    # Arrays that lie otherwise than the result are reordered: the library would take them, but step
    # from element to element.
    common = _common(engine, arrays[0])
    factors = [inverse] if gamma is None else [inverse, gamma]
    steps = [
        *((AlgorithmKind.BINARY_MUL, slot, slot.layout) for slot in factors),
        (AlgorithmKind.BINARY_ADD, beta, beta.layout),
        *((AlgorithmKind.BINARY_ADD, slot, common) for slot in addends),
    ]
    chain = _Chain(engine.api, [(how, layout) for how, _, layout in steps], relu=kind.relu)
    descriptor = PrimitiveDescriptor(
        engine.api,
        "dnnl_binary_primitive_desc_create",
        *(engine.handle, AlgorithmKind.BINARY_SUB),
        *(layout.handle for layout in (common, mean.layout, common)),
        chain.handle,
    )
    reads = {Argument.SRC: data, Argument.SRC_1: mean}
    for i, (_, slot, _) in enumerate(steps):
        reads[cast(Argument, Argument.POST_OP_SRC + i * _POST_OP)] = slot
    builder.step(descriptor, reads, {Argument.DST: out})
    return builder.build()


def _common(engine: Engine, out: Array) -> Descriptor:
    """The layout of the result if its channels come last, else in the order of its shape."""
    return engine.describe(out) if channels_last(out) else engine.contiguous(out)


def _channels(engine: Engine, array: Array, rank: int) -> Descriptor:
    """The layout of a vector along axis 1 of an array of some rank."""
    shape = (1, array.size, *(1,) * (rank - 2))
    strides = (array.size, *(1,) * (rank - 1))
    return Descriptor.strided(engine.api, shape, strides, engine.data_type(array))
