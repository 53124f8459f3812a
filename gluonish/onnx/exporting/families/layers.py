"""Layers of networks: convolution, dense, pooling, activations, softmax, dropout, upsampling."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gluonish.onnx.exporting.call import Call
from gluonish.onnx.exporting.steps import (
    axis_of,
    concat,
    pad,
    reduced,
    select,
    sliced,
    softmax,
    to_shape,
    transposed,
    unsqueezed,
)
from gluonish.onnx.exporting.tensors import OpenExtent, Tensor
from gluonish.ops.nn.deconvolution import transposed_window
from gluonish.ops.nn.gelu import FORM_OF, FORMS
from gluonish.ops.nn.pooling import pooling_plan, pooling_steps
from gluonish.ops.support.windows import is_channels_last


def _front(x: Tensor, layout: str | None) -> Tensor:
    """Convert data or a weight from ``layout`` to channels first."""
    if not is_channels_last(layout):
        return x
    return transposed(x, [0, x.rank - 1, *range(1, x.rank - 1)])


def _back(x: Tensor, layout: str | None, rank: int) -> Tensor:
    """Convert a result from channels first back to ``layout``."""
    return transposed(x, [0, *range(2, rank), 1]) if is_channels_last(layout) else x


def _window(call: Call) -> dict[str, list[int]]:
    rank = len(call["kernel"])
    return {
        "kernel_shape": list(call["kernel"]),
        "strides": list(call["stride"] or (1,) * rank),
        "dilations": list(call["dilate"] or (1,) * rank),
    }


def _convolution(call: Call) -> Tensor:
    x, weight, *bias = call.inputs
    layout, borders = call["layout"], list(call["pad"] or (0,) * len(call["kernel"]))
    made = call(
        "Conv",
        *(_front(x, layout), _front(weight, layout), *bias),
        **_window(call),
        pads=[*borders, *borders],
        group=int(call["num_group"]),
    )
    return _back(made, layout, x.rank)


def _deconvolution(call: Call) -> Tensor:
    x, weight, *bias = call.inputs
    layout = call["layout"]
    first = _front(x, layout)
    sizes = tuple(
        8 if isinstance(e, OpenExtent) and not call["target_shape"] else first.size(i)
        for i, e in enumerate(first.known_shape)
    )  # the window depends on the sizes only if target_shape is set
    data = (sizes[0], *sizes[2:], sizes[1]) if is_channels_last(layout) else sizes
    window, more = transposed_window(data, call.attrs)
    made = call(
        "ConvTranspose",
        *(first, _front(weight, layout), *bias),
        kernel_shape=list(window.kernel),
        strides=list(window.stride),
        dilations=list(window.dilate),
        pads=[*window.pad, *window.pad],
        output_padding=list(more),
        group=int(call["num_group"]),
    )
    return _back(made, layout, x.rank)


def _dense(call: Call) -> Tensor:
    x, weight, *bias = call.inputs
    if bias and bias[0].shape is not None and bias[0].rank == 2:  # shape (n, 1)
        bias = [to_shape(bias[0], bias[0].known_shape, (bias[0].size(0),))]
    if call["flatten"] or x.rank == 2:
        flat = x if x.rank == 2 else call("Flatten", x, axis=1)
        return call("Gemm", flat, weight, *bias, transB=1)
    made = call("MatMul", x, transposed(weight, [1, 0]))
    return call("Add", made, bias[0]) if bias else made


def activated(x: Tensor, kind: str) -> Tensor:
    """Return the output of an Activation."""
    if kind == "softsign":
        return x.emitter("Softsign", x)
    names = {"relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh", "softrelu": "Softplus"}
    if kind == "log_sigmoid":
        return -x.emitter("Softplus", -x)
    if kind == "mish":
        return x * x.emitter("Tanh", x.emitter("Softplus", x))
    return x.emitter(names[kind], x)


def _activation(call: Call) -> Tensor:
    return activated(call.x, call["act_type"])


def _gelu(x: Tensor, form: str) -> Tensor:
    by = FORMS[form]
    if x.emitter.opset >= 20 and form != "sigmoid":
        return x.emitter("Gelu", x, approximate="none" if by is None else "tanh")
    if by is not None:
        inner = x * by.linear + x * x * x * by.cubic if by.cubic else x * by.linear
        return x * x.emitter("Sigmoid", inner)
    return (x.emitter("Erf", x * math.sqrt(0.5)) + 1.0) * x * 0.5


def _leaky_relu(call: Call) -> Tensor:
    x, kind = call.x, call["act_type"]
    if kind in FORM_OF:
        return _gelu(x, FORM_OF[kind])
    if kind == "elu":
        return call("Elu", x, alpha=float(call["slope"]))
    if kind == "selu":
        return call("Selu", x)
    if kind == "prelu":
        slope = call.inputs[1]
        ones = (1,) * (x.rank - 2)
        if slope.rank == 1 and slope.shape != (1,) and ones:
            slope = to_shape(slope, slope.known_shape, (slope.size(0), *ones))
        elif slope.rank == 2 and ones and _is_by_sample(slope.shape, x.shape):
            slope = to_shape(slope, slope.known_shape, (slope.size(0), slope.size(1), *ones))
        return call("PRelu", x, slope)
    if kind == "rrelu":
        slope = (call["lower_bound"] + call["upper_bound"]) / 2
        return call("LeakyRelu", x, alpha=float(slope))
    return call("LeakyRelu", x, alpha=float(call["slope"]))


def _gated(call: Call) -> Tensor:
    """Compute swiglu or geglu, whose gate and value may be halves of one array."""
    if call["use_value"]:
        gate, value = call.inputs
    else:
        axis = axis_of(call["axis"], call.x.rank)
        half = call.x.size(axis) // 2
        gate, value = (sliced(call.x, [i * half], [(i + 1) * half], [axis]) for i in (0, 1))
    if call.op == "geglu":
        return _gelu(gate, call["approximation"]) * value
    return gate * call("Sigmoid", gate) * value


def _is_by_sample(slope: Sequence[Any] | None, x: Sequence[Any] | None) -> bool:
    """Whether a matrix of slopes runs along the first two axes, as the operator reads it."""
    if slope is None or x is None:
        return False
    return slope[0] in (1, x[0]) and slope[1] in (1, x[1])


def _scaled(call: Call, sign: float = 1.0) -> Tensor:
    x = call.x
    if call["dtype"] is not None:
        x = x.to(np.dtype(call["dtype"]))
    factor = sign / (call["temperature"] or 1.0)
    return x if factor == 1.0 else x * factor


def _softmax(log: bool = False, sign: float = 1.0) -> Callable[[Call], Tensor]:
    def translate(call: Call) -> Tensor:
        axis = axis_of(call["axis"], call.x.rank)
        x = _scaled(call, sign)
        if len(call.inputs) == 1:
            return softmax(x, axis, log)
        inside = _within(call, axis)
        made = softmax(select(inside, x, -math.inf), axis, log)
        return select(inside, made, 0.0)

    return translate


def _within(call: Call, axis: int) -> Tensor:
    """Return a mask of the elements within the length of their row."""
    x, length = call.inputs
    indices = np.arange(x.size(axis)).reshape(-1, *(1,) * (x.rank - 1 - axis))
    return call.constant(indices.astype(np.int64)) < unsqueezed(length.to(np.dtype(np.int64)), axis)


def _pooling(call: Call) -> Tensor:
    x, layout = call.x, call.attrs.get("layout")
    first = _front(x, layout)
    if call["global_pool"]:
        return _back(_pooled_all(call, first), layout, x.rank)
    kind, kernel = call["pool_type"], list(call["kernel"])
    stride, _, border = pooling_steps(len(kernel), call["stride"], call["pad"])
    after = list(border)
    if call["pooling_convention"] != "valid":
        spatial = tuple(first.size(i) for i in range(2, x.rank))
        _, counts = pooling_plan(spatial, **call.attrs)
        for i, (count, extent) in enumerate(zip(counts, spatial, strict=True)):
            reach = (count - 1) * stride[i] + kernel[i] - extent - border[i]
            after[i] = max(reach, border[i] if call["pooling_convention"] == "valid" else 0)
            if reach < 0:  # windows of the full convention end before the data do
                after[i] = 0
                if extent + border[i] - kernel[i] >= count * stride[i]:
                    first = sliced(first, [0], [extent + reach], [2 + i])
    window = {"kernel_shape": kernel, "strides": list(stride)}
    made = _pooled(call, first, kind, window, list(border), after)
    return _back(made, layout, x.rank)


def _pooled(
    call: Call,
    x: Tensor,
    kind: str,
    window: dict[str, list[int]],
    before: list[int],
    after: list[int],
) -> Tensor:
    if kind == "max":
        if call.op == "Pooling_v1":  # its border is 0, and may be the maximum
            x = pad(x, [0, 0, *before], [0, 0, *after])
            before = after = [0] * len(before)
        return call("MaxPool", x, **window, pads=[*before, *after])
    if kind == "lp" and call["p_value"] == 2:
        return call("LpPool", x, **window, pads=[*before, *after], p=2)
    if kind == "lp":
        total = _pooled(call, x ** float(call["p_value"]), "sum", window, before, after)
        return _root(total, call["p_value"])
    if kind == "sum":
        x = pad(x, [0, 0, *before], [0, 0, *after])
        made = call("AveragePool", x, **window, count_include_pad=1)
        return made * float(math.prod(window["kernel_shape"]))
    if call.attrs.get("count_include_pad") is not False:
        # Elements beyond the padding, by the full convention, do not count; the padding does.
        known = list(call["pad"] or (0,) * len(before))
        x = pad(x, [0, 0, *before], [0, 0, *[min(a, b) for a, b in zip(after, known, strict=True)]])
        after = [max(a - b, 0) for a, b in zip(after, known, strict=True)]
        before = [0] * len(before)
    return call("AveragePool", x, **window, pads=[*before, *after], count_include_pad=0)


def _root(x: Tensor, power: int) -> Tensor:
    """Return a norm from a sum of powers; unlike in LpPool, powers of elements keep signs."""
    if power == 1:
        return x
    return x.emitter("Sign", x) * x.emitter("Abs", x) ** (1 / power)


def _pooled_all(call: Call, x: Tensor) -> Tensor:
    kind = call["pool_type"]
    if kind == "sum":
        return reduced("ReduceSum", x, range(2, x.rank), keepdims=True)
    if kind == "lp" and call["p_value"] == 2:
        return reduced("ReduceL2", x, range(2, x.rank), keepdims=True)
    if kind == "lp":
        total = reduced("ReduceSum", x ** float(call["p_value"]), range(2, x.rank), keepdims=True)
        return _root(total, call["p_value"])
    if x.rank != 4:
        name = {"max": "ReduceMax", "avg": "ReduceMean"}[kind]
        return reduced(name, x, range(2, x.rank), keepdims=True)
    return call({"max": "GlobalMaxPool", "avg": "GlobalAveragePool"}[kind], x)


def _dropout(call: Call) -> Sequence[Tensor | None]:
    return [call.x, None]


def _upsampling(call: Call) -> Tensor:
    scale = call["scale"]
    if call["sample_type"] == "bilinear":
        x, weight = call.inputs
        width, border, channels = 2 * scale - scale % 2, scale // 2, x.size(1)
        return call(
            "ConvTranspose",
            *(x, weight),
            kernel_shape=[width] * 2,
            strides=[scale] * 2,
            pads=[border] * 4,
            group=channels,
        )
    first = call.x
    chunks = [
        nearest(x, [1.0, 1.0, *[float(scale * first.size(i) // x.size(i)) for i in (2, 3)]])
        if x is not first
        else nearest(x, [1.0, 1.0, float(scale), float(scale)])
        for x in call.inputs
    ]
    if call["multi_input_mode"] == "sum":
        return call("Sum", *chunks)
    return concat(chunks, 1)


def nearest(x: Tensor, scales: Sequence[float]) -> Tensor:
    """Upsample by repeating pixels."""
    return x.emitter(
        "Resize",
        *(x, None, x.emitter.constant(scales, np.dtype(np.float32))),
        mode="nearest",
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )


def _softmax_activation(call: Call) -> Tensor:
    x = call.x
    if call["mode"] == "channel":
        return softmax(x, 1)
    return softmax(x, x.rank - 1)


TABLE = {
    "Convolution": _convolution,
    "Convolution_v1": _convolution,
    "Deconvolution": _deconvolution,
    "FullyConnected": _dense,
    "Activation": _activation,
    "LeakyReLU": _leaky_relu,
    **dict.fromkeys(("swiglu", "geglu"), _gated),
    "softmax": _softmax(),
    "log_softmax": _softmax(log=True),
    "softmin": _softmax(sign=-1.0),
    "SoftmaxActivation": _softmax_activation,
    "Pooling": _pooling,
    "Pooling_v1": _pooling,
    "Dropout": _dropout,
    "UpSampling": _upsampling,
}
