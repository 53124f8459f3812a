"""Residual, DropPath, LayerScale, GatedMLP and PatchEmbedding against their formulas."""

import math
from typing import Any, cast

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon import nn

RANDOM = np.random.default_rng(2)


def normal(*shape: int, dtype: str = "float32") -> Any:
    return mx.nd.array(RANDOM.standard_normal(shape), dtype=dtype)


def started(net: Any, hybridize: bool = False) -> Any:
    net.initialize(mx.init.Normal(0.5))
    net.hybridize(hybridize)
    return net


def hold_gradients(net: Any, x: Any) -> None:
    """Compare gradients with differences of results along a random direction, in float64."""
    net.cast("float64")
    x = x.astype("float64")
    heads = normal(*net(x).shape, dtype="float64")
    every = [x, *(p.data() for p in net.collect_params().values())]
    steps = [normal(*value.shape, dtype="float64") for value in every]
    x.attach_grad()
    with mx.autograd.record():
        loss = (net(x) * heads).sum()
    loss.backward()
    gradients = [x.grad, *(p.grad() for p in net.collect_params().values())]
    slope = sum(float((g * s).sum().asscalar()) for g, s in zip(gradients, steps, strict=True))
    losses = []
    for sign in (1, -1):
        for value, step in zip(every, steps, strict=True):
            value[:] += step * (sign * 1e-5)
        losses.append(float((net(x) * heads).sum().asscalar()))
        for value, step in zip(every, steps, strict=True):
            value[:] -= step * (sign * 1e-5)
    assert slope == pytest.approx((losses[0] - losses[1]) / 2e-5, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("hybridize", [False, True])
def test_residual_adds_its_input(hybridize: bool) -> None:
    first, second = nn.Dense(5, flatten=False, activation="relu"), nn.Dense(4, flatten=False)
    net, x = started(nn.Residual(first, second), hybridize), normal(2, 3, 4)
    found = net(x)
    np.testing.assert_allclose(found.asnumpy(), (x + second(first(x))).asnumpy(), rtol=1e-6)
    assert started(nn.Residual())(x).asnumpy() == pytest.approx(2 * x.asnumpy())
    hold_gradients(net, x)


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
def test_drop_path_zeroes_whole_samples(axis: int, hybridize: bool) -> None:
    net = started(nn.DropPath(0.4, axis), hybridize)
    x = mx.nd.array(RANDOM.uniform(1, 2, (6, 500, 2) if axis else (500, 6, 2)))
    np.testing.assert_array_equal(net(x).asnumpy(), x.asnumpy())
    results = []
    for _ in range(2):
        mx.random.seed(5)
        with mx.autograd.record():
            results.append(net(x).asnumpy())
    np.testing.assert_array_equal(*results)
    factors = np.moveaxis(results[0] / x.asnumpy(), axis, 0).reshape(500, -1)
    kept = factors[:, 0] != 0
    np.testing.assert_allclose(
        factors, np.where(kept, 1 / 0.6, 0)[:, None].repeat(12, 1), rtol=1e-6
    )
    assert 0.52 < kept.mean() < 0.68


def test_drop_path_of_nothing_is_the_identity() -> None:
    net, x = started(nn.DropPath(0.0)), normal(3, 4)
    with mx.autograd.record():
        np.testing.assert_array_equal(net(x).asnumpy(), x.asnumpy())


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize(("axis", "shape"), [(-1, (2, 5, 3)), (-3, (2, 3, 4, 5)), (-2, (3, 4))])
def test_layer_scale(axis: int, shape: tuple[int, ...], hybridize: bool) -> None:
    net = nn.LayerScale(3, axis, mx.init.Normal(1))
    started(net, hybridize)
    x, gamma = normal(*shape), net.gamma.data().asnumpy()
    wanted = x.asnumpy() * gamma.reshape(-1, *(1,) * (-1 - axis))
    np.testing.assert_allclose(net(x).asnumpy(), wanted, rtol=1e-6)
    hold_gradients(net, x)
    small = started(nn.LayerScale(3))
    np.testing.assert_allclose(small.gamma.data().asnumpy(), np.full(3, 1e-5, np.float32))


GATES: dict[str, Any] = {
    "silu": lambda x: x / (1 + np.exp(-x)),
    "gelu": lambda x: x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2,
    "gelu_tanh": lambda x: x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
    "gelu_sigmoid": lambda x: x / (1 + np.exp(-1.702 * x)),
}


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("use_bias", [False, True])
@pytest.mark.parametrize("activation", GATES)
def test_gated_mlp(activation: str, use_bias: bool, hybridize: bool) -> None:
    net = started(nn.GatedMLP(5, 6, activation, use_bias), hybridize)
    x = normal(2, 3, 4)
    found = net(x).asnumpy()
    values = net._collect_params_with_prefix()
    p = {name: value.data().asnumpy().astype(np.float64) for name, value in values.items()}
    hidden = x.asnumpy().astype(np.float64) @ p["gate_value.weight"].T
    if use_bias:
        hidden += p["gate_value.bias"]
    wanted = (GATES[activation](hidden[..., :6]) * hidden[..., 6:]) @ p["output.weight"].T
    if use_bias:
        wanted += p["output.bias"]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-5 * np.abs(wanted).max())
    hold_gradients(net, x)


def test_gated_mlp_as_feed_forward_network_of_a_layer() -> None:
    block = nn.GatedMLP(8, 6, dropout=0.1)
    net = started(nn.TransformerEncoderLayer(8, 1, 2, norm="rms", feed_forward=block))
    assert net(normal(2, 3, 8)).shape == (2, 3, 8)
    assert net.feed_forward is block


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_gated_mlp_in_16_bits(dtype: str) -> None:
    net, x = started(nn.GatedMLP(5, 6)), normal(2, 3, 4)
    wanted = net(x).asnumpy()
    net.cast(dtype)
    found = net(x.astype(dtype)).astype("float32").asnumpy()
    np.testing.assert_allclose(found, wanted, rtol=0, atol=3e-2 * np.abs(wanted).max())


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_patches_are_products_with_their_pixels(layout: str, hybridize: bool) -> None:
    net = started(nn.PatchEmbedding(5, (2, 3), layout=layout), hybridize)
    images = RANDOM.standard_normal((2, 3, 5, 9)).astype(np.float32)  # the last row is left out
    x = images if layout == "NCHW" else images.transpose(0, 2, 3, 1)
    found = net(mx.nd.array(x)).asnumpy()
    weight, bias = net.projection.weight.data().asnumpy(), net.projection.bias.data().asnumpy()
    weight = weight if layout == "NCHW" else weight.transpose(0, 3, 1, 2)
    assert found.shape == (2, 6, 5)
    for row in range(2):
        for column in range(3):
            patch = images[:, :, 2 * row : 2 * row + 2, 3 * column : 3 * column + 3]
            wanted = np.einsum("nchw,uchw->nu", patch, weight) + bias
            np.testing.assert_allclose(found[:, 3 * row + column], wanted, rtol=0, atol=1e-5)


REFUSED: list[tuple[Any, type[Exception], str]] = [
    (lambda: nn.DropPath(1), ArgumentError, r"DropPath: expected rate in \[0, 1\), got 1"),
    (
        lambda: nn.DropPath(cast(Any, "a")),
        ArgumentTypeError,
        "expected rate to be a number, got 'a'",
    ),
    (lambda: nn.DropPath(0.1, 2), ArgumentError, "expected batch_axis 0 or 1, got 2"),
    (lambda: nn.LayerScale(0), ArgumentError, "LayerScale: expected units of 1 or more, got 0"),
    (lambda: nn.LayerScale(3, 1), ArgumentError, "LayerScale: expected an axis below 0, got 1"),
    (lambda: nn.GatedMLP(3, 0), ArgumentError, "expected hidden_units of 1 or more, got 0"),
    (lambda: nn.GatedMLP(3, 4, "relu"), ArgumentError, "expected activation silu, gelu, gelu_t"),
    (lambda: nn.GatedMLP(3, 4, dropout=2), ArgumentError, r"expected dropout in \[0, 1\), got 2"),
    (lambda: nn.PatchEmbedding(3, 0), ArgumentError, "expected height of 1 or more, got 0"),
    (lambda: nn.PatchEmbedding(3, 4, layout="NCH"), ArgumentError, "expected layout NCHW or NHWC"),
]


@pytest.mark.parametrize(("make", "kind", "message"), REFUSED)
def test_wrong_options_are_refused(make: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        make()
