"""Quantized layers on int8: convolution, dense, pooling, and quantization of floats.

The library multiplies sums of products by the scales, adds the bias in float32, runs the post-ops
and divides by the output's step before it rounds. Scales are arrays passed to each run, so that a
plan does not depend on them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gluonish.kernels.onednn.api import (
    AlgorithmKind,
    Api,
    Argument,
    DataType,
    PropagationKind,
)
from gluonish.kernels.onednn.binding import bind, channels_last, channels_last_layout
from gluonish.kernels.onednn.convolution import Window, window_of
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.matmul import matrix_view
from gluonish.kernels.onednn.memory import Descriptor, describable, element_strides
from gluonish.kernels.onednn.plan import Builder, Plan, Slot
from gluonish.kernels.onednn.pooling import Pooling, pooling_of
from gluonish.kernels.onednn.primitive import ELTWISE, Eltwise, PrimitiveDescriptor
from gluonish.ops.kernel import Array, Bound, RefusedError

Arrays = Sequence[Array]
Attrs = Mapping[str, Any]

_TYPES = {
    np.dtype(np.float32): DataType.F32,
    np.dtype(np.int32): DataType.S32,
    np.dtype(np.int8): DataType.S8,
    np.dtype(np.uint8): DataType.U8,
}
# Axes of a weight that have scales, as bits: the output channels, with groups the first two axes.
_CHANNELS, _GROUPS, _COLUMNS = 1, 3, 2
_WRONG_AT_64 = "gemm_s8s8s32:jit"  # for signed data
_SCALES = 4096  # DNNL_ARG_ATTR_SCALES; an argument's role plus this is the role of its scales


class _Form(NamedTuple):
    """What a plan depends on besides its arrays; part of the cache key."""

    window: Window | None
    functions: tuple[Eltwise, ...]
    with_sum: bool


def _described(engine: Engine, array: Array) -> Descriptor:
    return Descriptor.strided(engine.api, array.shape, element_strides(array), _TYPES[array.dtype])


def _undecided(engine: Engine, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Descriptor:
    return Descriptor.undecided(engine.api, shape, _TYPES[dtype])


def _check(name: str, arrays: Arrays) -> None:
    if not all(array.dtype in _TYPES and describable(array) for array in arrays):
        raise RefusedError(f"{name}: expected arrays that oneDNN can address, got others")


def _functions(attrs: Attrs) -> tuple[Eltwise, ...]:
    name = attrs["activation"]
    return () if name is None else ELTWISE[name](attrs["alpha"], attrs["beta"])


class _Scaled:
    """An owned ``dnnl_primitive_attr_t``: scales, a sum with another array, and functions.

    Args:
        masks: For each argument with scales, the axes that have scales, as bits.
        addend: Layout of the array to add; None for none.
        functions: Applied in order after the sum.
    """

    __slots__ = ("__weakref__", "api", "handle")

    def __init__(
        self,
        api: Api,
        masks: Mapping[Argument, int],
        addend: Descriptor | None = None,
        functions: Sequence[Eltwise] = (),
    ) -> None:
        self.api = api
        self.handle = api.create_attributes(self)
        for argument, mask in masks.items():
            api.call("dnnl_primitive_attr_set_scales_mask", self.handle, argument, mask)
        chain = api.create_post_ops(self)
        if addend is not None:
            kind = AlgorithmKind.BINARY_ADD
            api.call("dnnl_post_ops_append_binary", chain, kind, addend.handle)
        for kind, alpha, beta in functions:
            api.call("dnnl_post_ops_append_eltwise", chain, kind, alpha, beta)
        api.call("dnnl_primitive_attr_set_post_ops", self.handle, chain)


def int8_convolution(outputs: Arrays, inputs: Arrays, attrs: Attrs) -> Bound:
    """Plan ``_int8_convolution``.

    Args:
        outputs: out (N, O, *spatial).
        inputs: data, weight, scale (O,), bias (O,), out_step (1,), and under ``with_sum`` addend.

    Raises:
        RefusedError: The library does not support the arrays or the attributes.
    """
    layout = attrs["layout"]
    if layout is not None and layout[1] != "C":
        raise RefusedError(f"int8_convolution: expected channels in axis 1, got layout {layout}")
    arrays = (*outputs, *inputs)
    _check("int8_convolution", arrays)
    form = _Form(window_of(attrs), _functions(attrs), attrs["with_sum"])
    return bind("int8_convolution", _plan_convolution, arrays, form)


def int8_dense(outputs: Arrays, inputs: Arrays, attrs: Attrs) -> Bound:
    """Plan ``_int8_dense``.

    Args:
        outputs: out (..., units).
        inputs: data, weight, scale (units,), bias (units,), out_step (1,), and under ``with_sum``
            addend.

    Raises:
        RefusedError: The library does not support the arrays.
    """
    out, data, weight, scale, bias, step, *rest = (*outputs, *inputs)
    units, features = weight.shape
    arrays = [
        matrix_view(out, (-1, units)),
        matrix_view(data, (-1, features)),
        weight.T,
        scale,
        bias.reshape(1, -1),
        step,
        *(matrix_view(array, (-1, units)) for array in rest),
    ]
    _check("int8_dense", arrays)
    form = _Form(None, _functions(attrs), attrs["with_sum"])
    return bind("int8_dense", _plan_dense, arrays, form)


def _is_scaled(out: Array, form: _Form) -> bool:
    """Whether the output's step may differ from 1."""
    return out.dtype != np.float32 or form.with_sum


def _add(engine: Engine, descriptor: PrimitiveDescriptor, arrays: Arrays, form: _Form) -> Plan:
    """Build the plan of a primitive, with one operand for each array."""
    out, data, weight, scale, bias, step, *rest = arrays
    builder = Builder(engine)
    target = builder.operand(_described(engine, out))
    reads: dict[Argument, Slot] = {Argument.SRC: builder.operand(_described(engine, data))}
    groups = 1 if form.window is None else form.window.num_group
    reads[Argument.WEIGHTS] = builder.operand(_weight(engine, weight, groups, undecided=False))
    scales = {_SCALES | Argument.WEIGHTS: builder.operand(_described(engine, scale))}
    reads[Argument.BIAS] = builder.operand(_described(engine, bias))
    last = builder.operand(_described(engine, step))
    if _is_scaled(out, form):
        scales[_SCALES | Argument.DST] = last
    if rest:
        reads[Argument.POST_OP_SRC] = builder.operand(_described(engine, rest[0]))
    builder.step(descriptor, reads, {Argument.DST: target}, scales)
    return builder.build()


def _weight(engine: Engine, weight: Array, groups: int, *, undecided: bool) -> Descriptor:
    if groups > 1:
        rows, *rest = weight.shape
        weight = weight.reshape(groups, rows // groups, *rest)
    if undecided:
        return _undecided(engine, weight.shape, weight.dtype)
    return _described(engine, weight)


def _plan_convolution(engine: Engine, arrays: tuple[Array, ...], form: _Form) -> Plan:
    out, data, weight, _scale, bias, _step, *rest = arrays
    window = form.window
    assert window is not None
    masks = {Argument.WEIGHTS: _GROUPS if window.num_group > 1 else _CHANNELS}
    if _is_scaled(out, form):
        masks[Argument.DST] = 0

    def describe(as_is: bool) -> PrimitiveDescriptor:
        def layout(array: Array) -> Descriptor:
            if as_is and channels_last(array):
                return _described(engine, array)
            return _undecided(engine, array.shape, array.dtype)

        # These live until the primitive is created, which copies them.
        source, target, vector = layout(data), layout(out), _described(engine, bias)
        weights = _weight(engine, weight, window.num_group, undecided=True)
        added = layout(rest[0]) if rest else None
        attributes = _Scaled(engine.api, masks, added, form.functions)
        return PrimitiveDescriptor(
            engine.api,
            "dnnl_convolution_forward_primitive_desc_create",
            *(engine.handle, PropagationKind.FORWARD_INFERENCE, AlgorithmKind.CONVOLUTION_DIRECT),
            *(source.handle, weights.handle, vector.handle, target.handle),
            *window.arguments(),
            attributes.handle,
        )

    found = _fast(describe)
    if weight.size == 64 and found.implementation.endswith(_WRONG_AT_64):
        # It appends sums to the weights, which the library's reorder of 64 numbers omits (3.x): 8
        # groups with windows of 2 x 2 x 2 gave wrong results.
        raise RefusedError(
            "int8_convolution: expected an implementation without a known fault, got "
            f"{found.implementation}"
        )
    return _add(engine, found, arrays, form)


def _fast(describe: Callable[[bool], PrimitiveDescriptor]) -> PrimitiveDescriptor:
    """Return a primitive on the arrays' layouts or, if that is slow, on layouts that it chooses.

    Raises:
        RefusedError: The library has only a reference implementation.
    """
    for as_is in (True, False):
        try:
            found = describe(as_is)
        except RefusedError:
            continue
        if not found.implementation.startswith("ref"):
            return found
    raise RefusedError("oneDNN: expected an optimized implementation on int8, got none")


def _plan_dense(engine: Engine, arrays: tuple[Array, ...], form: _Form) -> Plan:
    out, data, weight, _scale, bias, _step, *rest = arrays
    masks = {Argument.WEIGHTS: _COLUMNS}
    if _is_scaled(out, form):
        masks[Argument.DST] = 0
    # These live until the primitive is created, which copies them.
    source, target, vector = (_described(engine, array) for array in (data, out, bias))
    weights = _undecided(engine, weight.shape, weight.dtype)
    added = _described(engine, rest[0]) if rest else None
    attributes = _Scaled(engine.api, masks, added, form.functions)
    descriptor = PrimitiveDescriptor(
        engine.api,
        "dnnl_matmul_primitive_desc_create",
        *(engine.handle, source.handle, weights.handle, vector.handle, target.handle),
        attributes.handle,
    )
    if descriptor.implementation.startswith("ref"):
        raise RefusedError("oneDNN: expected an optimized product on int8, got none")
    return _add(engine, descriptor, arrays, form)


def int8_quantize(outputs: Arrays, inputs: Arrays, attrs: Attrs) -> Bound:
    """Plan ``_int8_quantize``.

    Args:
        outputs: out.
        inputs: data, scale (1,).

    Raises:
        RefusedError: The library does not support the arrays.
    """
    arrays = (*outputs, *inputs)
    _check("int8_quantize", arrays)
    return bind("int8_quantize", _plan_quantize, arrays)


def _plan_quantize(engine: Engine, arrays: tuple[Array, ...], _form: object) -> Plan:
    out, data, scale = (_described(engine, array) for array in arrays)
    attributes = _Scaled(engine.api, {Argument.SRC: 0})
    builder = Builder(engine)
    target, source = builder.operand(out), builder.operand(data)
    factor = builder.operand(scale)
    descriptor = PrimitiveDescriptor(
        engine.api,
        "dnnl_reorder_primitive_desc_create",
        *(data.handle, engine.handle, out.handle, engine.handle, attributes.handle),
    )
    scales = {_SCALES | Argument.SRC: factor}
    builder.step(descriptor, {Argument.SRC: source}, {Argument.DST: target}, scales)
    return builder.build()


def int8_pooling(outputs: Arrays, inputs: Arrays, attrs: Attrs) -> Bound:
    """Plan ``_int8_pooling``.

    Args:
        outputs: out (N, C, *pooled).
        inputs: data (N, C, *spatial).
        attrs: The attributes of Pooling.

    Raises:
        RefusedError: The library's result would differ from MXNet's, or it does not support the
            arrays.
    """
    layout = attrs["layout"]
    if layout is not None and layout[1] != "C":
        raise RefusedError(f"int8_pooling: expected channels in axis 1, got layout {layout}")
    arrays = (*outputs, *inputs)
    _check("int8_pooling", arrays)
    return bind("int8_pooling", _plan_pooling, arrays, pooling_of(arrays[0], arrays[1], attrs))


def _plan_pooling(engine: Engine, arrays: tuple[Array, ...], window: Pooling) -> Plan:
    out, data = arrays

    def layout(array: Array, as_is: bool) -> Descriptor:
        # Axes of length 1 have arbitrary strides; the library requires those of channels last.
        if not as_is or channels_last(array):
            return channels_last_layout(engine, array, _TYPES[array.dtype])
        return _described(engine, array)

    def describe(as_is: bool) -> PrimitiveDescriptor:
        source, target = layout(data, as_is), layout(out, as_is)
        return PrimitiveDescriptor(
            engine.api,
            "dnnl_pooling_forward_primitive_desc_create",
            *(engine.handle, PropagationKind.FORWARD_INFERENCE, window.algorithm),
            *(source.handle, target.handle),
            *window.arguments(),
            engine.attributes,
        )

    builder = Builder(engine)
    target = builder.operand(layout(out, as_is=True))
    source = builder.operand(layout(data, as_is=True))
    builder.step(_fast(describe), {Argument.SRC: source}, {Argument.DST: target})
    return builder.build()
