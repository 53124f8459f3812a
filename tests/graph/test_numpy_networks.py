"""Networks written with mx.np, beside the same ones written with mx.nd: their plans are equal."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gluonish import autograd, nd, npx
from gluonish import numpy as mxnp
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn import Conv2D, Dense

X = np.random.default_rng(0).standard_normal((16, 4, 8, 8)).astype(np.float32)


class _Layers(HybridBlock):
    def __init__(self) -> None:
        super().__init__(prefix="n_")
        with self.name_scope():
            self.first = Conv2D(8, 3, padding=1, in_channels=4)
            self.second = Conv2D(8, 3, padding=1, in_channels=8)
            self.last = Dense(16, in_units=512)


class _Classic(_Layers):
    def hybrid_forward(self, F: Any, x: Any) -> Any:
        a = F.relu(self.first(x))
        b = F.relu(F.broadcast_add(self.second(a), a))
        b = F.broadcast_add(b * 0.5, F.broadcast_div(F.tanh(b), 1 + F.exp(-b)))
        b = F.broadcast_maximum(b, F.sqrt(F.abs(b) + 0.1))
        d = self.last(b)
        d = F.broadcast_sub(d, F.mean(d, axis=1, keepdims=True))
        return F.sum(F.reshape(F.transpose(d), (16, 4, 4)), axis=2)


class _Forward(_Layers):
    def forward(self, x: Any) -> Any:
        a = npx.relu(self.first(x))
        b = npx.relu(self.second(a) + a)
        b = b * 0.5 + mxnp.tanh(b) / (1 + mxnp.exp(-b))
        b = mxnp.maximum(b, mxnp.sqrt(mxnp.abs(b) + 0.1))
        d = self.last(b)
        d = d - mxnp.mean(d, axis=1, keepdims=True)
        return mxnp.sum(mxnp.reshape(mxnp.transpose(d), (16, 4, 4)), axis=2)


class _Hybrid(_Layers):
    def hybrid_forward(self, F: Any, x: Any) -> Any:
        a = F.npx.relu(self.first(x))
        b = F.npx.relu(self.second(a) + a)
        b = b * 0.5 + F.np.tanh(b) / (1 + F.np.exp(-b))
        b = F.np.maximum(b, F.np.sqrt(F.np.abs(b) + 0.1))
        d = self.last(b)
        d = d - F.np.mean(d, axis=1, keepdims=True)
        return F.np.sum(F.np.reshape(F.np.transpose(d), (16, 4, 4)), axis=2)


@pytest.fixture
def _numpy_mode() -> Iterator[None]:
    npx.set_np()
    yield
    npx.reset_np()


def _net(kind: type[_Layers], array: Any) -> Any:
    net = kind()
    net.initialize()
    for i, parameter in enumerate(net.collect_params().values()):
        values = np.random.default_rng(i).standard_normal(parameter.shape) * 0.1
        parameter.set_data(array(values.astype(np.float32)))
    return net


def _run(net: Any, x: Any) -> tuple[Any, Any]:
    x.attach_grad()
    with autograd.record():
        y = net(x)
    y.backward()
    return y.asnumpy(), x.grad.asnumpy()


def _plan(net: Any) -> Any:
    (graph,) = net._graphs.values()
    return graph._cached._program.work


def _steps(net: Any) -> list[list[str]]:
    """Return the names of the planned steps, forward and backward, without fused programs."""
    plan = _plan(net)
    assert plan.backward is not None
    return [
        [step.op.name.replace("elemwise_", "broadcast_") for step in part.layout.instructions]
        for part in (plan.forward, plan.backward)
    ]


def _classic() -> tuple[list[list[str]], Any, Any]:
    net = _net(_Classic, nd.array)
    net.hybridize()
    y, gradient = _run(net, nd.array(X))
    return _steps(net), y, gradient


@pytest.mark.parametrize("kind", [_Forward, _Hybrid])
@pytest.mark.usefixtures("_numpy_mode")
def test_a_numpy_network_is_planned_as_its_classic_form(kind: type[_Layers]) -> None:
    net = _net(kind, mxnp.array)
    imperative = _run(net, mxnp.array(X))
    net.hybridize()
    hybrid = _run(net, mxnp.array(X))
    steps = _steps(net)
    npx.reset_np()
    classic_steps, *classic = _classic()
    assert steps == classic_steps
    for a, b, c in zip(imperative, hybrid, classic, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(b, c, rtol=1e-4, atol=1e-5)


class _Masked(HybridBlock):
    def forward(self, x: Any) -> Any:
        large = x > 0.5
        return mxnp.where(large, x, mxnp.zeros_like(x)) * (x < 1) + large


@pytest.mark.usefixtures("_numpy_mode")
def test_masks_of_bool_are_fused() -> None:
    x = mxnp.array(np.random.default_rng(0).standard_normal((64, 64)), dtype="float32")
    net = _Masked()
    wanted = net(x).asnumpy()
    net.hybridize()
    np.testing.assert_array_equal(net(x).asnumpy(), wanted)
    assert _plan(net).forward.layout.instructions[0].op.name == "_fused_pointwise"
    assert len(_plan(net).forward.layout.instructions) == 1
