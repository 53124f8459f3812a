"""Convolution in 1 to 3 dimensions: forward, and the gradients of data, weight and bias.

Arrays are (N, C, *spatial); the weight is (O, C / num_group, *kernel). The weight is always
reordered to the layout that the library prefers. Channels-last data are used as they are, since no
blocked layout is faster; other data are reordered.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.dtype import BFLOAT16
from gluonish.kernels.onednn.api import AlgorithmKind, Argument, PropagationKind, dims
from gluonish.kernels.onednn.binding import add_with_post_ops, bind, post_ops_of, require
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import Descriptor, element_strides
from gluonish.kernels.onednn.plan import Builder, Plan
from gluonish.kernels.onednn.primitive import Attributes, PostOps, PrimitiveDescriptor
from gluonish.ops.kernel import Array, Bound, RefusedError

Ints = tuple[int, ...]
Arrays = Sequence[Array]
Attrs = Mapping[str, Any]


class Window(NamedTuple):
    """The window's attributes in the library's convention, in which no dilation is 0."""

    kernel: Ints
    stride: Ints
    dilate: Ints
    pad: Ints
    num_group: int

    def arguments(self) -> tuple[Any, ...]:
        """Return strides, dilations, and padding before and after, as the library's arguments."""
        pad = dims(self.pad)
        return (dims(self.stride), dims(self.dilate), pad, pad)


class _Form(NamedTuple):
    """What a forward plan depends on besides its arrays; part of the cache key."""

    window: Window
    with_bias: bool
    post_ops: PostOps


def convolution(outputs: Arrays, inputs: Arrays, attrs: Attrs) -> Bound:
    """Plan a convolution, with ``_fused_convolution``'s sum and activation.

    Args:
        outputs: out (N, O, *spatial).
        inputs: data (N, C, *spatial), weight (O, C / num_group, *kernel); bias (O,) unless
            ``no_bias``; addend, of the shape of out and possibly its memory, under ``with_sum``.
        attrs: The attributes of Convolution, or of ``_fused_convolution``.

    Raises:
        RefusedError: The library does not support the arrays or the attributes.
    """
    window = window_of(attrs)
    with_bias = not attrs["no_bias"]
    post_ops, operands = post_ops_of(outputs[0], inputs, attrs)
    every = (*outputs, *inputs)
    arrays = _channels_first([every[i] for i in operands], (0, 1, 2, 4 - (not with_bias)), attrs)
    _check("convolution", arrays, attrs)
    found = bind("convolution", _plan_forward, arrays, _Form(window, with_bias, post_ops))
    return Bound(found.plan, operands)


def convolution_backward_data(outputs: Arrays, inputs: Arrays, attrs: Attrs) -> Bound:
    """Plan the gradient of the data.

    Args:
        outputs: out (N, C, *spatial).
        inputs: grad (N, O, *spatial), weight.
        attrs: The attributes of Convolution.

    Raises:
        RefusedError: The library does not support the arrays or the attributes.
    """
    arrays = _channels_first([*outputs, *inputs], (0, 1, 2), attrs)
    _check("convolution_backward_data", arrays, attrs)
    return bind("convolution_backward_data", _plan_backward_data, arrays, window_of(attrs))


def convolution_backward_weight(outputs: Arrays, inputs: Arrays, attrs: Attrs) -> Bound:
    """Plan the gradient of the weight and, with a second output, of the bias.

    Args:
        outputs: out, of the shape of the weight; bias_out (O,) if the bias gradient is requested.
        inputs: grad (N, O, *spatial), data.
        attrs: The attributes of Convolution.

    Raises:
        RefusedError: The library does not support the arrays or the attributes.
    """
    count = len(outputs)
    arrays = _channels_first([*outputs, *inputs], (0, count, count + 1), attrs)
    _check("convolution_backward_weight", arrays, attrs)
    window = window_of(attrs)
    _refuse_small_bfloat16(arrays[-1], window)
    return bind("convolution_backward_weight", _plan_backward_weight, arrays, window)


def _refuse_small_bfloat16(data: Array, window: Window) -> None:
    """Reject shapes for which oneDNN 3.2 may read uninitialized memory.

    Raises:
        RefusedError: The data are bfloat16, and shorter than the window or a stride along an axis.
    """
    spans = [1 + (k - 1) * (d + 1) for k, d in zip(window.kernel, window.dilate, strict=True)]
    extents = zip(data.shape[2:], spans, window.stride, strict=True)
    if data.dtype == BFLOAT16 and any(n < max(span, step) for n, span, step in extents):
        raise RefusedError(
            f"convolution_backward_weight: expected bfloat16 data of {tuple(spans)} or more, and "
            f"of a stride of {window.stride}, got {data.shape[2:]}"
        )


def window_of(attrs: Attrs) -> Window:
    """Return the window that the attributes of Convolution describe."""
    kernel = attrs["kernel"]
    ones = (1,) * len(kernel)
    dense = tuple(distance - 1 for distance in attrs["dilate"] or ones)
    pad = attrs["pad"] or (0,) * len(kernel)
    return Window(kernel, attrs["stride"] or ones, dense, pad, attrs["num_group"])


def _channels_first(arrays: Sequence[Array], indices: Sequence[int], attrs: Attrs) -> list[Array]:
    """Return the arrays, with those at ``indices`` as views that have channels in axis 1."""
    layout = attrs["layout"]
    if layout is None or layout[-1] != "C":
        return list(arrays)
    return [np.moveaxis(x, -1, 1) if i in indices else x for i, x in enumerate(arrays)]


def _check(name: str, arrays: Sequence[Array], attrs: Attrs) -> None:
    require(name, *arrays)
    if min(attrs["pad"], default=0) < 0:
        raise RefusedError(f"{name}: expected no negative padding, got {attrs['pad']}")


def _weight(engine: Engine, weight: Array, num_group: int, *, undecided: bool) -> Descriptor:
    """Return the weight's layout, with groups as a leading axis, as the library requires."""
    shape, strides = weight.shape, element_strides(weight)
    if num_group > 1:
        per_group = shape[0] // num_group
        strides = (per_group * strides[0], *strides)
        shape = (num_group, per_group, *shape[1:])
    data_type = engine.data_type(weight)
    if undecided:
        return Descriptor.undecided(engine.api, shape, data_type)
    return Descriptor.strided(engine.api, shape, strides, data_type)


class _Layouts(NamedTuple):
    """Candidate layouts of the data and the output, or of their gradients.

    ``keeps_out``: whether ``out`` is the actual layout of the output array.
    """

    data: Descriptor
    out: Descriptor
    keeps_out: bool


def _choices(
    engine: Engine, data: Array, out: Array, *, pointwise: bool, depthwise: bool
) -> list[_Layouts]:
    """Return layouts to try, best first: the arrays' actual layouts if fast, then undecided."""
    if depthwise and _is_channels_last(data) != _is_channels_last(out):
        # The library's depthwise kernels take one layout. For two it has another kernel, that pads
        # each group to 16 channels: 7 times the time.
        source, target = _channels_last(engine, data), _channels_last(engine, out)
        return [
            _Layouts(source, target, _is_channels_last(out)),
            _Layouts(engine.undecided(data), engine.undecided(out), False),
        ]
    # A 1x1 convolution with channels first is a matrix product: no reorder pays.
    contiguous = pointwise and data.flags.c_contiguous and out.flags.c_contiguous
    undecided = _Layouts(engine.undecided(data), engine.undecided(out), False)
    odd = data.shape[1] % 2 or out.shape[1] % 2
    if pointwise and not contiguous and odd and data.dtype != np.float32:
        # oneDNN 3.2 computes wrong sums over an odd number of channels-last bfloat16 channels, for
        # some extents.
        return [undecided]
    keeps_out = contiguous or _is_channels_last(out)
    keeps_data = contiguous or _is_channels_last(data)
    return [
        _Layouts(
            engine.describe(data) if keeps_data else engine.undecided(data),
            engine.describe(out) if keeps_out else engine.undecided(out),
            keeps_out,
        ),
        undecided,
    ]


def _channels_last(engine: Engine, array: Array) -> Descriptor:
    """Return the channels-last layout of an array's shape and dtype."""
    layout = np.moveaxis(np.empty_like(np.moveaxis(array, 1, -1), order="C"), -1, 1)
    return engine.describe(layout)


def _is_depthwise(data: Array, weight: Array, window: Window) -> bool:
    return bool(1 < window.num_group == data.shape[1] == weight.shape[0])


def _is_channels_last(array: Array) -> bool:
    """Whether an array is channels last and not also C-contiguous."""
    return not array.flags.c_contiguous and np.moveaxis(array, 1, -1).flags.c_contiguous


def _first_fast(
    choices: Sequence[_Layouts], describe: Callable[[_Layouts], PrimitiveDescriptor]
) -> PrimitiveDescriptor:
    """Return the first primitive that is not a slow reference implementation, else the last one.

    Raises:
        RefusedError: The library has no implementation.
    """
    for layouts in choices[:-1]:
        try:
            found = describe(layouts)
        except RefusedError:
            continue
        if not found.implementation.startswith("ref"):
            return found
    return describe(choices[-1])


def _forward(
    engine: Engine,
    layouts: _Layouts,
    weight: Array,
    bias: Array | None,
    window: Window,
    attributes: int,
) -> PrimitiveDescriptor:
    weights = _weight(engine, weight, window.num_group, undecided=True)
    vector = None if bias is None else engine.describe(bias)
    return PrimitiveDescriptor(
        engine.api,
        "dnnl_convolution_forward_primitive_desc_create",
        *(engine.handle, PropagationKind.FORWARD_TRAINING, AlgorithmKind.CONVOLUTION_DIRECT),
        *(layouts.data.handle, weights.handle, vector and vector.handle, layouts.out.handle),
        *window.arguments(),
        attributes,
    )


def _plan_forward(engine: Engine, arrays: tuple[Array, ...], form: _Form) -> Plan:
    out, data, weight, *rest = arrays
    window = form.window
    bias = rest[0] if form.with_bias else None
    addend = rest[-1] if form.post_ops.addend == "separate" else None
    pointwise = set(window.kernel) == {1} and not any(window.pad)

    def describe(layouts: _Layouts) -> PrimitiveDescriptor:
        added = None
        if addend is not None:
            # Undecided means the layout of out; with two layouts some implementations are wrong.
            as_is = layouts.keeps_out and addend.strides == out.strides
            added = engine.describe(addend) if as_is else engine.undecided(addend)
        attributes = Attributes(engine.api, form.post_ops, added)
        return _forward(engine, layouts, weight, bias, window, attributes.handle)

    descriptor = _first_fast(
        _choices(
            *(engine, data, out),
            pointwise=pointwise,
            depthwise=_is_depthwise(data, weight, window),
        ),
        describe,
    )
    builder = Builder(engine)
    target = builder.operand(engine.describe(out))
    reads = {
        Argument.SRC: builder.operand(engine.describe(data)),
        Argument.WEIGHTS: builder.operand(
            _weight(engine, weight, window.num_group, undecided=False)
        ),
    }
    if bias is not None:
        reads[Argument.BIAS] = builder.operand(engine.describe(bias))
    if addend is not None:
        reads[Argument.POST_OP_SRC] = builder.operand(engine.describe(addend))
    add_with_post_ops(builder, descriptor, reads, target, form.post_ops)
    return builder.build()


def _plan_backward_data(engine: Engine, arrays: tuple[Array, ...], window: Window) -> Plan:
    out, grad, weight = arrays
    pointwise = set(window.kernel) == {1} and not any(window.pad)

    def describe(layouts: _Layouts) -> PrimitiveDescriptor:
        hint = _forward(engine, layouts, weight, None, window, engine.attributes)
        weights = _weight(engine, weight, window.num_group, undecided=True)
        return PrimitiveDescriptor(
            engine.api,
            "dnnl_convolution_backward_data_primitive_desc_create",
            *(engine.handle, AlgorithmKind.CONVOLUTION_DIRECT),
            *(layouts.data.handle, weights.handle, layouts.out.handle),
            *window.arguments(),
            *(hint.handle, engine.attributes),
        )

    descriptor = _first_fast(
        _choices(
            *(engine, out, grad),
            pointwise=pointwise,
            depthwise=_is_depthwise(out, weight, window),
        ),
        describe,
    )
    builder = Builder(engine)
    target = builder.operand(engine.describe(out))
    reads = {
        Argument.DIFF_DST: builder.operand(engine.describe(grad)),
        Argument.WEIGHTS: builder.operand(
            _weight(engine, weight, window.num_group, undecided=False)
        ),
    }
    builder.step(descriptor, reads, {Argument.DIFF_SRC: target})
    return builder.build()


def _plan_backward_weight(engine: Engine, arrays: tuple[Array, ...], window: Window) -> Plan:
    out, *rest, grad, data = arrays
    bias_out = rest[0] if rest else None

    def describe(layouts: _Layouts) -> PrimitiveDescriptor:
        hint = _forward(engine, layouts, out, bias_out, window, engine.attributes)
        weights = _weight(engine, out, window.num_group, undecided=True)
        vector = None if bias_out is None else engine.describe(bias_out)
        return PrimitiveDescriptor(
            engine.api,
            "dnnl_convolution_backward_weights_primitive_desc_create",
            *(engine.handle, AlgorithmKind.CONVOLUTION_DIRECT),
            *(layouts.data.handle, weights.handle, vector and vector.handle, layouts.out.handle),
            *window.arguments(),
            *(hint.handle, engine.attributes),
        )

    descriptor = _first_fast(
        _choices(
            *(engine, data, grad), pointwise=False, depthwise=_is_depthwise(data, out, window)
        ),
        describe,
    )
    builder = Builder(engine)
    writes = {
        Argument.DIFF_WEIGHTS: builder.operand(
            _weight(engine, out, window.num_group, undecided=False)
        )
    }
    if bias_out is not None:
        writes[Argument.DIFF_BIAS] = builder.operand(engine.describe(bias_out))
    reads = {
        Argument.DIFF_DST: builder.operand(engine.describe(grad)),
        Argument.SRC: builder.operand(engine.describe(data)),
    }
    builder.step(descriptor, reads, writes)
    return builder.build()
