"""Quantization, dequantization, and products of quantized matrices."""

from math import prod
from typing import Any

import numpy as np

import gluonish.numpy as mnp
from gluonish.core.dtype import FLOAT32, INT32
from gluonish.onnx.importing.arrays import axis_of, dtype_of, plain
from gluonish.onnx.importing.elements import ELEMENTS, Element, element_of, narrowed
from gluonish.onnx.importing.families.casting import converted, to_element
from gluonish.onnx.importing.families.convolution import convolve
from gluonish.onnx.importing.nodes import Call, Rule

_FLOAT64 = np.dtype(np.float64)
_LIMITS = {"UINT4": (0, 15), "INT4": (-8, 7), "UINT2": (0, 3), "INT2": (-2, 1)}


def _limits(kind: Element) -> tuple[int, int]:
    if kind.name in _LIMITS:
        return _LIMITS[kind.name]
    limits = np.iinfo(kind.dtype)
    return int(limits.min), int(limits.max)


def _spread(call: Call, x: Any, factor: Any) -> Any:
    """Reshape a scale or zero point to broadcast: for the array, a channel, or a block."""
    shape = factor.shape
    rank = len(x.shape)
    block = call.attr("block_size", 0)
    if len(shape) == 0 or shape == (1,):
        return mnp.reshape(factor, ())
    axis = axis_of(call.attr("axis", 1), rank)
    if block:
        repeated = mnp.repeat(factor, block, axis=axis)
        return repeated[(*(slice(None),) * axis, slice(0, x.shape[axis]))]
    if len(shape) == 1:
        return mnp.reshape(factor, (-1, *(1,) * (rank - axis - 1)))
    return factor


def _quantize(call: Call, x: Any, scale: Any, zero: Any = None) -> Any:
    kind = _target(call, zero)
    wide = _FLOAT64 if kind.bits > 16 else FLOAT32
    ratio = x.astype(FLOAT32) / _spread(call, x, plain(scale)).astype(FLOAT32)
    shift = None if zero is None else _spread(call, x, plain(zero)).astype(wide)
    if kind.name.startswith("FLOAT"):
        shifted = ratio if shift is None else ratio + shift
        return converted(shifted, kind, saturate=bool(call.attr("saturate", 1)))
    return narrowed(_rounded(ratio, shift, kind, wide), kind)


def _rounded(ratio: Any, shift: Any, kind: Element, wide: Any) -> Any:
    """Round to the nearest integers, add the zero point, and clip to the type's limits."""
    nearest = mnp.around(ratio).astype(wide)
    nearest = nearest if shift is None else nearest + shift
    low, high = _limits(kind)
    return mnp.clip(nearest, low, high).astype(kind.dtype)


def _target(call: Call, zero: Any) -> Element:
    if zero is not None:
        return element_of(zero)
    number = call.attr("output_dtype", 0)
    return to_element(call, number) if number else ELEMENTS[2]


def _dequantize(call: Call, x: Any, scale: Any, zero: Any = None) -> Any:
    number = call.attr("output_dtype", 0)
    dtype = to_element(call, number).dtype if number else dtype_of(plain(scale))
    array = plain(x)
    exact = FLOAT32 if dtype_of(array) != INT32 or zero is None else _FLOAT64
    factor = _spread(call, array, plain(scale)).astype(FLOAT32)
    numbers = array.astype(exact)
    if zero is not None:
        numbers = numbers - _spread(call, array, plain(zero)).astype(exact)
    return (numbers.astype(FLOAT32) * factor).astype(dtype)


def _dynamic(call: Call, x: Any) -> tuple[Any, Any, Any]:
    """Quantize to uint8, with the scale and zero point of the array's own range."""
    low = mnp.minimum(mnp.min(x), 0)
    high = mnp.maximum(mnp.max(x), 0)
    scale = (high - low) / 255
    safe = mnp.where(scale == 0, mnp.ones_like(scale), scale)
    zero = mnp.clip(mnp.around(-low / safe), 0, 255)
    numbers = mnp.clip(mnp.around(x / safe) + zero, 0, 255)
    return numbers.astype(np.uint8), scale, zero.astype(np.uint8)


def _matrix_point(point: Any, *, rows: bool) -> Any:
    """Reshape a matrix's zero point or scale: one number, or one for each row or column."""
    if len(point.shape) == 1 and point.shape[0] > 1 and rows:
        return mnp.expand_dims(point, -1)
    return mnp.reshape(point, ()) if point.shape == (1,) else point


def _integer_product(a: Any, b: Any, a_zero: Any, b_zero: Any) -> Any:
    a, b = plain(a).astype(_FLOAT64), plain(b).astype(_FLOAT64)
    if a_zero is not None:
        a = a - _matrix_point(plain(a_zero), rows=True).astype(_FLOAT64)
    if b_zero is not None:
        b = b - _matrix_point(plain(b_zero), rows=False).astype(_FLOAT64)
    return mnp.matmul(a, b)


def _mat_mul_integer(call: Call, a: Any, b: Any, a_zero: Any = None, b_zero: Any = None) -> Any:
    return _integer_product(a, b, a_zero, b_zero).astype(INT32)


def _q_linear_mat_mul(call: Call, *given: Any) -> Any:
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = given
    kind = element_of(y_zero)
    scales = [
        _matrix_point(plain(s), rows=left).astype(FLOAT32)
        for s, left in ((a_scale, True), (b_scale, False), (y_scale, True))
    ]
    product = _integer_product(a, b, a_zero, b_zero)
    ratio = (product * scales[0] * scales[1] / scales[2]).astype(FLOAT32)
    shift = _matrix_point(plain(y_zero), rows=True).astype(FLOAT32)
    if kind.name.startswith("FLOAT"):
        return converted(ratio + shift, kind)
    return narrowed(_rounded(ratio, shift, kind, FLOAT32), kind)


def _q_linear_conv(call: Call, *given: Any) -> Any:
    x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, *bias = given
    products = prod(w.shape[1:])
    wide = FLOAT32 if products * 255 * 255 < 1 << 24 else _FLOAT64
    shape = (-1, *(1,) * (len(w.shape) - 2))
    data = x.astype(wide) - mnp.reshape(x_zero, ()).astype(wide)
    zeros = w_zero.astype(wide)
    column = (-1, *(1,) * (len(w.shape) - 1))
    weight = w.astype(wide) - (mnp.reshape(zeros, column) if zeros.shape else zeros)
    total = convolve(call, data, weight, None)
    if bias and bias[0] is not None:
        total = total + mnp.reshape(bias[0].astype(wide), shape)
    factor = x_scale * w_scale / y_scale
    factor = mnp.reshape(factor, shape) if len(factor.shape) and factor.shape != (1,) else factor
    ratio = total.astype(FLOAT32) * factor
    shift = mnp.reshape(y_zero, ()).astype(FLOAT32)
    return _rounded(ratio, shift, element_of(y_zero), FLOAT32)


RULES: dict[str, Rule] = {
    "QuantizeLinear": _quantize,
    "DequantizeLinear": _dequantize,
    "DynamicQuantizeLinear": _dynamic,
    "MatMulInteger": _mat_mul_integer,
    "QLinearMatMul": _q_linear_mat_mul,
    "QLinearConv": _q_linear_conv,
}
