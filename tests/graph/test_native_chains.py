"""Primitives and generated kernels in one native call: equal results, wherever arrays lie."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.config import MXNET_CPU_PARALLEL_SIZE
from gluonish.gluon import nn
from gluonish.kernels.compiler import available
from gluonish.kernels.onednn import RefusedError, register
from gluonish.kernels.onednn.backend import current
from gluonish.kernels.onednn.native_calls import NativeCalls
from gluonish.kernels.onednn.native_chain import NativeChain

pytestmark = pytest.mark.skipif(
    not available() or not register.enabled(), reason="oneDNN or llvmlite is not there"
)


def layers() -> nn.HybridSequential:
    """Return layers of all kinds that chains join: oneDNN's, Winograd's, and packed filters'."""
    mx.random.seed(5)
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(32, 3, padding=1, in_channels=3, activation="relu"),
        nn.Conv2D(64, 1, in_channels=32),
        nn.Conv2D(64, 3, padding=1, groups=64, in_channels=64, activation="relu"),
        nn.Conv2D(64, 3, padding=1, in_channels=64, activation="relu"),
        nn.MaxPool2D(2, 2),
        nn.Conv2D(32, 1, in_channels=64),
        nn.GlobalAvgPool2D(),
        nn.Dense(40, in_units=32),
    )
    net.initialize(mx.init.Xavier())
    return net


def inputs(count: int) -> list[nd.NDArray]:
    values = np.random.default_rng(3).standard_normal((count, 1, 3, 40, 40)).astype("float32")
    return [nd.array(value) for value in values]


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each run of a chain was one call."""
    seen: list[bool] = []
    run = NativeChain.run

    def noted(self: NativeChain, arrays: Any) -> None:
        run(self, arrays)
        seen.append(self._calls is not None)

    monkeypatch.setattr(NativeChain, "run", noted)
    return seen


@pytest.mark.parametrize("static", [False, True])
def test_a_chain_gives_what_its_members_give(static: bool, runs: list[bool]) -> None:
    net = layers()
    given = inputs(4)
    expected = [net(x).asnumpy() for x in given]
    net.hybridize(static_alloc=static, static_shape=static)
    first = [net(x).asnumpy() for x in given]  # the first ones run one by one
    for _ in range(6):
        kept = [net(x) for x in given]  # all outputs stay alive: each lies elsewhere
        for got, same, near in zip(kept, first, expected, strict=True):
            np.testing.assert_array_equal(got.asnumpy(), same)
            np.testing.assert_allclose(got.asnumpy(), near, rtol=1e-4, atol=1e-5)
    assert runs[-1]


def test_weights_that_change_are_seen(runs: list[bool]) -> None:
    net = layers()
    net.hybridize(static_alloc=True, static_shape=True)
    (x,) = inputs(1)
    for _ in range(12):
        before = net(x).asnumpy()
    assert runs[-1]
    for layer in net:
        if isinstance(layer, nn.Conv2D):
            layer.weight.set_data(-layer.weight.data())
    after = net(x).asnumpy()
    net.hybridize(False)
    np.testing.assert_allclose(after, net(x).asnumpy(), rtol=1e-4, atol=1e-5)
    assert np.abs(after - before).max() > 1e-3


def test_flags_that_change_are_seen(runs: list[bool]) -> None:
    net = layers()
    net.hybridize(static_alloc=True, static_shape=True)
    (x,) = inputs(1)
    for _ in range(12):
        expected = net(x).asnumpy()
    assert runs[-1]
    with MXNET_CPU_PARALLEL_SIZE.override(1 << 20):
        for _ in range(6):
            np.testing.assert_array_equal(net(x).asnumpy(), expected)


def test_a_primitive_that_fails_ends_the_calls() -> None:
    api = current().engine.api
    # dnnl_primitive_execute of no primitive fails; the one behind it must not run.
    rows = [(1, api.execute_address, 0, 0, 0, 0, 0), (0, 1, 0, 0, 0, 0, 0)]
    calls = NativeCalls(api, rows)
    stream = current().engine.thread().stream
    assert calls.run(stream, 1) == 1
    with pytest.raises(RefusedError, match="dnnl_primitive_execute"):
        calls.check()


def test_threads_of_primitives_are_set_and_told() -> None:
    api = current().engine.api
    before = api.max_threads()
    try:
        calls = NativeCalls(api, [(3, api.execute_address, 0, 0, 0, 0, 0)])
        assert calls.run(current().engine.thread().stream, before) == 3
        assert api.max_threads() == 3
    finally:
        api.limit_threads(before)
