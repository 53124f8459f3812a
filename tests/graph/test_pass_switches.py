"""Small networks of every kind: hybridized they give what they give operator by operator, with all
passes and with each one left out."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.core.config import (
    MXNET_DISABLED_GRAPH_PASSES,
    MXNET_ELIMINATE_COMMON_EXPR,
    MXNET_SUBGRAPH_BACKEND,
    MXNET_USE_FUSION,
)
from gluonish.gluon import nn, rnn
from gluonish.graph import passes
from gluonish.kernels.onednn import register as onednn
from tests.graph.control_flow_blocks import Recurrence

PASSES = ("channels_last", *passes.__all__)
Make = Callable[[], tuple[gluon.HybridBlock, list[nd.NDArray]]]


def _data(*shape: int) -> nd.NDArray:
    return nd.array(np.random.default_rng(len(shape)).standard_normal(shape))


def _sequence(*layers: gluon.HybridBlock) -> nn.HybridSequential:
    net = nn.HybridSequential(prefix="net_")
    net.add(*layers)
    return net


class _Residual(gluon.HybridBlock):
    def __init__(self) -> None:
        super().__init__(prefix="residual_")
        with self.name_scope():
            self.body = _sequence(nn.Conv2D(8, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"))
            self.last = nn.Conv2D(8, 1)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        y = self.body(x)
        return F.relu(F.identity(self.last(y)) + y) + F.relu(F.identity(self.last(y)) + y)


class _Loss(gluon.HybridBlock):
    def __init__(self) -> None:
        super().__init__(prefix="loss_")
        with self.name_scope():
            self.dense = nn.Dense(7)
            self.loss = gluon.loss.SoftmaxCrossEntropyLoss()

    def hybrid_forward(self, F: Any, x: Any, label: Any) -> Any:
        return self.loss(self.dense(F.Dropout(x, p=0.0)), label)


class _Recurrent(gluon.HybridBlock):
    def __init__(self) -> None:
        super().__init__(prefix="recurrent_")
        with self.name_scope():
            self.layer = rnn.GRU(6, bidirectional=True, input_size=5)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.mean(self.layer(x), axis=0)


class _Numpy(gluon.HybridBlock):
    def forward(self, x: Any) -> Any:
        y = mx.np.maximum(mx.np.tanh(x) * x, 0.1)
        return mx.np.sum(y / (1 + mx.np.exp(-y)), axis=1) + mx.np.mean(mx.np.abs(x), axis=1)


class _Attention(gluon.HybridBlock):
    """Scores of three heads, whose axis and the batch's are one for the product."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        heads = F.transpose(F.reshape(x, shape=(0, 0, 3, -1)), axes=(0, 2, 1, 3))
        heads = F.reshape(heads, shape=(-3, 0, 0))
        return F.softmax(F.batch_dot(heads, heads, transpose_b=True))


class _Halves(gluon.HybridBlock):
    """A product of bfloat16 that is wanted in float32, of numbers that no rounding changes."""

    def __init__(self) -> None:
        super().__init__(prefix="halves_")
        self.weight = self.params.get("weight", shape=(6, 3))

    def hybrid_forward(self, F: Any, x: Any, weight: Any) -> Any:
        signs = [F.cast(F.sign(value), "bfloat16") for value in (x, weight)]
        return F.cast(F.dot(*signs), "float32")


def _labels() -> nd.NDArray:
    return nd.array([1, 0, 6, 2])


NETWORKS: dict[str, Make] = {
    "dense": lambda: (
        _sequence(nn.Dense(5, activation="relu"), nn.BatchNorm(), nn.Dense(3), nn.LeakyReLU(0.1)),
        [_data(4, 6)],
    ),
    "residual": lambda: (_Residual(), [_data(2, 3, 8, 8)]),
    "strided": lambda: (
        _sequence(nn.Conv2D(6, 3, activation="relu"), nn.Conv2D(4, 1, strides=2)),
        [_data(2, 3, 9, 9)],
    ),
    "loss": lambda: (_Loss(), [_data(4, 6), _labels()]),
    "recurrent": lambda: (_Recurrent(), [_data(4, 3, 5)]),
    "loops": lambda: (Recurrence(prefix="loops_"), [_data(5, 2, 3), _data(2, 4)]),
    "embedding": lambda: (
        _sequence(nn.Embedding(9, 4), nn.Flatten(), nn.LayerNorm(), nn.Dense(2)),
        [nd.array([[1, 2], [8, 1]])],
    ),
    "attention": lambda: (_Attention(prefix="attention_"), [_data(2, 5, 6)]),
    "halves": lambda: (_Halves(), [_data(4, 6)]),
    "numpy": lambda: (_Numpy(), [mx.np.array(_data(3, 4).asnumpy())]),
}


def _results(make: Make, *, hybridize: bool) -> list[np.ndarray]:
    """Return outputs in and outside of training, gradients, and states after a step."""
    net, arrays = make()
    net.initialize()
    net(*arrays)
    parameters = [p for p in net.collect_params().values() if p.grad_req != "null"]
    for i, parameter in enumerate(parameters):
        values = np.random.default_rng(i).uniform(-0.7, 0.7, parameter.shape)
        parameter.set_data(nd.array(values))
    if hybridize:
        net.hybridize()
    before = net(*arrays)
    arrays[0].attach_grad()
    with autograd.record():
        y = net(*arrays)
    y.backward()
    found = [before, y, arrays[0].grad, net(*arrays)]
    found += [p.grad() for p in parameters]
    found += [p.data() for p in net.collect_params().values()]
    return [x.asnumpy() for x in found]


def _check(found: list[np.ndarray], expected: list[np.ndarray]) -> None:
    for got, want in zip(found, expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("name", NETWORKS)
def test_results_are_those_of_single_operators_whatever_pass_is_left_out(name: str) -> None:
    make = NETWORKS[name]
    expected = _results(make, hybridize=False)
    _check(_results(make, hybridize=True), expected)
    for left_out in (*((one,) for one in PASSES), PASSES):
        with MXNET_DISABLED_GRAPH_PASSES.override(left_out):
            _check(_results(make, hybridize=True), expected)


@pytest.mark.parametrize("name", NETWORKS)
def test_results_stay_without_whole_stages(name: str) -> None:
    make = NETWORKS[name]
    expected = _results(make, hybridize=False)
    for scope in (
        MXNET_ELIMINATE_COMMON_EXPR.override(False),
        MXNET_USE_FUSION.override(False),
        MXNET_SUBGRAPH_BACKEND.override("NONE"),
    ):
        with scope:
            _check(_results(make, hybridize=True), expected)


def test_every_pass_changes_a_plan_of_these_networks() -> None:
    """So that the test above sees what each of them does."""
    if not onednn.enabled():
        pytest.skip("oneDNN is not there, for which some passes are")
    unchanged = set(PASSES)
    for make in NETWORKS.values():
        # Some batch norms are for one of two passes, whichever comes first.
        for also in ((), ("split_batch_norm",)):
            plain = _plans(make, also)
            unchanged -= {name for name in unchanged if _plans(make, (name, *also)) != plain}
    assert unchanged == {"cast_weights"}  # it is for GPUs


def _plans(make: Make, left_out: tuple[str, ...]) -> list[object]:
    """Return what runs of a network, in and outside of training, and how it lies in memory."""
    net, arrays = make()
    net.initialize()
    net(*arrays)
    net.hybridize()
    with MXNET_DISABLED_GRAPH_PASSES.override(left_out):
        net(*arrays)
        with autograd.record():
            net(*arrays)
    listed: list[object] = []
    graphs: list[Any] = list(net._graphs.values())
    for graph in graphs:
        for plan in graph._cached._plans.values():
            for part in (plan.forward, plan.backward):
                if part is not None:
                    listed.append(len(part.layout.channels_last))
                    steps = part.layout.instructions
                    nodes = [step.node for step in steps]
                    listed += [(node.op.name, node.attrs.get("keep"), node.specs) for node in nodes]
    return listed
