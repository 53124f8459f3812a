"""BatchNorm, LayerNorm and softmax of real sizes on a GPU, against float64 on the host."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, gluon, nd

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(300)]

GPU = mx.gpu(0)
# Round-off of results of the size of 1: of the output's type, and of sums in float32.
TOLERANCE = {"float32": 2e-5, "float16": 2e-3, "bfloat16": 1.6e-2}
LARGE = [(64, 64, 112, 112), (64, 2048, 7, 7)]


def draw(shape: Any, dtype: str, seed: int) -> Any:
    """Return random numbers that the type holds exactly."""
    kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)
    made = np.random.default_rng(seed).standard_normal(shape, np.float32)
    return made.astype(kind)


def batch_norm(data: Any, grad: Any, gamma: Any, beta: Any) -> list[Any]:
    """Return output, moving statistics and gradients as float64 arrays."""
    x = nd.array(data, ctx=GPU, dtype=data.dtype)
    g, b = (nd.array(a, ctx=GPU, dtype="float32") for a in (gamma, beta))
    mean, var = nd.zeros(g.shape, ctx=GPU), nd.ones(g.shape, ctx=GPU)
    for a in (x, g, b):
        a.attach_grad()
    with autograd.record():
        y = nd.BatchNorm(x, g, b, mean, var, fix_gamma=False, eps=1e-5, momentum=0.9)
    y.backward(nd.array(grad, ctx=GPU, dtype=grad.dtype))
    return [a.asnumpy() for a in (y, mean, var, x.grad, g.grad, b.grad)]


def exact_batch_norm(data: Any, grad: Any, gamma: Any, beta: Any) -> list[Any]:
    """Return the same in float64, a channel at a time."""
    x, g = data.astype(np.float64), grad.astype(np.float64)
    axes, shape = (0, 2, 3), (1, -1, 1, 1)
    mean, var = x.mean(axis=axes), x.var(axis=axes)
    inverse = 1 / np.sqrt(var + 1e-5)
    x -= mean.reshape(shape)
    x *= inverse.reshape(shape)
    y = x * gamma.reshape(shape) + beta.reshape(shape)
    d_beta, d_gamma = g.sum(axis=axes), (g * x).sum(axis=axes)
    count = x.size // len(mean)
    x *= (d_gamma / count).reshape(shape)
    g -= x
    g -= (d_beta / count).reshape(shape)
    g *= (gamma * inverse).reshape(shape)
    return [y, 0.1 * mean, 0.9 + 0.1 * var, g, d_gamma, d_beta]


@pytest.mark.parametrize("dtype", sorted(TOLERANCE))
@pytest.mark.parametrize("shape", LARGE, ids=["112x112", "7x7"])
def test_large_batch_norm_against_float64(shape: Any, dtype: str) -> None:
    data, grad = draw(shape, dtype, 1), draw(shape, dtype, 2)
    channels = np.random.default_rng(3).uniform(0.5, 1.5, (2, shape[1])).astype(np.float32)
    found = batch_norm(data, grad, *channels)
    wanted = exact_batch_norm(data, grad, *channels)
    for number, (got, want) in enumerate(zip(found, wanted, strict=True)):
        near = TOLERANCE[dtype] if number in (0, 3) else 2e-5
        scale = np.abs(want).max()
        assert np.abs(got.astype(np.float64) - want).max() <= near * scale, number


def test_equal_runs_of_batch_norm_give_equal_bits() -> None:
    shape = (64, 64, 112, 112)
    data, grad = draw(shape, "float16", 1), draw(shape, "float16", 2)
    channels = np.random.default_rng(3).uniform(0.5, 1.5, (2, shape[1])).astype(np.float32)
    first = batch_norm(data, grad, *channels)
    for a, b in zip(first, batch_norm(data, grad, *channels), strict=True):
        np.testing.assert_array_equal(a.view(np.uint8), b.view(np.uint8))


def test_a_large_mean_costs_no_digits_of_the_variance() -> None:
    data = draw((32, 8, 56, 56), "float32", 1) + np.float32(1000)
    ones = np.ones(8, np.float32)
    _, _, var, *_ = batch_norm(data, data, ones, ones)
    exact = data.astype(np.float64).var(axis=(0, 2, 3))
    np.testing.assert_allclose(var, 0.9 + 0.1 * exact, rtol=1e-6)


def test_layer_norm_and_softmax_of_real_sizes() -> None:
    data = draw((32 * 128, 768), "float32", 1)
    x = nd.array(data, ctx=GPU)
    exact = data.astype(np.float64)
    centred = exact - exact.mean(axis=1, keepdims=True)
    want = centred / np.sqrt(exact.var(axis=1, keepdims=True) + 1e-5)
    ones, zeros = nd.ones(768, ctx=GPU), nd.zeros(768, ctx=GPU)
    np.testing.assert_allclose(nd.LayerNorm(x, ones, zeros).asnumpy(), want, rtol=1e-4, atol=1e-5)
    powers = np.exp(exact - exact.max(axis=1, keepdims=True))
    want = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(nd.softmax(x).asnumpy(), want, rtol=1e-5)
    long = nd.array(draw((8, 50000), "float32", 2), ctx=GPU)
    total = np.exp(nd.log_softmax(long).asnumpy().astype(np.float64)).sum(axis=1)
    np.testing.assert_allclose(total, 1, rtol=1e-5)


def _network() -> Any:
    net = gluon.nn.HybridSequential()
    for _ in range(2):
        net.add(gluon.nn.Conv2D(16, 3, padding=1, use_bias=False, in_channels=16))
        net.add(gluon.nn.BatchNorm(in_channels=16), gluon.nn.Activation("relu"))
    net.add(gluon.nn.Dropout(0.3), gluon.nn.Flatten(), gluon.nn.Dense(300, in_units=16 * 144))
    net.add(gluon.nn.GELU(), gluon.nn.LayerNorm(in_channels=300), gluon.nn.Swish())
    net.initialize(mx.init.Xavier(), ctx=GPU)
    return net


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_fused_graphs_equal_unfused(dtype: str) -> None:
    mx.random.seed(1)
    net = _network()
    net.cast(dtype)
    x = nd.array(draw((8, 16, 12, 12), dtype, 1), ctx=GPU, dtype=dtype)
    results = []
    for fused in (False, True):
        if fused:
            net.hybridize(static_alloc=True)
        for _ in range(2):  # moving statistics move alike before the second
            mx.random.seed(7)
            with autograd.record():
                y = net(x)
                loss = (y * y).mean()
            loss.backward()
        found = [p.grad() for p in net.collect_params().values() if p.grad_req != "null"]
        results.append([a.asnumpy().astype(np.float64) for a in (y, *found)])
    for number, (a, b) in enumerate(zip(*results, strict=True)):
        near = 1e-4 if dtype == "float32" else 3e-2
        assert np.linalg.norm(a - b) <= near * max(float(np.linalg.norm(a)), 1e-3), number
