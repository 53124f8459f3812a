"""Quantized layers on int8: convolution, dense, pooling, and quantization of floats.

The library multiplies sums of products by the scales, adds the bias in float32, runs the post-ops
and divides by the output's step before it rounds. Scales are arrays passed to each run, so that a
plan does not depend on them.

On processors without VNNI its sums of 8-bit products saturate, so layers are computed in float32
there: data and weights are converted, which is exact, sums are exact below 2**24, and scales, bias
and step become post-ops.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.kernels.onednn.api import (
    AlgorithmKind,
    Argument,
    DataType,
    PropagationKind,
    post_op_source,
)
from gluonish.kernels.onednn.binding import bind, channels_last, channels_last_layout
from gluonish.kernels.onednn.convolution import Window, window_of
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.matmul import matrix_view
from gluonish.kernels.onednn.memory import (
    Descriptor,
    contiguous_strides,
    describable,
    element_strides,
)
from gluonish.kernels.onednn.plan import Builder, Plan, Slot
from gluonish.kernels.onednn.pooling import Pooling, pooling_of
from gluonish.kernels.onednn.primitive import ELTWISE, Chain, Eltwise, PrimitiveDescriptor
from gluonish.ops.kernel import Array, Bound, RefusedError

Arrays = Sequence[Array]
Attrs = Mapping[str, Any]

_TYPES = {
    FLOAT32: DataType.F32,
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


def _described(engine: Engine, array: Array, dtype: np.dtype[Any] | None = None) -> Descriptor:
    kind = _TYPES[array.dtype if dtype is None else dtype]
    return Descriptor.strided(engine.api, array.shape, element_strides(array), kind)


def _undecided(engine: Engine, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Descriptor:
    return Descriptor.undecided(engine.api, shape, _TYPES[dtype])


def _check(name: str, arrays: Arrays) -> None:
    if not all(array.dtype in _TYPES and describable(array) for array in arrays):
        raise RefusedError(f"{name}: expected arrays that oneDNN can address, got others")


def _functions(attrs: Attrs) -> tuple[Eltwise, ...]:
    name = attrs["activation"]
    return () if name is None else ELTWISE[name](attrs["alpha"], attrs["beta"])


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
    return out.dtype != FLOAT32 or form.with_sum


_Operations = list[Eltwise | tuple[AlgorithmKind, Descriptor]]


class _Layer:
    """A layer's attributes and plan, on 8 bits or, without VNNI, in float32.

    Args:
        arrays: out, data, weight, scale, bias, out_step, and under ``with_sum`` addend.
        channels: Axes of the weight that have scales, as bits.
    """

    def __init__(
        self, engine: Engine, arrays: tuple[Array, ...], form: _Form, channels: int
    ) -> None:
        self._engine = engine
        self._arrays = arrays
        self._form = form
        self._channels = channels
        self.exact = engine.api.exact_int8

    def type_of(self, array: Array) -> np.dtype[Any]:
        """The dtype in which the primitive takes or makes ``array``."""
        return array.dtype if self.exact else FLOAT32

    def bias(self) -> Descriptor | None:
        """The layout of the primitive's bias; None if it is a post-op."""
        return _described(self._engine, self._arrays[4]) if self.exact else None

    def attributes(self, addend: Descriptor | None) -> Chain:
        """Return the attributes of the primitive, which adds an array of this layout."""
        out = self._arrays[0]
        added: _Operations = [] if addend is None else [(AlgorithmKind.BINARY_ADD, addend)]
        operations: _Operations = [*added, *self._form.functions]
        if self.exact:
            scales = {Argument.WEIGHTS: self._channels}
            if _is_scaled(out, self._form):
                scales[Argument.DST] = 0
            return Chain(self._engine.api, operations, scales)
        scale, bias, step = (self._vector(i) for i in (3, 4, 5))
        before = [(AlgorithmKind.BINARY_MUL, scale), (AlgorithmKind.BINARY_ADD, bias)]
        after = [(AlgorithmKind.BINARY_DIV, step)] if _is_scaled(out, self._form) else []
        return Chain(self._engine.api, [*before, *operations, *after])

    def _vector(self, index: int) -> Descriptor:
        """Return the layout of a vector along axis 1 of the output."""
        size = self._arrays[index].size
        shape = (1, size, *(1,) * (self._arrays[0].ndim - 2))
        return Descriptor.strided(self._engine.api, shape, contiguous_strides(shape), DataType.F32)

    def plan(self, descriptor: PrimitiveDescriptor) -> Plan:
        """Return the plan of the primitive, with one operand for each array."""
        engine, form = self._engine, self._form
        out, data, weight, scale, bias, step, *rest = self._arrays
        builder = Builder(engine)
        groups = 1 if form.window is None else form.window.num_group
        target = builder.operand(_described(engine, out))
        reads: dict[Argument, Slot] = {Argument.SRC: builder.operand(_described(engine, data))}
        reads[Argument.WEIGHTS] = builder.operand(_described(engine, _grouped(weight, groups)))
        factor, shift, last = (
            builder.operand(_described(engine, array) if self.exact else self._vector(index))
            for index, array in enumerate((scale, bias, step), start=3)
        )
        addend = [builder.operand(_described(engine, array)) for array in rest]
        scales: dict[int, Slot] = {}
        if self.exact:
            scales[_SCALES | Argument.WEIGHTS] = factor
            reads[Argument.BIAS] = shift
            if _is_scaled(out, form):
                scales[_SCALES | Argument.DST] = last
            sources = dict(enumerate(addend))
        else:
            sources = dict(enumerate((factor, shift, *addend)))
            if _is_scaled(out, form):
                sources[len(sources) + len(form.functions)] = last
        reads |= {post_op_source(index): slot for index, slot in sources.items()}
        builder.step(descriptor, reads, {Argument.DST: target}, scales)
        return builder.build()


def _grouped(weight: Array, groups: int) -> Array:
    """Give a weight of several groups an axis of groups in front."""
    if groups == 1:
        return weight
    rows, *rest = weight.shape
    return weight.reshape(groups, rows // groups, *rest)


def _plan_convolution(engine: Engine, arrays: tuple[Array, ...], form: _Form) -> Plan:
    out, data, weight, _scale, _bias, _step, *rest = arrays
    window = form.window
    assert window is not None
    layer = _Layer(engine, arrays, form, _GROUPS if window.num_group > 1 else _CHANNELS)

    def describe(as_is: bool) -> PrimitiveDescriptor:
        def layout(array: Array) -> Descriptor:
            if as_is and channels_last(array):
                return _described(engine, array, layer.type_of(array))
            return _undecided(engine, array.shape, layer.type_of(array))

        # These live until the primitive is created, which copies them.
        source, target, vector = layout(data), layout(out), layer.bias()
        grouped = _grouped(weight, window.num_group)
        weights = _undecided(engine, grouped.shape, layer.type_of(weight))
        added = layout(rest[0]) if rest else None
        attributes = layer.attributes(added)
        return PrimitiveDescriptor(
            engine.api,
            "dnnl_convolution_forward_primitive_desc_create",
            *(engine.handle, PropagationKind.FORWARD_INFERENCE, AlgorithmKind.CONVOLUTION_DIRECT),
            *(source.handle, weights.handle, vector and vector.handle, target.handle),
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
    return layer.plan(found)


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
    out, data, weight, _scale, _bias, _step, *rest = arrays
    layer = _Layer(engine, arrays, form, _COLUMNS)
    # These live until the primitive is created, which copies them.
    source, target = (_described(engine, array, layer.type_of(array)) for array in (data, out))
    weights = _undecided(engine, weight.shape, layer.type_of(weight))
    added = _described(engine, rest[0]) if rest else None
    vector, attributes = layer.bias(), layer.attributes(added)
    descriptor = PrimitiveDescriptor(
        engine.api,
        "dnnl_matmul_primitive_desc_create",
        *(engine.handle, source.handle, weights.handle, vector and vector.handle, target.handle),
        attributes.handle,
    )
    if descriptor.implementation.startswith("ref"):
        raise RefusedError("oneDNN: expected an optimized product on int8, got none")
    return layer.plan(descriptor)


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
    attributes = Chain(engine.api, (), {Argument.SRC: 0})
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

    def layout(array: Array, as_is: bool, dtype: np.dtype[Any]) -> Descriptor:
        # Axes of length 1 have arbitrary strides; the library requires those of channels last.
        if not as_is or channels_last(array):
            return channels_last_layout(engine, array, _TYPES[dtype])
        return _described(engine, array, dtype)

    def describe(as_is: bool, dtype: np.dtype[Any]) -> PrimitiveDescriptor:
        source, target = layout(data, as_is, dtype), layout(out, as_is, dtype)
        return PrimitiveDescriptor(
            engine.api,
            "dnnl_pooling_forward_primitive_desc_create",
            *(engine.handle, PropagationKind.FORWARD_INFERENCE, window.algorithm),
            *(source.handle, target.handle),
            *window.arguments(),
            engine.attributes,
        )

    try:
        found = _fast(lambda as_is: describe(as_is, data.dtype))
    except RefusedError:  # AVX2 has no large averages of bytes
        found = _fast(lambda as_is: describe(as_is, FLOAT32))
    builder = Builder(engine)
    target, source = (builder.operand(layout(array, True, array.dtype)) for array in arrays)
    builder.step(found, {Argument.SRC: source}, {Argument.DST: target})
    return builder.build()
