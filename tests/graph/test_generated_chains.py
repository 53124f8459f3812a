"""Neighbouring generated kernels run in one call: equal results, wherever arrays lie."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.config import MXNET_CPU_PARALLEL_SIZE
from gluonish.gluon import nn
from gluonish.kernels.compiler import Series, available

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not there")

UNITS = 520


def layers() -> nn.HybridSequential:
    """Return layers that generated kernels compute on few rows, one behind the other."""
    mx.random.seed(5)
    net = nn.HybridSequential()
    for _ in range(3):
        net.add(
            nn.Dense(UNITS, flatten=False, in_units=UNITS, activation="relu"),
            nn.LayerNorm(in_channels=UNITS),
        )
    net.initialize(mx.init.Normal(0.05))
    return net


def inputs(count: int) -> list[nd.NDArray]:
    values = np.random.default_rng(3).standard_normal((count, 2, UNITS)).astype("float32")
    return [nd.array(value) for value in values]


def by_hand(net: Any, x: nd.NDArray) -> Any:
    """Return the network's output in float64."""
    found = x.asnumpy().astype(np.float64)
    for layer in net:
        if isinstance(layer, nn.Dense):
            weight, bias = (p.data().asnumpy() for p in (layer.weight, layer.bias))
            found = np.maximum(found @ weight.T.astype(np.float64) + bias, 0)
        else:
            found = found - found.mean(axis=-1, keepdims=True)
            found /= np.sqrt((found**2).mean(axis=-1, keepdims=True) + 1e-5)
    return found


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Series]:
    """Collects the series that run."""
    seen: list[Series] = []
    run = Series.run

    def noted(self: Series) -> None:
        seen.append(self)
        run(self)

    monkeypatch.setattr(Series, "run", noted)
    return seen


@pytest.mark.parametrize("static", [False, True])
def test_joined_kernels_give_what_each_gives(static: bool, runs: list[Series]) -> None:
    net = layers()
    given = inputs(6)
    expected = [net(x).asnumpy() for x in given]
    net.hybridize(static_alloc=static, static_shape=static)
    for _ in range(4):
        kept = [net(x) for x in given]  # all outputs stay alive: each lies elsewhere
        for x, got, want in zip(given, kept, expected, strict=True):
            np.testing.assert_array_equal(got.asnumpy(), want)
            np.testing.assert_allclose(got.asnumpy(), by_hand(net, x), rtol=1e-3, atol=1e-4)
    assert runs


def test_weights_that_change_are_seen(runs: list[Series]) -> None:
    net = layers()
    net.hybridize(static_alloc=True)
    (x,) = inputs(1)
    for _ in range(4):
        net(x).wait_to_read()
    count = len(runs)
    assert count
    for parameter in net.collect_params().values():
        parameter.set_data(parameter.data() * 2 + 0.1)
    net(x).wait_to_read()
    net[-1].gamma.set_data(nd.ones((UNITS,)) * 3)
    net[-1].beta.set_data(nd.zeros((UNITS,)))
    found = net(x).asnumpy()
    assert len(runs) > count
    np.testing.assert_allclose(np.abs(found.mean(axis=-1)), 0, atol=1e-4)
    np.testing.assert_allclose(found.std(axis=-1), 3, rtol=1e-3)


def test_settings_may_change_between_calls(runs: list[Series]) -> None:
    net = layers()
    (x,) = inputs(1)
    want = net(x).asnumpy()
    net.hybridize(static_alloc=True)
    for size in (1 << 30, 1, 1 << 12):
        with MXNET_CPU_PARALLEL_SIZE.override(size):
            for _ in range(5):
                np.testing.assert_array_equal(net(x).asnumpy(), want)
    assert runs


def test_threads_share_joined_kernels() -> None:
    net = layers()
    given = inputs(6)
    expected = [net(x).asnumpy() for x in given]
    net.hybridize(static_alloc=True)

    def repeated(number: int) -> bool:
        found = [net(given[number]).asnumpy() for _ in range(20)]
        return all((y == expected[number]).all() for y in found)

    with ThreadPoolExecutor(3) as pool:
        assert all(pool.map(repeated, range(6)))
