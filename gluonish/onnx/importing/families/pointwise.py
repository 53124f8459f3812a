"""Elementwise functions, including activations."""

from collections.abc import Callable
from typing import Any

import numpy as np

import gluonish.numpy as mnp
from gluonish.core.dtype import is_floating
from gluonish.onnx.importing.arrays import axis_of, dtype_of, floats, is_known, op
from gluonish.onnx.importing.nodes import Call, Rule


def _unary(function: Callable[[Any], Any]) -> Rule:
    return lambda call, x: function(x)


def _leaky(name: str, default: float) -> Rule:
    def rule(call: Call, x: Any) -> Any:
        return op("LeakyReLU")(x, act_type=name, slope=call.attr("alpha", default))

    return rule


def _activation(kind: str) -> Rule:
    return lambda call, x: op("Activation")(x, act_type=kind)


def _selu(call: Call, x: Any) -> Any:
    alpha = call.attr("alpha", 1.6732631921768188)
    gamma = call.attr("gamma", 1.0507010221481323)
    return gamma * mnp.where(x > 0, x, alpha * mnp.expm1(mnp.minimum(x, 0)))


def _celu(call: Call, x: Any) -> Any:
    alpha = call.attr("alpha", 1.0)
    return mnp.maximum(x, 0) + alpha * mnp.expm1(mnp.minimum(x, 0) / alpha)


def _hard_sigmoid(call: Call, x: Any) -> Any:
    options = {"alpha": call.attr("alpha", 0.2), "beta": call.attr("beta", 0.5)}
    return op("hard_sigmoid")(x, **options)


def _hard_swish(call: Call, x: Any) -> Any:
    return x * op("hard_sigmoid")(x, alpha=1 / 6, beta=0.5)


def _thresholded(call: Call, x: Any) -> Any:
    return mnp.where(x > call.attr("alpha", 1.0), x, mnp.zeros_like(x))


def _shrink(call: Call, x: Any) -> Any:
    bias, bound = call.attr("bias", 0.0), call.attr("lambd", 0.5)
    zero = mnp.zeros_like(x)
    found = mnp.where(x < -bound, x + bias, mnp.where(x > bound, x - bias, zero))
    return found.astype(x.dtype)


def _gelu(call: Call, x: Any) -> Any:
    if call.attr("approximate", "none") == "none":
        return op("LeakyReLU")(x, act_type="gelu")
    return op("LeakyReLU")(x, act_type="gelu_tanh")


def _swish(call: Call, x: Any) -> Any:
    alpha = call.attr("alpha", 1.0)
    return x * op("sigmoid")(x if alpha == 1 else x * alpha)


def _mish(call: Call, x: Any) -> Any:
    return op("mish")(x)


def _round(call: Call, x: Any) -> Any:
    return mnp.around(x)  # rounds half to even


def _clip(call: Call, x: Any, low: Any = None, high: Any = None) -> Any:
    """Clip to a range, whose ends are attributes before opset 11."""
    if call.version < 11:
        return mnp.clip(x, call.attr("min"), call.attr("max")) if _has_range(call) else x
    known = all(end is None or is_known(end) for end in (low, high))
    if known and is_floating(dtype_of(x)):
        ends = [None if end is None else floats(end)[0] for end in (low, high)]
        if ends in ([None, None], [-np.inf, np.inf]):
            return x
        if ends == [0, None] or ends == [0, np.inf]:
            return op("relu")(x)
        if ends[0] is not None and ends[1] is not None and ends[0] <= ends[1]:
            return mnp.clip(x, *ends)
    found = x if low is None else mnp.maximum(x, low)
    return found if high is None else mnp.minimum(found, high)


def _has_range(call: Call) -> bool:
    return call.attr("min") is not None or call.attr("max") is not None


def _is_inf(call: Call, x: Any) -> Any:
    up, down = call.attr("detect_positive", 1), call.attr("detect_negative", 1)
    found = mnp.isinf(x)
    if up and down:
        return found
    if not up and not down:
        return mnp.zeros_like(found)
    return mnp.isposinf(x) if up else mnp.isneginf(x)


def _softmax(name: str) -> Rule:
    def rule(call: Call, x: Any) -> Any:
        """Apply softmax along an axis; before opset 13, over all axes from ``axis`` on."""
        rank = len(x.shape)
        if call.version >= 13:
            return op(name)(x, axis=call.attr("axis", -1))
        axis = axis_of(call.attr("axis", 1), rank)
        if axis == rank - 1:
            return op(name)(x, axis=-1)
        flat = mnp.reshape(x, (*x.shape[:axis], -1))
        return mnp.reshape(op(name)(flat, axis=-1), x.shape)

    return rule


def _hardmax(call: Call, x: Any) -> Any:
    """Return 1 at the first largest element along an axis, 0 elsewhere."""
    rank = len(x.shape)
    axis = axis_of(call.attr("axis", -1 if call.version >= 13 else 1), rank)
    rows = x if call.version >= 13 else mnp.reshape(x, (*x.shape[:axis], -1))
    indices = op("argmax")(rows, axis=axis).astype(np.int64)
    ones = op("one_hot")(indices, depth=rows.shape[axis], dtype=dtype_of(x).name)
    return mnp.reshape(mnp.moveaxis(ones, -1, axis), x.shape)


def _dropout(call: Call, x: Any, ratio: Any = None, training: Any = None) -> Any:
    """Apply dropout in training, or if the file requires it."""
    rate = call.attr("ratio", 0.5) if ratio is None else floats(ratio)[0]
    always = training is not None and bool(floats(training)[0])
    if not call.wants(1):
        return op("Dropout")(x, p=rate, mode="always" if always else "training")
    if not always or rate == 0:
        return x, mnp.ones_like(x, dtype=np.bool_)
    mask = op("Dropout")(mnp.ones_like(x), p=rate, mode="always")
    return x * mask, mask != 0


RULES: dict[str, Rule] = {
    "Abs": _unary(mnp.abs),
    "Neg": _unary(mnp.negative),
    "Sign": _unary(mnp.sign),
    "Ceil": _unary(mnp.ceil),
    "Floor": _unary(mnp.floor),
    "Round": _round,
    "Sqrt": _unary(mnp.sqrt),
    "Reciprocal": _unary(mnp.reciprocal),
    "Exp": _unary(mnp.exp),
    "Log": _unary(mnp.log),
    "Sin": _unary(mnp.sin),
    "Cos": _unary(mnp.cos),
    "Tan": _unary(mnp.tan),
    "Asin": _unary(mnp.arcsin),
    "Acos": _unary(mnp.arccos),
    "Atan": _unary(mnp.arctan),
    "Sinh": _unary(mnp.sinh),
    "Cosh": _unary(mnp.cosh),
    "Tanh": _unary(mnp.tanh),
    "Asinh": _unary(mnp.arcsinh),
    "Acosh": _unary(mnp.arccosh),
    "Atanh": _unary(mnp.arctanh),
    "Erf": _unary(op("erf")),
    "IsNaN": _unary(mnp.isnan),
    "IsInf": _is_inf,
    "Relu": _unary(op("relu")),
    "Sigmoid": _unary(op("sigmoid")),
    "Softplus": _activation("softrelu"),
    "Softsign": _activation("softsign"),
    "LeakyRelu": _leaky("leaky", 0.01),
    "Elu": _leaky("elu", 1.0),
    "Selu": _selu,
    "Celu": _celu,
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": _hard_swish,
    "ThresholdedRelu": _thresholded,
    "Shrink": _shrink,
    "Gelu": _gelu,
    "Swish": _swish,
    "Mish": _mish,
    "Clip": _clip,
    "Softmax": _softmax("softmax"),
    "LogSoftmax": _softmax("log_softmax"),
    "Hardmax": _hardmax,
    "Dropout": _dropout,
}
