"""Arithmetic of two or more arrays with broadcasting, comparisons, and logic."""

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

import gluonish.numpy as mnp
from gluonish.core.dtype import BOOL, is_floating
from gluonish.onnx.importing.arrays import array_of, computed, dtype_of, host, is_known, op, wide
from gluonish.onnx.importing.nodes import Call, Rule


def aligned(call: Call, a: Any, b: Any) -> tuple[Any, Any]:
    """Reshape b so that it broadcasts along attribute ``axis``, as in opsets below 7."""
    axis = call.attr("axis")
    if call.version >= 7 or not call.attr("broadcast", 0) or axis is None or axis < 0:
        return a, b
    missing = len(a.shape) - axis - len(b.shape)
    return a, mnp.reshape(b, (*b.shape, *(1,) * missing))


def _binary(function: Callable[[Any, Any], Any]) -> Rule:
    return lambda call, a, b: function(*aligned(call, a, b))


def _divide(a: Any, b: Any) -> Any:
    """Divide; quotients of integers are truncated toward zero."""
    return mnp.true_divide(a, b) if is_floating(dtype_of(a)) else op("broadcast_div")(a, b)


def _power(call: Call, a: Any, b: Any) -> Any:
    """Raise to a power; the result has the dtype of the base."""
    a, b = aligned(call, a, b)
    base, exponent = dtype_of(a), dtype_of(b)
    if base == exponent:
        return mnp.power(a, b)
    if is_floating(base):
        return mnp.power(a, b.astype(base))
    if is_floating(exponent):
        return mnp.power(a.astype(np.float64), b.astype(np.float64)).astype(base)
    return mnp.power(a, b.astype(base))


def _mod(call: Call, a: Any, b: Any) -> Any:
    """Return the remainder, with the sign of ``b``; of ``a`` if the attribute ``fmod`` is set."""
    if not is_floating(dtype_of(a)):
        return a - op("broadcast_div")(a, b) * b if call.attr("fmod", 0) else mnp.mod(a, b)
    x, y = wide(a), wide(b)
    if call.attr("fmod", 0):
        size = mnp.mod(mnp.abs(x), mnp.abs(y))
        found = mnp.where(x < 0, -size, size)
    else:
        found = mnp.mod(x, y)
    return mnp.where(y == 0, mnp.full_like(found, np.nan), found).astype(a.dtype)


def _logic(function: Callable[[Any, Any], Any]) -> Rule:
    def rule(call: Call, a: Any, b: Any) -> Any:
        return function(*aligned(call, computed(BOOL, a), computed(BOOL, b)))

    return rule


def _many(function: Callable[[Any, Any], Any]) -> Rule:
    return lambda call, *arrays: reduce(function, arrays)


def _mean(call: Call, *arrays: Any) -> Any:
    return _many(mnp.add)(call, *arrays) / len(arrays)


def _where(call: Call, condition: Any, a: Any, b: Any) -> Any:
    return mnp.where(condition, a, b)


def _shift(call: Call, a: Any, b: Any) -> Any:
    """Shift bits, by multiplication with or division by powers of two."""
    if is_known(a) and is_known(b):
        x, y = host(a), host(b)
        return array_of(np.left_shift(x, y) if _is_left(call) else np.right_shift(x, y))
    dtype = dtype_of(a)
    wide = dtype if dtype == np.uint64 else np.dtype(np.int64)
    x, count = a.astype(wide), b.astype(np.int64)
    steps = mnp.clip(count, 0, 31), mnp.clip(count - 31, 0, 32)
    for step in steps:  # the power of two may exceed the range of the type
        power = mnp.power(mnp.full_like(x, 2), step.astype(wide))
        x = x * power if _is_left(call) else op("broadcast_div")(x - mnp.mod(x, power), power)
    within = (count >= 0) & (count < dtype.itemsize * 8)
    beyond = mnp.zeros_like(x)
    if not _is_left(call) and dtype.kind == "i":
        beyond = mnp.where(a < 0, mnp.full_like(x, -1), beyond)
    return mnp.where(within, x, beyond).astype(dtype)


def _is_left(call: Call) -> bool:
    return bool(call.attr("direction") == "LEFT")


def _matmul(call: Call, a: Any, b: Any) -> Any:
    if is_floating(dtype_of(a)):
        return mnp.matmul(a, b)
    # Exact: BLAS does not support integers, and the products are far below 2 ** 53.
    return mnp.matmul(a.astype(np.float64), b.astype(np.float64)).astype(a.dtype)


def _gemm(call: Call, a: Any, b: Any, c: Any = None) -> Any:
    """Return ``alpha * A B + beta * C``, as a FullyConnected where possible."""
    alpha, beta = call.attr("alpha", 1.0), call.attr("beta", 1.0)
    if call.attr("transA", 0):
        a = mnp.transpose(a)
    transposed = bool(call.attr("transB", 0))
    is_layer = transposed and alpha == 1 and is_floating(dtype_of(a)) and len(a.shape) == 2
    is_bias = c is not None and beta == 1 and c.shape == (b.shape[0],)
    if is_layer and (c is None or is_bias):
        options = {"num_hidden": b.shape[0], "no_bias": c is None, "flatten": False}
        return op("FullyConnected")(a, b, *(() if c is None else (c,)), **options)
    product = _matmul(call, a, mnp.transpose(b) if transposed else b)
    product = product if alpha == 1 else _scaled(product, alpha)
    if c is None:
        return product
    return product + (c if beta == 1 else _scaled(c, beta))


def _scaled(x: Any, factor: float) -> Any:
    return (x * factor).astype(x.dtype)


def _einsum(call: Call, *arrays: Any) -> Any:
    equation = call.attr("equation", "").replace(" ", "")
    if is_floating(dtype_of(arrays[0])):
        return mnp.einsum(equation, *arrays)
    return mnp.einsum(equation, *arrays).astype(arrays[0].dtype)


def _prelu(call: Call, x: Any, slope: Any) -> Any:
    return mnp.where(x < 0, x * slope, x)


def _det(call: Call, x: Any) -> Any:
    return mnp.linalg.det(wide(x)).astype(x.dtype)


RULES: dict[str, Rule] = {
    "Add": _binary(mnp.add),
    "Sub": _binary(mnp.subtract),
    "Mul": _binary(mnp.multiply),
    "Div": _binary(_divide),
    "Pow": _power,
    "Mod": _mod,
    "Sum": _many(mnp.add),
    "Mean": _mean,
    "Max": _many(mnp.maximum),
    "Min": _many(mnp.minimum),
    "Equal": _binary(mnp.equal),
    "Greater": _binary(mnp.greater),
    "GreaterOrEqual": _binary(mnp.greater_equal),
    "Less": _binary(mnp.less),
    "LessOrEqual": _binary(mnp.less_equal),
    "And": _logic(mnp.bitwise_and),
    "Or": _logic(mnp.bitwise_or),
    "Xor": _logic(mnp.bitwise_xor),
    "Not": lambda call, x: mnp.logical_not(x),
    "BitwiseAnd": _binary(mnp.bitwise_and),
    "BitwiseOr": _binary(mnp.bitwise_or),
    "BitwiseXor": _binary(mnp.bitwise_xor),
    "BitwiseNot": lambda call, x: mnp.bitwise_not(x),
    "BitShift": _shift,
    "Where": _where,
    "MatMul": _matmul,
    "Gemm": _gemm,
    "Einsum": _einsum,
    "PRelu": _prelu,
    "Det": _det,
}
