"""LayerNorm of a sum behind Dropout: kernels against float64 and the separate ones, and layers."""

import math
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.config import (
    MXNET_BACKWARD_DO_MIRROR,
    MXNET_DISABLED_GRAPH_PASSES,
    MXNET_ENABLE_CUDA_GRAPHS,
    MXNET_GPU_WORKER_NSTREAMS,
)
from gluonish.core.dtype import BFLOAT16
from gluonish.ops.nn.dropout import DROPOUT
from gluonish.ops.normalization.add_layer_norm import ADD_LAYER_NORM, BACKWARD_SUMS
from gluonish.ops.normalization.layer_norm import LAYER_NORM, LAYER_NORM_BACKWARD
from tests.checking.values import KEY, spec_of
from tests.kernels.cupy.install import gpu_contexts
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.one_device import COMPILED, DTYPES, OneDevice

pytestmark = [COMPILED, pytest.mark.timeout(180)]

SIZES = [1, 7, 30, 64, 768, 1024, 4096, 10000, 10001]
P = 0.3


def values(count: int, shape: Any, dtype: Any) -> list[Any]:
    random = np.random.default_rng(3)
    return [(random.standard_normal(shape) + 0.5).astype(dtype) for _ in range(count)]


def rounded_sum(one: Any, other: Any) -> Any:
    """Return the sum, rounded as an operator rounds it."""
    return (one.astype(np.float64) + other.astype(np.float64)).astype(one.dtype)


def factors(device: OneDevice, like: Any, p: float) -> Any:
    """Return the factors of Dropout's own kernel."""
    return device.run(DROPOUT, like, p=p, mode="always")[1]


@pytest.mark.parametrize("dtype", [np.float16, BFLOAT16, np.float32])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("p", [0.0, P])
def test_bits_are_those_of_the_separate_kernels(
    device: OneDevice, size: int, dtype: Any, p: float
) -> None:
    data, residual, grad, other, plus = values(5, (3, 2, size), dtype)
    kind = np.float32 if size == 768 else dtype
    gamma, beta = values(2, (size,), kind)
    mask = factors(device, data, p) if p else np.ones_like(data)
    dropped = device.run(DROPOUT, data, p=p, mode="always")[0] if p else data
    out, total, mean, std, *drawn = device.run(ADD_LAYER_NORM, data, residual, gamma, beta, p=p)
    np.testing.assert_array_equal(total, rounded_sum(dropped, residual))
    for got, want in zip((out, mean, std), device.run(LAYER_NORM, total, gamma, beta), strict=True):
        np.testing.assert_array_equal(got, want)
    for two in (False, True):
        for add in (False, True):
            head = rounded_sum(grad, other) if two else grad
            expected = device.run(LAYER_NORM_BACKWARD, head, total, gamma, mean, std)
            if add:
                expected[0] = rounded_sum(expected[0], plus)
            if p:
                expected.append((expected[0].astype(np.float64) * mask).astype(dtype))
            given = [grad, *([other] * two), total, *([plus] * add), gamma, mean, std, *drawn]
            found = device.run(BACKWARD_SUMS, *given, two=two, plus=add, p=p)
            for got, want in zip(found, expected, strict=True):
                np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES)
def test_values_are_those_of_float64(device: OneDevice, size: int, dtype: Any) -> None:
    data, residual, grad, plus = values(4, (5, size), dtype)
    gamma, beta = values(2, (size,), dtype)
    mask = factors(device, data, P).astype(np.float64)
    out, total, mean, std, drawn = device.run(ADD_LAYER_NORM, data, residual, gamma, beta, p=P)
    found = device.run(
        BACKWARD_SUMS, grad, total, plus, gamma, mean, std, drawn, plus=True, p=P, eps=1e-5
    )
    x, g, slope = (a.astype(np.float64) for a in (total, grad, gamma))
    wide = data.astype(np.float64) * mask + residual.astype(np.float64)
    deviation = np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)
    normal = (x - x.mean(axis=-1, keepdims=True)) / deviation
    scaled = g * slope
    inner = scaled - scaled.mean(-1, keepdims=True)
    inner -= normal * (scaled * normal).mean(-1, keepdims=True)
    of_sum = inner / deviation + plus.astype(np.float64)
    expected = (normal * slope + beta, wide, of_sum, (g * normal).sum(0), g.sum(0), of_sum * mask)
    tolerance = {2: 4e-2, 4: 2e-5, 8: 1e-11}[np.dtype(dtype).itemsize]
    for got, want in zip((out, total, *found), expected, strict=True):
        limit = tolerance * max(1, np.abs(want).max())
        np.testing.assert_allclose(got.astype(np.float64), want, rtol=0, atol=limit)


@pytest.mark.parametrize("size", [64, 1200, 30522])
@pytest.mark.parametrize("dtype", [BFLOAT16, np.float32])
def test_arrays_may_begin_at_any_address(device: OneDevice, dtype: Any, size: int) -> None:
    data, residual, grad, other, plus = values(5, (4, size), dtype)
    gamma, beta = values(2, (size,), dtype)
    _, total, mean, std, drawn = wanted = device.run(
        ADD_LAYER_NORM, data, residual, gamma, beta, p=P
    )
    flags = {"two": True, "plus": True}
    given = (grad, other, total, plus, gamma, mean, std, drawn)
    back = device.run(BACKWARD_SUMS, *given, p=P, **flags)
    for op, inputs, results in (
        (ADD_LAYER_NORM, (data, residual, gamma, beta), wanted),
        (BACKWARD_SUMS, given, back),
    ):
        attrs = op.schema.parse(op.name, {"p": P, **(flags if op is BACKWARD_SUMS else {})})
        if op is ADD_LAYER_NORM:
            attrs = {**attrs, "key": KEY}
        kernel = op.select_kernel("gpu", [spec_of(x) for x in inputs], attrs)
        outputs = [shifted(device, np.zeros_like(x), i % 2) for i, x in enumerate(results)]
        kernel(device.cupy, tuple(outputs), *map_shifted(device, inputs), **attrs)
        for found, want in zip(outputs, results, strict=True):
            exact, got = want.astype(np.float64), found._raw.astype(np.float64)
            tolerance = 0 if size < 8192 else 2e-2 if np.dtype(dtype).itemsize == 2 else 1e-5
            limit = tolerance * np.abs(exact).max()
            np.testing.assert_allclose(got, exact, rtol=0, atol=limit)


def shifted(device: OneDevice, array: Any, by: int) -> Any:
    """Return an array whose first element is ``by`` elements behind a multiple of 16 bytes."""
    made = device.upload(np.zeros(array.size + by, array.dtype))[by:].reshape(array.shape)
    made._raw[...] = array
    return made


def map_shifted(device: OneDevice, arrays: Any) -> list[Any]:
    return [shifted(device, x, i % 3) for i, x in enumerate(arrays)]


def test_launches(device: OneDevice) -> None:
    data, residual, grad, other, plus = values(5, (4, 600, 40), np.float32)
    gamma, beta = values(2, (40,), np.float32)
    assert device.launches_of(ADD_LAYER_NORM, data, residual, gamma, beta, p=P) == 1
    _, total, mean, std, drawn = device.run(ADD_LAYER_NORM, data, residual, gamma, beta, p=P)
    given = (grad, other, total, plus, gamma, mean, std, drawn)
    assert device.launches_of(BACKWARD_SUMS, *given, two=True, plus=True, p=P) == 3


_UNITS = 32


class Layer(mx.gluon.HybridBlock):
    """Two blocks with a shortcut each, normalized after the sum as in BERT, or before the block."""

    def __init__(self, first: bool, dropout: float) -> None:
        super().__init__()
        nn = mx.gluon.nn
        self.first = first
        self.one = nn.Dense(_UNITS, flatten=False, in_units=_UNITS)
        self.two = nn.Dense(_UNITS, flatten=False, in_units=_UNITS)
        self.norms = nn.HybridSequential()
        for _ in range(3):
            self.norms.add(nn.LayerNorm(in_channels=_UNITS))
        self.drop = nn.Dropout(dropout)

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # Gluon's name
        if self.first:
            x = x + self.drop(self.one(self.norms[0](x)))
            x = x + self.drop(self.two(self.norms[1](x)))
            return self.norms[2](x)
        x = self.norms[0](x + self.drop(self.one(x)))
        x = self.norms[1](self.drop(self.two(x)) + x)
        return x * self.norms[2](x)


def layer(dtype: str, first: bool, dropout: float, **options: Any) -> Any:
    """Return a hybridized layer on a GPU with weights that are always the same."""
    mx.random.seed(3)
    net = Layer(first, dropout)
    net.initialize(mx.init.Normal(0.3), ctx=mx.gpu(0))
    net.cast(dtype)
    net.hybridize(**options)
    return net


_STATIC = {"static_alloc": True, "static_shape": True}


def run(net: Any, steps: int = 4, dtype: str = "bfloat16", req: str = "write") -> list[Any]:
    """Return outputs, and gradients of data and parameters, of some steps."""
    found = []
    random = np.random.default_rng(7)
    mx.random.seed(9)
    parameters = net.collect_params().values()
    for parameter in parameters:
        parameter.grad_req = req
    factors = nd.array(random.standard_normal((3, 5, _UNITS)), ctx=mx.gpu(0)).astype(dtype)
    x = nd.array(random.standard_normal((3, 5, _UNITS)), ctx=mx.gpu(0)).astype(dtype)
    x.attach_grad(grad_req=req)
    for _ in range(steps):
        with autograd.record():
            y = net(x)
            loss = (y * factors).sum()
        loss.backward()
        arrays = (y, x.grad, *[p.grad() for p in parameters])
        found.append([a.astype("float32").asnumpy() for a in arrays])
    return found


def same(got: Any, want: Any) -> None:
    for ours, theirs in zip(got, want, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(a, b)


_OFF = frozenset({"fuse_add_layer_norm", "fuse_gradient_sum"})


@pytest.mark.parametrize("streams", [1, 2])
@pytest.mark.parametrize("graphs", [False, True])
@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_layers_have_the_same_bits_without_the_passes(
    machine: Machine, dtype: str, first: bool, graphs: bool, streams: int
) -> None:
    with (
        MXNET_GPU_WORKER_NSTREAMS.override(streams),
        MXNET_ENABLE_CUDA_GRAPHS.override(graphs),
        gpu_contexts(machine, "ThreadedEnginePerDevice"),
    ):
        found = run(layer(dtype, first, P, **_STATIC), dtype=dtype)
        same(found, run(layer(dtype, first, P, **_STATIC), dtype=dtype))
        with MXNET_DISABLED_GRAPH_PASSES.override(_OFF):
            same(found, run(layer(dtype, first, P, **_STATIC), dtype=dtype))
        assert not np.array_equal(found[0][0], found[1][0])


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("mirror", [False, True])
@pytest.mark.parametrize("req", ["write", "add"])
def test_modes(gpu: Machine, first: bool, mirror: bool, req: str) -> None:
    with MXNET_BACKWARD_DO_MIRROR.override(mirror):
        found = run(layer("float32", first, P), dtype="float32", req=req)
    with MXNET_DISABLED_GRAPH_PASSES.override(_OFF):
        same(found, run(layer("float32", first, P), dtype="float32", req=req))


@pytest.mark.parametrize("first", [False, True])
def test_without_dropout_and_in_inference(gpu: Machine, first: bool) -> None:
    def outputs() -> list[Any]:
        net = layer("bfloat16", first, P)
        x = nd.array(np.random.default_rng(1).standard_normal((3, 5, _UNITS)), ctx=mx.gpu(0))
        out = net(x.astype("bfloat16")).astype("float32").asnumpy()
        return [[out], *run(layer("bfloat16", first, 0.0))]

    found = outputs()
    with MXNET_DISABLED_GRAPH_PASSES.override(_OFF):
        same(found, outputs())


@pytest.mark.parametrize("first", [False, True])
def test_layers_need_fewer_launches(gpu: Machine, first: bool) -> None:
    def launches() -> int:
        net = layer("bfloat16", first, P, **_STATIC)
        run(net)
        before = gpu.counts.launches
        run(net, steps=1)
        return gpu.counts.launches - before

    with MXNET_ENABLE_CUDA_GRAPHS.override(False):
        fused = launches()
        with MXNET_DISABLED_GRAPH_PASSES.override(_OFF):
            separate = launches()
    assert separate - fused == 5


def test_symbol_executors(gpu: Machine) -> None:
    def outputs() -> list[Any]:
        x, y = mx.sym.Variable("x"), mx.sym.Variable("y")
        total = mx.sym.Dropout(x, p=P) + y
        out = mx.sym.LayerNorm(total, name="norm") * 2 + total
        bound = out.simple_bind(mx.gpu(0), x=(4, 40), y=(4, 40))
        random = np.random.default_rng(5)
        for array in bound.arg_arrays:
            array[:] = random.standard_normal(array.shape)
        mx.random.seed(1)
        bound.forward(is_train=True)
        bound.backward(nd.array(random.standard_normal((4, 40)), ctx=mx.gpu(0)))
        return [[a.asnumpy() for a in (*bound.outputs, *bound.grad_arrays)]]

    found = outputs()
    with MXNET_DISABLED_GRAPH_PASSES.override(_OFF):
        same(found, outputs())
    assert math.isfinite(found[0][0].sum())
