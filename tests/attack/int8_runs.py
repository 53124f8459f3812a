"""Layers on bytes at random against float64: shapes, windows, groups, layouts, saturation, NaN.

Expectations are sums of products written out here, not the reference kernels.
"""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.spec import Spec
from gluonish.kernels.onednn import register
from gluonish.kernels.onednn.register_int8 import KERNELS
from gluonish.ops.kernel import RefusedError
from gluonish.ops.quantization.layers import INT8_CONVOLUTION, INT8_DENSE
from gluonish.ops.quantization.range_preserving import INT8_POOLING
from gluonish.ops.quantization.scales import INT8_QUANTIZE
from gluonish.ops.registry import Operator

Array = np.ndarray[Any, Any]
Case = tuple[Operator, list[Array], dict[str, Any], Array]

_FUNCTIONS = {
    None: lambda x, a, b: x,
    "relu": lambda x, a, b: np.maximum(x, 0),
    "leaky": lambda x, a, b: np.where(x > 0, x, a * x),
    "clip": lambda x, a, b: np.clip(x, a, b),
    "tanh": lambda x, a, b: np.tanh(x),
}


class _Source:
    """Random numbers of one run."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def one(self, *choices: Any) -> Any:
        return choices[int(self.random.integers(len(choices)))]

    def upto(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    def bytes(self, dtype: Any, shape: Sequence[int]) -> Array:
        limits = np.iinfo(dtype)
        if self.one(
            True, False, False, False
        ):  # all at an end, so that sums are as large as can be
            return np.full(shape, self.one(limits.min, limits.max), dtype)
        return self.random.integers(limits.min, limits.max + 1, tuple(shape)).astype(dtype)


def _windows(x: Array, kernel: Sequence[int], attrs: dict[str, Any], fill: float) -> Array:
    """Return the windows of an image: (N, C, *windows, *kernel)."""
    pad, stride, dilate = attrs["pad"], attrs["stride"], attrs["dilate"]
    x = np.pad(x.astype(np.float64), [(0, 0), (0, 0), *((p, p) for p in pad)], constant_values=fill)
    counts = [
        (x.shape[2 + i] - (k - 1) * dilate[i] - 1) // stride[i] + 1 for i, k in enumerate(kernel)
    ]
    found = np.empty((*x.shape[:2], *counts, *kernel))
    for place in itertools.product(*map(range, kernel)):
        rows = tuple(
            slice(p * d, p * d + (n - 1) * s + 1, s)
            for p, d, n, s in zip(place, dilate, counts, stride, strict=True)
        )
        whole: Any = (slice(None), slice(None), *rows)
        at: Any = (..., *place)
        found[at] = x[whole]
    return found


def _finished(sums: Array, inputs: Sequence[Array], attrs: dict[str, Any], axis: int) -> Array:
    """Return what becomes of sums of products, before it is rounded."""
    along = [1] * sums.ndim
    along[axis] = -1
    scale, bias, step = (x.astype(np.float64) for x in inputs[2:5])
    value = sums * scale.reshape(along) + bias.reshape(along)
    if attrs["with_sum"]:
        value = value + inputs[5]
    function = _FUNCTIONS[attrs["activation"]]
    return np.asarray(function(value, attrs["alpha"], attrs["beta"]) / step)


def _factors(source: _Source, channels: int, fan: int, out_type: str) -> list[Array]:
    size = source.one(1.0, 1.0, 1e-6, 1e6)  # of the result: rounds to 0, or saturates
    scale = source.random.uniform(0.2, 2, channels) * size / (127.0 * 127 * np.sqrt(max(fan, 1)))
    if source.one(True, False, False):
        scale[source.upto(0, channels - 1)] = 0
    bias = source.random.uniform(-1, 1, channels) * source.one(0, 1)
    step = 1.0 if out_type == "float32" else source.one(0.01, 0.5)
    return [x.astype(np.float32) for x in (scale, bias, np.array([step]))]


def _rest(source: _Source, shape: Sequence[int], attrs: dict[str, Any]) -> list[Array]:
    """Choose what follows a layer, and return what is added to it."""
    attrs["activation"] = source.one(*_FUNCTIONS)
    attrs["alpha"], attrs["beta"] = source.one((0.0, 6.0), (0.25, 0.5))
    attrs["with_sum"] = source.one(True, False)
    return [source.bytes(source.one("int8", "uint8"), shape)] if attrs["with_sum"] else []


def _convolution(source: _Source) -> Case:
    rank = source.one(1, 2, 2, 2, 3)
    groups = source.one(1, 1, 1, 2, 3)
    depthwise = source.one(True, False, False)
    each = 1 if depthwise else source.upto(1, 9)
    groups = source.upto(1, 17) if depthwise else groups
    channels = groups * source.upto(1, 1 if depthwise else 7)
    kernel = tuple(source.upto(1, 3) for _ in range(rank))
    attrs = {**INT8_CONVOLUTION.schema.defaults, "num_filter": channels, "num_group": groups}
    attrs["kernel"] = kernel
    for word, low, high in (("stride", 1, 3), ("dilate", 1, 2), ("pad", 0, 2)):
        attrs[word] = tuple(source.upto(low, high) for _ in range(rank))
    size = [source.upto(1, 9) + (k - 1) * d for k, d in zip(kernel, attrs["dilate"], strict=True)]
    data = source.bytes(source.one("int8", "uint8"), (source.upto(1, 3), groups * each, *size))
    weight = source.bytes("int8", (channels, each, *kernel))
    attrs["out_type"] = source.one("float32", "int8", "uint8", "int32")
    windows = _windows(data, kernel, attrs, 0)
    counts = windows.shape[2 : 2 + rank]
    split = windows.reshape(len(data), groups, each, *counts, *kernel)
    rows = weight.astype(np.float64).reshape(groups, channels // groups, each, *kernel)
    axes = "xyz"[:rank]
    inner = "uvw"[:rank]
    sums = np.einsum(f"ngc{axes}{inner},gkc{inner}->ngk{axes}", split, rows)
    sums = sums.reshape(len(data), channels, *counts)
    fan = each * int(np.prod(kernel))
    inputs = [data, weight, *_factors(source, channels, fan, attrs["out_type"])]
    inputs += _rest(source, sums.shape, attrs)
    return INT8_CONVOLUTION, inputs, attrs, _finished(sums, inputs, attrs, 1)


def _dense(source: _Source) -> Case:
    units = source.upto(1, 37)
    lead = [source.upto(1, 5) for _ in range(source.upto(1, 2))]
    features = source.upto(1, 70)
    attrs = {**INT8_DENSE.schema.defaults, "num_hidden": units, "flatten": False}
    attrs["out_type"] = source.one("float32", "int8", "uint8", "int32")
    data = source.bytes(source.one("int8", "uint8"), (*lead, features))
    weight = source.bytes("int8", (units, features))
    sums = data.astype(np.float64) @ weight.astype(np.float64).T
    inputs = [data, weight, *_factors(source, units, features, attrs["out_type"])]
    inputs += _rest(source, sums.shape, attrs)
    return INT8_DENSE, inputs, attrs, _finished(sums, inputs, attrs, sums.ndim - 1)


def _pooling(source: _Source) -> Case:
    rank = source.one(1, 2, 2, 3)
    kernel = tuple(source.upto(1, 3) for _ in range(rank))
    attrs = {
        **INT8_POOLING.schema.defaults,
        "kernel": kernel,
        "pool_type": source.one("max", "avg"),
    }
    attrs["stride"] = tuple(source.upto(1, 3) for _ in range(rank))
    attrs["pad"] = tuple(source.upto(0, (k - 1) // 2) for k in kernel)
    if attrs["pool_type"] == "avg":
        attrs["count_include_pad"] = source.one(True, False)
    size = [source.upto(0, 7) + k for k in kernel]
    shape = (source.upto(1, 2), source.upto(1, 19), *size)
    data = source.bytes(source.one("int8", "uint8"), shape)
    geometry = {**attrs, "dilate": (1,) * rank}
    axes = tuple(range(-rank, 0))
    if attrs["pool_type"] == "max":
        return INT8_POOLING, [data], attrs, _windows(data, kernel, geometry, -1000).max(axis=axes)
    total = _windows(data, kernel, geometry, 0).sum(axis=axes)
    ones = _windows(np.ones(shape), kernel, geometry, 0).sum(axis=axes)
    return (
        INT8_POOLING,
        [data],
        attrs,
        total / (ones if attrs["count_include_pad"] is False else np.prod(kernel)),
    )


def _quantize(source: _Source) -> Case:
    shape = [source.upto(1, 9) for _ in range(source.upto(1, 4))]
    data = source.random.standard_normal(shape) * source.one(1, 1e-30, 1e30, 0)
    for number in (np.nan, np.inf, -np.inf, 3.4e38, -3.4e38, 0.5, -0.5, 1e-45):
        if source.one(True, False):
            data.reshape(-1)[source.upto(0, data.size - 1)] = number
    data = data.astype(np.float32)
    scale = np.array([source.one(1, 63.7, 1e-30, 1e30, 127.5)], np.float32)
    attrs = {"out_type": source.one("int8", "uint8")}
    with np.errstate(all="ignore"):
        product = (data * scale).astype(np.float64)  # float32, as the operator's help says
    # NaN has no byte of its own: 0 in the reference kernel, the largest in oneDNN's int8.
    return INT8_QUANTIZE, [data, scale], attrs, product


KINDS = (_convolution, _dense, _pooling, _quantize)


def _last(array: Array) -> Array:
    """Return a copy with channels last in memory."""
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 1, -1)), -1, 1)


def _by_kernel(case: Case, out: Array, source: _Source) -> Array | None:
    """Return what oneDNN makes of a case; None where it refuses it."""
    if not register.enabled():
        return None
    op, inputs, attrs, _ = case
    kernel: Any = next(kernel for own, kernel in KERNELS if own is op)
    if source.one(True, False) and out.ndim > 2:
        inputs = [_last(x) if i in (0, 5) else x for i, x in enumerate(inputs)]
        out = _last(out)
    try:
        bound = kernel.plan((out,), inputs, attrs)
    except RefusedError:
        return None
    arrays = (out, *inputs)
    used = range(len(arrays)) if bound.operands is None else bound.operands
    bound.plan.run(*(arrays[i] for i in used))
    return out


def _differs(found: Array, expected: Array) -> str:
    """Return how far a result is from what it should be; nothing if it is near enough."""
    if found.shape != expected.shape:
        return f"shape {found.shape}, expected {expected.shape}"
    if found.dtype == np.float32:
        near = np.isclose(found, expected, rtol=1e-5, atol=1e-4 * np.abs(expected).max(initial=1))
        return "" if near.all() else f"off by {np.abs(found - expected).max()}"
    limits = np.iinfo(found.dtype)
    expected = np.where(np.isnan(expected), found, expected)
    rounded = np.clip(np.rint(expected), limits.min, limits.max)
    # float32 rounds sums: halves may go to the other side, and large numbers have fewer digits.
    allowed = 0.5 + 1e-3 + np.abs(expected) * 2e-6
    off = np.abs(found.astype(np.float64) - np.clip(expected, limits.min, limits.max))
    return "" if (off <= allowed).all() else f"off by {np.abs(found - rounded).max()}"


def fault(seed: int) -> str:
    """Return what is wrong with the layer of a seed; nothing if reference and oneDNN hold."""
    source = _Source(seed)
    case = KINDS[seed % len(KINDS)](source)
    op, inputs, attrs, expected = case
    (spec,) = op.infer(*(Spec(x.shape, x.dtype) for x in inputs), **attrs)
    reference = np.empty(spec.shape, spec.dtype)
    op.kernel(np, reference, *inputs, **attrs)
    words = [f"reference: {_differs(reference, expected)}"] if _differs(reference, expected) else []
    found = _by_kernel(case, np.empty(spec.shape, spec.dtype), source)
    if found is not None and _differs(found, expected):
        words.append(f"oneDNN: {_differs(found, expected)}")
    shapes = [f"{x.dtype}{x.shape}" for x in inputs]
    return f"{op.name} {shapes} {attrs}: {'; '.join(words)}" if words else ""
