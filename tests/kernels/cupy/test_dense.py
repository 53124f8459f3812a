"""Dense layers on the double: one launch with a bias, gradients, and separate kernels."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.config import (
    GLUONISH_CUBLASLT,
    MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION,
    MXNET_ENABLE_CUDA_GRAPHS,
)
from gluonish.kernels.cupy.dense import fully_connected, weight_and_bias_gradient
from gluonish.ops.nn.dense import FULLY_CONNECTED, FULLY_CONNECTED_BACKWARD_WEIGHT_BIAS
from tests.kernels.cupy.arrays import Array, allocate
from tests.kernels.cupy.install import gpu_contexts
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.one_device import COMPILED, DTYPES, OneDevice

pytestmark = COMPILED
LIMITS = {"float16": 4e-3, "bfloat16": 2e-2, "float32": 1e-5, "float64": 1e-12}
STATIC = {"static_alloc": True, "static_shape": True}


def _close(got: Any, expected: Any, dtype: Any) -> None:
    limit = LIMITS[np.dtype(dtype).name]
    scale = np.abs(expected).max(initial=1)
    np.testing.assert_allclose(got.astype(np.float64), expected, rtol=limit, atol=limit * scale)


def _wide(x: Array) -> Any:
    return x._raw.astype(np.float64)


def _dense(device: OneDevice, x: Array, w: Array, b: Array | None, **attrs: Any) -> Any:
    """Return the layer's output, after holding it to NumPy's."""
    units = w.shape[0]
    rows = x.size // w.shape[1]
    out = allocate(device.machine, (rows, units), x.dtype)
    fully_connected(device.cupy, out, x, w, b, num_hidden=units, **attrs)
    expected = _wide(x).reshape(rows, -1) @ _wide(w).T
    if b is not None:
        expected = expected + _wide(b).reshape(-1)
    if attrs.get("activation"):
        expected = np.maximum(expected, 0)
    _close(out._raw, expected, x.dtype)
    return out._raw.copy()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("units", [8, 4, 5, 1])
@pytest.mark.parametrize("activation", [None, "relu"])
def test_a_layer_with_a_bias_is_one_launch(
    device: OneDevice, dtype: Any, units: int, activation: str | None
) -> None:
    x, w, b = (device.normal(*n, dtype=dtype) for n in ((3, 7), (units, 7), (units,)))
    _dense(device, x, w, b, activation=activation)
    assert device.launches == 1
    wanted = "BIAS" if activation is None else "RELU_BIAS"
    assert device.machine.cublaslt.epilogues == [wanted]  # type: ignore[attr-defined]


def test_relu_without_a_bias_is_one_launch(device: OneDevice) -> None:
    _dense(device, device.normal(3, 7), device.normal(4, 7), None, activation="relu")
    assert device.launches == 1


@pytest.mark.parametrize("offset", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("dtype", DTYPES)
def test_unaligned_views_are_read_where_they_lie(
    device: OneDevice, dtype: Any, offset: int
) -> None:
    x = device.normal(6, 24, dtype=dtype)[:, offset : offset + 8]
    w, b = device.normal(5, 8, dtype=dtype), device.normal(40, dtype=dtype)[offset : offset + 5]
    _dense(device, x, w, b)
    assert device.launches == 1


def test_a_transposed_view_is_read_where_it_lies(device: OneDevice) -> None:
    _dense(device, device.normal(7, 3).T, device.normal(7, 4).T, device.normal(4))
    assert device.launches == 1


@pytest.mark.parametrize("flatten", [True, False])
@pytest.mark.parametrize("shape", [(2, 3, 4), (0, 3, 4), (5, 1, 4), (2, 3, 1)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_operator_is_the_reference(
    device: OneDevice, dtype: Any, shape: Any, flatten: bool
) -> None:
    random = np.random.default_rng(4)
    features = int(np.prod(shape[1:])) if flatten else shape[-1]
    x, w, b = (random.standard_normal(n).astype(dtype) for n in (shape, (6, features), (6,)))
    for bias in ([b], [b[:, None]], []):
        attrs = {"num_hidden": 6, "flatten": flatten, "no_bias": not bias}
        device.check(FULLY_CONNECTED, x, w, *bias, **attrs)


def test_a_bias_is_rounded_with_the_product(device: OneDevice) -> None:
    x, w = (device.upload(np.full((1, 1), value, np.float16)) for value in (2048, 1))
    b = device.upload(np.ones(1, np.float16))  # 2049 lies between two numbers of float16
    assert _dense(device, x, w, b)[0, 0] == 2048
    x = device.upload(np.array([[2048, 0.5]], np.float16))
    w = device.upload(np.array([[1, 1]], np.float16))
    assert _dense(device, x, w, b)[0, 0] == 2050


@pytest.mark.parametrize("way", ["refuses", "fails", "flag"])
@pytest.mark.parametrize("activation", [None, "relu"])
def test_without_an_algorithm_kernels_are_separate(
    device: OneDevice, way: str, activation: str | None
) -> None:
    x, w, b = device.normal(3, 7), device.normal(5, 7), device.normal(5)
    wanted = _dense(device, x, w, b, activation=activation)
    before = device.launches
    current: Any = device.machine.cublaslt  # type: ignore[attr-defined]
    y, v = device.normal(4, 7), device.normal(6, 7)
    with GLUONISH_CUBLASLT.override(way != "flag"):
        if way != "flag":
            getattr(current, way).update(("BIAS", "RELU_BIAS"))
        for _ in range(2):
            _dense(device, y, v, device.normal(6), activation=activation)
    assert device.launches - before == 2 * (2 + (activation is not None))
    tried = current.calls.count("cublasLtMatmul")
    assert tried == 1 + (way == "fails"), "what was refused is not tried again"
    current.refuses.clear()
    current.fails.clear()
    np.testing.assert_array_equal(_dense(device, x, w, b, activation=activation), wanted)


def test_float32_is_rounded_where_that_is_allowed(device: OneDevice) -> None:
    x, w, b = device.normal(3, 7), device.normal(5, 7), device.normal(5)
    out = allocate(device.machine, (3, 5), np.float32)
    with MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION.override(True):
        fully_connected(device.cupy, out, x, w, b, num_hidden=5)
    _dense(device, x, w, b)
    assert device.machine.cublaslt.computes == [77, 68]  # type: ignore[attr-defined]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(16, 8, 24), (5, 3, 7), (1, 1, 1), (0, 3, 4), (300, 5, 2)])
def test_gradients_of_weight_and_bias_are_the_reference(
    device: OneDevice, dtype: Any, shape: tuple[int, int, int]
) -> None:
    rows, units, features = shape
    random = np.random.default_rng(4)
    grad, data = (random.standard_normal((rows, n)).astype(dtype) for n in (units, features))
    device.check(FULLY_CONNECTED_BACKWARD_WEIGHT_BIAS, grad, data)


@pytest.mark.parametrize(("refused", "launches"), [(False, 1), (True, 2)])
def test_gradients_of_weight_and_bias_are_one_launch(
    device: OneDevice, refused: bool, launches: int
) -> None:
    grad, data = device.normal(16, 8), device.normal(16, 24)
    if refused:
        device.machine.cublaslt.refuses.add("BGRADB")  # type: ignore[attr-defined]
    weight, bias = (allocate(device.machine, n, np.float32) for n in ((8, 24), (8,)))
    weight_and_bias_gradient(device.cupy, (weight, bias), grad, data)
    _close(weight._raw, _wide(grad).T @ _wide(data), np.float32)
    _close(bias._raw, _wide(grad).sum(0), np.float32)
    assert device.launches == launches


def _network() -> Any:
    net = mx.gluon.nn.HybridSequential()
    net.add(
        mx.gluon.nn.Dense(8, activation="relu", in_units=6),
        mx.gluon.nn.Dense(4, in_units=8, flatten=False),
    )
    return net


def _step(context: mx.Context, dtype: str, hybridized: bool, calls: int = 1) -> list[np.ndarray]:
    """Return output and gradients of a small network."""
    mx.random.seed(7)
    net = _network()
    net.initialize(mx.init.Normal(0.5), ctx=mx.cpu())
    net.cast(dtype)
    net.collect_params().reset_ctx(context)
    if hybridized:
        net.hybridize(**STATIC)
    values = np.random.default_rng(2).standard_normal((16, 6))
    x = nd.array(values, context).astype(dtype)
    x.attach_grad()
    for _ in range(calls):
        with autograd.record():
            y = net(x)
        y.backward()
    found = [y, x.grad, *(p.grad() for p in net.collect_params().values())]
    return [array.asnumpy().astype(np.float64) for array in found]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("hybridized", [False, True])
def test_a_network_has_the_gradients_of_the_cpu(gpus: Any, dtype: str, hybridized: bool) -> None:
    wanted = _step(mx.cpu(), dtype, hybridized=False)
    for got, want in zip(_step(mx.gpu(0), dtype, hybridized), wanted, strict=True):
        limit = 3 * LIMITS[dtype]
        np.testing.assert_allclose(got, want, rtol=limit, atol=limit * max(1, np.abs(want).max()))


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.usefixtures("machine")
def test_a_replay_has_the_bits_of_the_first_call(dtype: str) -> None:
    found = []
    for graphs, calls in ((False, 1), (True, 6)):
        one = Machine(devices=2)
        with (
            MXNET_ENABLE_CUDA_GRAPHS.override(graphs),
            gpu_contexts(one, "ThreadedEnginePerDevice"),
        ):
            found.append(_step(mx.gpu(0), dtype, hybridized=True, calls=calls))
            assert bool(one.counts.graphs) == graphs
    for got, want in zip(found[1], found[0], strict=True):
        np.testing.assert_array_equal(got, want)


def test_streams_have_equal_bits_and_their_own_workspaces(device: OneDevice) -> None:
    x, w, b = device.normal(3, 7), device.normal(5, 7), device.normal(5)
    first = _dense(device, x, w, b)
    device.stream.synchronize()
    with device.machine.new_stream(non_blocking=True):
        np.testing.assert_array_equal(_dense(device, x, w, b), first)
