"""Max and average pooling in 1 to 3 dimensions, forward and backward.

The backward pass of max pooling needs the index of each window's maximum. Its plan runs the forward
pass again into scratch memory, which costs less than saving the indices in another output.

The reference kernel computes what the library cannot: sums and other norms; windows without data;
and with the convention "full", averages that count padding in windows that extend beyond the
padding, where MXNet divides by the number of elements inside.

Also nearest-neighbour scaling by integer factors, forward and backward.

The library's bilinear scaling has no operator: MXNet's UpSampling with sample_type='bilinear' is a
deconvolution, with other results at the borders.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gluonish.kernels.onednn.api import AlgorithmKind, Argument, PropagationKind, dims
from gluonish.kernels.onednn.binding import bind, require, require_fast
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.plan import Builder, Plan, Slot
from gluonish.kernels.onednn.primitive import PrimitiveDescriptor
from gluonish.ops.kernel import Array, Bound, RefusedError
from gluonish.ops.nn.pooling import pooling_steps
from gluonish.ops.registry import Attrs
from gluonish.ops.support.windows import channels_first

Ints = tuple[int, ...]

_ALGORITHMS = {
    ("max", False): AlgorithmKind.POOLING_MAX,
    ("max", True): AlgorithmKind.POOLING_MAX,
    ("avg", False): AlgorithmKind.POOLING_AVG_EXCLUDE_PADDING,
    ("avg", True): AlgorithmKind.POOLING_AVG_INCLUDE_PADDING,
}


class Pooling(NamedTuple):
    """The windows of a pooling primitive; ``pad_after`` makes the last window fit."""

    algorithm: AlgorithmKind
    kernel: Ints
    stride: Ints
    pad: Ints
    pad_after: Ints

    def arguments(self) -> tuple[Any, ...]:
        """Return strides, kernel, dilations, and padding before and after, as arguments."""
        dense = (0,) * len(self.kernel)
        return tuple(map(dims, (self.stride, self.kernel, dense, self.pad, self.pad_after)))


def pooling(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    """Plan the forward pass.

    Args:
        outputs: out (N, C, *pooled); its shape determines the number of windows.
        inputs: data (N, C, *spatial), of 1 to 3 spatial axes. In layouts that end in C, the
            channels of both come last.

    Raises:
        RefusedError: The result would differ from MXNet's, or the arrays are not supported.
    """
    out, data = _views((*outputs, *inputs), attrs)
    _require("pooling", out, data, attrs)
    return bind("pooling", _plan_forward, (out, data), _attributes(data, attrs))


def pooling_of(pooled: Array, data: Array, attrs: Attrs) -> Pooling:
    """Return the windows of arrays with channels in axis 1.

    Raises:
        RefusedError: The library's result would differ from MXNet's.
    """
    _require_covered("pooling", pooled, data, attrs)
    return _window(pooled, data, _attributes(data, attrs))


def pooling_backward(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    """Plan the gradient of the data, from the gradient of the output and the data.

    With "max", the first of equal elements in a window gets the gradient.

    Raises:
        RefusedError: As for `pooling`.
    """
    out, grad, data = _views((*outputs, *inputs[:2]), attrs)
    _require("pooling_backward", grad, data, attrs)
    _require("pooling_backward", grad, out, attrs)
    used = range(3 if attrs["pool_type"] == "max" else 2)
    arrays = (out, grad, data)
    return bind("pooling_backward", _plan_backward, arrays, _attributes(data, attrs), used)


def _views(arrays: Sequence[Array], attrs: Attrs) -> list[Array]:
    """Return views of the arrays with channels in axis 1."""
    return [channels_first(np, array, attrs["layout"]) for array in arrays]


def _attributes(data: Array, attrs: Attrs) -> tuple[Any, ...]:
    stride, _, pad = pooling_steps(data.ndim - 2, attrs["stride"], attrs["pad"])
    names = ("pool_type", "count_include_pad", "global_pool")
    return (attrs["kernel"], stride, pad, *(attrs[name] for name in names))


def _require(name: str, pooled: Array, data: Array, attrs: Attrs) -> None:
    require(name, pooled, data)
    _require_covered(name, pooled, data, attrs)


def _require_covered(name: str, pooled: Array, data: Array, attrs: Attrs) -> None:
    if not attrs["global_pool"] and not _covered(pooled, data, attrs):
        raise RefusedError(
            f"{name}: expected windows that oneDNN counts as MXNet does, got kernel "
            f"{attrs['kernel']}, stride {attrs['stride']} and pad {attrs['pad']} on {data.shape}"
        )


def _covered(pooled: Array, data: Array, attrs: Attrs) -> bool:
    """Whether the library's result equals MXNet's for each window."""
    stride, _, pad = pooling_steps(data.ndim - 2, attrs["stride"], attrs["pad"])
    partial = attrs["pool_type"] == "max" or attrs["count_include_pad"] is False
    lengths = zip(*(pooled.shape[2:], data.shape[2:], attrs["kernel"], stride, pad), strict=True)
    return all(_windows_fit(*length, partial=partial) for length in lengths)


def _windows_fit(
    pooled: int, length: int, kernel: int, stride: int, pad: int, *, partial: bool
) -> bool:
    """Whether each window contains data along one axis.

    Without ``partial``, no window may end beyond the padding either.
    """
    last = (pooled - 1) * stride - pad
    if not 0 <= pad < kernel or last >= length:
        return False
    return partial or last + kernel <= length + pad


def _window(pooled: Array, data: Array, attributes: tuple[Any, ...]) -> Pooling:
    kernel, stride, pad, pool_type, count_include_pad, global_pool = attributes
    algorithm = _ALGORITHMS[pool_type, count_include_pad is not False]
    spatial = data.shape[2:]
    zeros, ones = (0,) * len(spatial), (1,) * len(spatial)
    if global_pool:
        return Pooling(algorithm, spatial, ones, zeros, zeros)
    sizes = zip(pooled.shape[2:], spatial, kernel, stride, pad, strict=True)
    after = tuple(
        max(before, (count - 1) * step + width - length - before)
        for count, length, width, step, before in sizes
    )
    return Pooling(algorithm, kernel, stride, pad, after)


def _forward(
    engine: Engine, training: bool, pooled: Array, data: Array, window: Pooling
) -> PrimitiveDescriptor:
    source, target = engine.common_layouts(data, pooled)
    propagation = (
        PropagationKind.FORWARD_TRAINING if training else PropagationKind.FORWARD_INFERENCE
    )
    return PrimitiveDescriptor(
        engine.api,
        "dnnl_pooling_forward_primitive_desc_create",
        *(engine.handle, propagation, window.algorithm),
        *(source.handle, target.handle, *window.arguments(), engine.attributes),
    )


def _plan_forward(engine: Engine, arrays: tuple[Array, ...], attributes: tuple[Any, ...]) -> Plan:
    out, data = arrays
    window = _window(out, data, attributes)
    builder = Builder(engine)
    target, source = (builder.operand(engine.describe(array)) for array in arrays)
    descriptor = _forward(engine, False, out, data, window)
    builder.step(descriptor, {Argument.SRC: source}, {Argument.DST: target})
    return builder.build()


def _plan_backward(engine: Engine, arrays: tuple[Array, ...], attributes: tuple[Any, ...]) -> Plan:
    out, grad, data = arrays
    window = _window(grad, out, attributes)
    forward = _forward(engine, True, grad, data, window)
    target, source = engine.common_layouts(out, grad)
    backward = PrimitiveDescriptor(
        engine.api,
        "dnnl_pooling_backward_primitive_desc_create",
        *(engine.handle, window.algorithm, target.handle, source.handle),
        *(*window.arguments(), forward.handle, engine.attributes),
    )
    builder = Builder(engine)
    writes = {Argument.DIFF_SRC: builder.operand(engine.describe(out))}
    reads = {Argument.DIFF_DST: builder.operand(engine.describe(grad))}
    if window.algorithm is AlgorithmKind.POOLING_MAX:
        reads[Argument.WORKSPACE] = _winners(engine, builder, forward, data)
    builder.step(backward, reads, writes)
    return builder.build()


def _winners(engine: Engine, builder: Builder, forward: PrimitiveDescriptor, data: Array) -> Slot:
    """Add the forward pass into temporaries; return the temporary with the indices of maxima."""
    source = builder.operand(engine.describe(data))
    workspace = builder.temporary()
    writes = {Argument.DST: builder.temporary(), Argument.WORKSPACE: workspace}
    builder.step(forward, {Argument.SRC: source}, writes)
    return workspace


def nearest(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    """Plan the forward pass for one input; the scale factors follow from the shapes.

    Raises:
        RefusedError: The library does not support these arrays.
    """
    arrays = (*outputs, *inputs)
    require("nearest", *arrays)
    return bind("nearest", _plan_forward_resampling, arrays)


def nearest_backward(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    """Plan the gradient of the data, from the gradient of the output.

    Raises:
        RefusedError: The library does not support these arrays.
    """
    arrays = (*outputs, *inputs)
    require("nearest_backward", *arrays)
    return bind("nearest_backward", _plan_backward_resampling, arrays)


def _forward_resampling(engine: Engine, out: Array, data: Array) -> PrimitiveDescriptor:
    layouts = engine.common_layouts(data, out)
    return PrimitiveDescriptor(
        engine.api,
        "dnnl_resampling_forward_primitive_desc_create",
        *(engine.handle, PropagationKind.FORWARD_TRAINING, AlgorithmKind.RESAMPLING_NEAREST),
        *(None, *(layout.handle for layout in layouts), engine.attributes),
    )


def _plan_forward_resampling(engine: Engine, arrays: tuple[Array, ...], _: object) -> Plan:
    builder = Builder(engine)
    out, data = (builder.operand(engine.describe(array)) for array in arrays)
    descriptor = _forward_resampling(engine, arrays[0], arrays[1])
    require_fast(descriptor)
    builder.step(descriptor, {Argument.SRC: data}, {Argument.DST: out})
    return builder.build()


def _plan_backward_resampling(engine: Engine, arrays: tuple[Array, ...], _: object) -> Plan:
    out, grad = arrays
    hint = _forward_resampling(engine, grad, out)
    layouts = engine.common_layouts(out, grad)
    descriptor = PrimitiveDescriptor(
        engine.api,
        "dnnl_resampling_backward_primitive_desc_create",
        *(engine.handle, AlgorithmKind.RESAMPLING_NEAREST, None),
        *(*(layout.handle for layout in layouts), hint.handle, engine.attributes),
    )
    require_fast(descriptor)
    builder = Builder(engine)
    target, head = (builder.operand(engine.describe(array)) for array in arrays)
    builder.step(descriptor, {Argument.DIFF_DST: head}, {Argument.DIFF_SRC: target})
    return builder.build()
