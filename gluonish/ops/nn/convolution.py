"""Convolution over one to three axes, and the operators of its gradient.

All of these operators are linear in both arrays, so the set is closed under differentiation: the
gradient of the data gradient is a convolution again. Kernels gather windows and multiply matrices,
a few samples at a time.
"""

import math
from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, choice, integer, shape
from gluonish.core.spec import UNKNOWN, PartialSpec, Shape, Spec, merge_dtypes, merge_shapes
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.reductions.reduction import sum_
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.shape.broadcast_to import broadcast_to
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support import precision
from gluonish.ops.support.broadcasting import check_parameter_dtypes
from gluonish.ops.support.precision import widen
from gluonish.ops.support.shape_rules import limited
from gluonish.ops.support.windows import (
    LAYOUTS,
    Geometry,
    add_windows,
    channels_first,
    channels_first_shape,
    channels_last,
    check_data,
    check_rank,
    check_windows,
    convolution_geometry,
    is_channels_last,
    out_shape,
    sample_chunks,
    sliding_windows,
    weight_shape,
)
from gluonish.ops.support.work import by_data, by_shape, by_weight, remembered

_ATTRIBUTES = {
    "kernel": shape(),
    "stride": shape(()),
    "dilate": shape(()),
    "pad": shape(()),
    "num_filter": integer(low=1),
    "num_group": integer(1, low=1),
    "workspace": integer(1024, low=0),
    "no_bias": boolean(False),
    "cudnn_tune": choice("off", "limited_workspace", "fastest", None, default=None),
    "cudnn_off": boolean(False),
    "layout": choice(None, *(name for pair in LAYOUTS.values() for name in pair), default=None),
}


def _active_inputs(attrs: Attrs) -> tuple[str, ...]:
    return ("data", "weight") if attrs["no_bias"] else ("data", "weight", "bias")


def _mismatch(data: Shape, weight: Shape, expected: Shape, attrs: Attrs) -> str:
    """Return the message for a weight that does not fit the data.

    If only the number of channels differs, the data is wrong.
    """
    layout = attrs["layout"]
    got, wanted = channels_first_shape(weight, layout), channels_first_shape(expected, layout)
    if len(got) != len(wanted) or (*got[:1], *got[2:]) != (*wanted[:1], *wanted[2:]):
        return f"Convolution: expected weight {expected} for data {data}, got {weight}"
    channels = got[1] * attrs["num_group"]
    axis = len(data) - 1 if is_channels_last(layout) else 1
    message = (
        f"Convolution: expected data with {channels} channels along axis {axis}, got "
        f"{data[axis]} in data {data}, with weight {weight}"
    )
    if axis == 1 and data[1] in (1, 3):  # images, as they should be
        message += "; if that number was inferred, the first batch had its channels elsewhere"
    elif axis == 1 and data[-1] == channels:
        message += _order_hint(data)
    return message


def _looks_channels_last(data: Shape, attrs: Attrs) -> bool:
    first = not is_channels_last(attrs["layout"])
    return first and len(data) == 4 and data[-1] in (1, 3, 4) and min(data[1:3]) > 4


def _order_hint(data: Shape) -> str:
    """Return how to move the channels of data to the front, as the end of a message."""
    order = (0, len(data) - 1, *range(1, len(data) - 1))
    return f"; channels come before the spatial axes: x.transpose({order})"


@remembered
def _infer(data: Spec, weight: Spec, bias: Spec | None = None, **attrs: Any) -> tuple[Spec]:
    geometry = convolution_geometry(**attrs)
    check_data(data, geometry, attrs)
    expected = weight_shape(data.shape, attrs)
    if weight.shape != expected:
        raise OperatorError(_mismatch(data.shape, weight.shape, expected, attrs))
    if bias is not None and bias.shape != (attrs["num_filter"],):
        raise OperatorError(
            f"Convolution: expected bias ({attrs['num_filter']},), got {bias.shape}"
        )
    check_parameter_dtypes("Convolution", data, weight, bias)
    out = out_shape(data.shape, geometry, attrs)
    if min(channels_first_shape(out, attrs["layout"])[2:]) < 1:
        raise OperatorError(
            f"Convolution: expected data at least as large as the kernel, got data {data.shape} "
            f"and kernel {geometry.kernel} with dilate {geometry.dilate} and pad {geometry.pad}"
            f"{_order_hint(data.shape) if _looks_channels_last(data.shape, attrs) else ''}"
        )
    layout = attrs["layout"]
    counts = channels_first_shape(out, layout)[2:]
    check_windows("Convolution", channels_first_shape(data.shape, layout), counts, geometry)
    return (Spec(limited("Convolution", out), data.dtype),)


def _matrices(xp: ModuleType, weight: Any, layout: str | None, groups: int) -> Any:
    """Return a weight as (groups, filters per group, channels per group * window)."""
    first = widen(channels_first(xp, weight, layout))
    return first.reshape(groups, first.shape[0] // groups, -1)


def _columns(xp: ModuleType, data: Any, geometry: Geometry, counts: Shape, groups: int) -> Any:
    """Return windows as (samples, groups, channels per group * window, positions)."""
    windows = sliding_windows(xp, widen(data), geometry, counts)
    inner = data.shape[1] // groups * math.prod(geometry.kernel)
    return windows.reshape(len(data), groups, inner, math.prod(counts))


def _kernel(
    xp: ModuleType,
    out: Any,
    data: Any,
    weight: Any,
    bias: Any = None,
    *,
    num_group: int,
    layout: str | None,
    **attrs: Any,
) -> None:
    geometry = convolution_geometry(layout=layout, **attrs)
    data, result = channels_first(xp, data, layout), channels_first(xp, out, layout)
    counts = result.shape[2:]
    matrices = _matrices(xp, weight, layout, num_group)
    elements = data.shape[1] * math.prod(geometry.kernel) * math.prod(counts)
    for part in sample_chunks(len(data), elements):
        columns = _columns(xp, data[part], geometry, counts, num_group)
        product = xp.matmul(matrices, columns).reshape(result[part].shape)
        if bias is not None:
            product += widen(bias).reshape(-1, *(1,) * len(counts))
        result[part] = product


def _backward_data_kernel(
    xp: ModuleType,
    out: Any,
    grad: Any,
    weight: Any,
    *,
    num_group: int,
    layout: str | None,
    data_shape: Shape,
    **attrs: Any,
) -> None:
    geometry = convolution_geometry(layout=layout, **attrs)
    grad, result = channels_first(xp, grad, layout), channels_first(xp, out, layout)
    counts = grad.shape[2:]
    matrices = _matrices(xp, weight, layout, num_group).transpose(0, 2, 1)
    elements = result.shape[1] * math.prod(geometry.kernel) * math.prod(counts)
    for part in sample_chunks(len(grad), elements):
        held = widen(grad[part])
        rows = held.reshape(len(held), num_group, grad.shape[1] // num_group, math.prod(counts))
        columns = xp.matmul(matrices, rows)
        windows = columns.reshape(len(rows), result.shape[1], *geometry.kernel, *counts)
        add_windows(xp, result[part], windows, geometry)


def _backward_weight_kernel(
    xp: ModuleType,
    out: Any,
    grad: Any,
    data: Any,
    *,
    num_group: int,
    layout: str | None,
    weight_shape: Shape,
    **attrs: Any,
) -> None:
    geometry = convolution_geometry(layout=layout, **attrs)
    grad, data = channels_first(xp, grad, layout), channels_first(xp, data, layout)
    result = channels_first(xp, out, layout)
    counts = grad.shape[2:]
    elements = data.shape[1] * math.prod(geometry.kernel) * math.prod(counts)
    total: Any = 0
    for part in sample_chunks(len(data), elements):
        columns = _columns(xp, data[part], geometry, counts, num_group)
        rows = widen(grad[part]).reshape(
            len(columns), num_group, grad.shape[1] // num_group, math.prod(counts)
        )
        total = total + xp.matmul(rows, columns.swapaxes(2, 3)).sum(axis=0)
    result[...] = total.reshape(result.shape) if len(data) else 0


def _backward_weight_bias_kernel(
    xp: ModuleType, outputs: tuple[Any, Any], grad: Any, data: Any, **attrs: Any
) -> None:
    _backward_weight_kernel(xp, outputs[0], grad, data, **attrs)
    rows = widen(channels_first(xp, grad, attrs["layout"]))
    outputs[1][...] = precision.total(xp, rows, (0, *range(2, rows.ndim)))


def _backward_attrs(attrs: Attrs) -> dict[str, Any]:
    return {**attrs, "no_bias": True}


def _gradient(g: V, data: V, weight: V, bias: V | None = None, **attrs: Any) -> tuple[Any, ...]:
    plain = _backward_attrs(attrs)
    of_weight = {**plain, "weight_shape": weight.shape}
    of_data = {**plain, "data_shape": data.shape}
    for_data = lambda: apply(CONVOLUTION_BACKWARD_DATA, (g, weight), of_data)  # noqa: E731
    if bias is None:
        return for_data, lambda: apply(CONVOLUTION_BACKWARD_WEIGHT, (g, data), of_weight)
    both: list[V] = []

    def for_weight() -> V:
        both[:] = apply(CONVOLUTION_BACKWARD_WEIGHT_BIAS, (g, data), of_weight)
        return both[0]

    # Entries are evaluated in order: the entry of the weight computes the bias gradient, too.
    axes = _other_axes(g, attrs["layout"])
    return for_data, for_weight, lambda: both[1] if both else sum_(g, axis=axes)


def _other_axes(g: V, layout: str | None) -> tuple[int, ...]:
    """Return all axes except the channels."""
    channel = len(g.shape) - 1 if is_channels_last(layout) else 1
    return tuple(axis for axis in range(len(g.shape)) if axis != channel)


def _backward_data_gradient(
    g: V, grad: V, weight: V, *, data_shape: Shape, **plain: Any
) -> tuple[Any, ...]:
    return (
        lambda: apply(CONVOLUTION, (g, weight), plain),
        lambda: apply(
            CONVOLUTION_BACKWARD_WEIGHT, (grad, g), {**plain, "weight_shape": weight.shape}
        ),
    )


def _backward_weight_gradient(
    g: V, grad: V, data: V, *, weight_shape: Shape, **plain: Any
) -> tuple[Any, ...]:
    return (
        lambda: apply(CONVOLUTION, (data, g), plain),
        lambda: apply(CONVOLUTION_BACKWARD_DATA, (grad, g), {**plain, "data_shape": data.shape}),
    )


def _backward_weight_bias_gradient(
    g: tuple[V | None, V | None], grad: V, data: V, *, weight_shape: Shape, **plain: Any
) -> tuple[Any, ...]:
    of_weight, of_bias = g
    if of_weight is None:
        assert of_bias is not None
        axes = _other_axes(grad, plain["layout"])
        shape = tuple(1 if axis in axes else n for axis, n in enumerate(grad.shape))
        return lambda: broadcast_to(reshape(of_bias, shape), grad.shape), None
    inputs = (data, of_weight) if of_bias is None else (data, of_weight, of_bias)
    with_bias = {**plain, "no_bias": of_bias is None}
    return (
        lambda: apply(CONVOLUTION, inputs, with_bias),
        lambda: apply(
            CONVOLUTION_BACKWARD_DATA, (grad, of_weight), {**plain, "data_shape": data.shape}
        ),
    )


def _before(data: Shape, out: Shape, geometry: Geometry, attrs: Attrs) -> Shape:
    """Return the data's shape; where the stride is 1, extents are inferred from the output."""
    layout = attrs["layout"]
    first, after = channels_first_shape(data, layout), channels_first_shape(out, layout)
    extents = tuple(
        made + dilate * (kernel - 1) - 2 * pad
        if extent == UNKNOWN and made != UNKNOWN and stride == 1
        else extent
        for extent, made, kernel, stride, dilate, pad in zip(
            first[2:], after[2:], *geometry, strict=True
        )
    )
    return channels_last((*first[:2], *extents), layout)


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    dtype = None
    for spec in (*inputs, *outputs):
        dtype = merge_dtypes(dtype, spec.dtype, "Convolution")
    data = inputs[0].shape
    known: list[Shape | None] = [data, None, (attrs["num_filter"],)]
    if data is not None:
        geometry = convolution_geometry(**attrs)
        check_rank(data, geometry)
        known[1] = weight_shape(data, attrs)
        out = out_shape(data, geometry, attrs)
        merged = merge_shapes(out, outputs[0].shape, "Convolution output") or out
        outputs[0] = PartialSpec(merged, dtype)
        known[0] = (merged[0], *_before(data, merged, geometry, attrs)[1:])
    for i, spec in enumerate(inputs):
        shape = merge_shapes(known[i], spec.shape, f"Convolution {_NAMES[i]}")
        inputs[i] = PartialSpec(shape, dtype)
    outputs[0] = PartialSpec(outputs[0].shape, dtype)


_NAMES = ("data", "weight", "bias")

CONVOLUTION = register(
    Operator(
        "Convolution",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Convolution: slide num_filter filters over the spatial axes, and add the bias.\n\n"
            "Each spatial output size is (size + 2 * pad - dilate * (kernel - 1) - 1) // stride\n"
            "+ 1. In the layouts that end in C, the channels of data, weight and output are\n"
            "last. On a GPU cuDNN computes it, if installed and unless cudnn_off is set, in at\n"
            "most workspace MB, or without limit with cudnn_tune='fastest', by the fastest of a\n"
            "few engines that are measured once, or with cudnn_tune='off' by its first.\n\n"
            "Shapes: data (N, C, *spatial), weight (num_filter, C / num_group, *kernel), bias\n"
            "(num_filter,), output (N, num_filter, *spatial)."
        ),
        inputs=_NAMES,
        active_inputs=_active_inputs,
        schema=Schema(**_ATTRIBUTES),
        aliases=("_npx_convolution",),
        shapes=ShapeFacts(complete=_complete),
        execution=Execution(heavy=by_weight),
    )
)

CONVOLUTION_BACKWARD_DATA = register(
    Operator(
        "_convolution_backward_data",
        lambda grad, weight, *, data_shape, **_: (Spec(data_shape, grad.dtype),),
        _backward_data_kernel,
        _backward_data_gradient,
        doc="Gradient of Convolution's data, from the weight and the output's gradient.",
        inputs=("grad", "weight"),
        schema=Schema(**_ATTRIBUTES, data_shape=shape()),
        execution=Execution(heavy=by_data),
    )
)

CONVOLUTION_BACKWARD_WEIGHT = register(
    Operator(
        "_convolution_backward_weight",
        lambda grad, data, *, weight_shape, **_: (Spec(weight_shape, grad.dtype),),
        _backward_weight_kernel,
        _backward_weight_gradient,
        doc="Gradient of Convolution's weight, from the data and the output's gradient.",
        inputs=("grad", "data"),
        schema=Schema(**_ATTRIBUTES, weight_shape=shape()),
        execution=Execution(heavy=by_shape),
    )
)

CONVOLUTION_BACKWARD_WEIGHT_BIAS = register(
    Operator(
        "_convolution_backward_weight_bias",
        lambda grad, data, *, weight_shape, num_filter, **_: (
            Spec(weight_shape, grad.dtype),
            Spec((num_filter,), grad.dtype),
        ),
        _backward_weight_bias_kernel,
        _backward_weight_bias_gradient,
        doc=(
            "Gradients of Convolution's weight and bias, from the data and the output's\ngradient."
        ),
        inputs=("grad", "data"),
        schema=Schema(**_ATTRIBUTES, weight_shape=shape()),
        outputs=2,
        output_names=("weight", "bias"),
        execution=Execution(heavy=by_shape),
    )
)
