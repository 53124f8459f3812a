"""Hybridized blocks whose graphs go through a user's back ends."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.core.config import MXNET_SUBGRAPH_BACKEND
from gluonish.core.errors import ArgumentError, GraphError, NotSupportedError
from gluonish.gluon import nn
from gluonish.symbol import OperatorNode, Subgraph, SubgraphBackend
from gluonish.symbol.subgraph import registered_backend


class DenseRelu(SubgraphBackend):
    """Computes a dense layer and its activation in one function."""

    def __init__(self, least: int = 2) -> None:
        self.least = least

    def select(self, node: OperatorNode) -> bool:
        return node.op == "FullyConnected"

    def select_output(self, node: OperatorNode, reader: OperatorNode) -> bool:
        return reader.op == "Activation" and reader.attrs["act_type"] == "relu"

    def replace(self, subgraph: Subgraph) -> Any:
        if len(subgraph.nodes) < self.least:
            return None
        return lambda x, weight, bias: nd.relu(nd.dot(x, weight.T) + bias)


class Whole(SubgraphBackend):
    """Takes half of the operators, and computes each part by itself in a function."""

    def __init__(self, chosen: str = "01") -> None:
        self.chosen = chosen
        self.count = 0
        self.answers: dict[str, bool] = {}

    def select(self, node: OperatorNode) -> bool:
        if node.name not in self.answers:
            self.answers[node.name] = self.chosen[self.count % len(self.chosen)] == "1"
            self.count += 1
        return self.answers[node.name]

    def replace(self, subgraph: Subgraph) -> Any:
        names, symbol = subgraph.inputs, subgraph.symbol

        def function(*arrays: nd.NDArray) -> Any:
            executor = mx.nd.CachedOp(symbol)  # type: ignore[attr-defined]
            by_name = dict(zip(names, arrays, strict=True))
            return executor(*[by_name[name] for name in symbol.list_inputs()])

        return function


class Doubling(SubgraphBackend):
    """Replaces tanh by its double."""

    def select(self, node: OperatorNode) -> bool:
        return node.op == "Activation" and node.attrs["act_type"] == "tanh"

    def replace(self, subgraph: Subgraph) -> Any:
        return subgraph.symbol * 2


@pytest.fixture(autouse=True)
def _backends() -> Iterator[None]:
    with (
        registered_backend("dense_relu", DenseRelu),
        registered_backend("whole", Whole),
        registered_backend("doubling", Doubling),
    ):
        yield


X = nd.array(np.random.default_rng(5).standard_normal((4, 6)))


def _net() -> nn.HybridSequential:
    net = nn.HybridSequential()
    net.add(
        nn.Dense(5, activation="relu"),
        nn.BatchNorm(),
        nn.Dense(4, activation="tanh"),
        nn.Dense(3, activation="relu"),
    )
    mx.random.seed(3)
    net.initialize(mx.init.Xavier())
    net(X)
    return net


def _trained(net: Any) -> list[np.ndarray]:
    """Return outputs, gradients, and parameters after two steps."""
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    x = X.copy()
    x.attach_grad()
    for _ in range(2):
        with autograd.record():
            y = net(x)
            loss = y * y
        loss.backward()
        trainer.step(4)
    values = [p.data().asnumpy() for p in net.collect_params().values()]
    return [y.asnumpy(), x.grad.asnumpy(), net(X).asnumpy(), *values]


@pytest.mark.parametrize("backend", ["dense_relu", "whole"])
def test_training_through_functions_gives_the_same(backend: str) -> None:
    expected = _trained(_net())
    net = _net()
    net.optimize_for(X, backend=backend, static_alloc=True)
    for got, want in zip(_trained(net), expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-6)


def test_options_reach_the_backend_and_unknown_ones_are_named() -> None:
    net = _net()
    net.hybridize(backend="dense_relu", least=3)
    assert net(X).shape == (4, 3)
    net.hybridize(backend="dense_relu", most=3)
    with pytest.raises(ArgumentError, match=r"options of backend 'dense_relu', got \{'most': 3\}"):
        net(X)
    with pytest.raises(NotSupportedError, match="'fast'; omit it, or register it"):
        net.hybridize(backend="fast")


def test_back_ends_come_one_after_another_until_they_are_cleared() -> None:
    net = _net()
    plain = net(X).asnumpy()
    tanh = nn.Activation("tanh")
    tanh.hybridize()
    y = tanh(X).asnumpy()
    for factor in (2, 4):
        tanh.optimize_for(X, backend="doubling")
        np.testing.assert_allclose(tanh(X).asnumpy(), factor * y, rtol=1e-6)
    tanh.optimize_for(X, backend="doubling", clear=True)
    np.testing.assert_allclose(tanh(X).asnumpy(), 2 * y, rtol=1e-6)
    tanh.hybridize()
    np.testing.assert_allclose(tanh(X).asnumpy(), y, rtol=1e-6)
    net.optimize_for(X, backend="dense_relu")
    net.optimize_for(X, backend="doubling")
    assert np.abs(net(X).asnumpy() - plain).max() > 1e-3


def test_the_environment_names_a_backend() -> None:
    tanh = nn.Activation("tanh")
    y = tanh(X).asnumpy()
    tanh.hybridize()
    with MXNET_SUBGRAPH_BACKEND.override("doubling"):
        np.testing.assert_allclose(tanh(X).asnumpy(), 2 * y, rtol=1e-6)


def test_a_replaced_graph_is_exported_and_imported(tmp_path: Path) -> None:
    net = _net()
    net.optimize_for(X, backend="doubling")
    expected = net(X).asnumpy()
    files = net.export(str(tmp_path / "net"))
    again = gluon.SymbolBlock.imports(files[0], ["data"], files[1])
    np.testing.assert_allclose(again(X).asnumpy(), expected, rtol=1e-6)
    again.optimize_for(X, backend="dense_relu")
    np.testing.assert_allclose(again(X).asnumpy(), expected, rtol=1e-5)
    net.optimize_for(X, backend="dense_relu")
    with pytest.raises(GraphError, match="a Python function that backend 'dense_relu' put there"):
        net.export(str(tmp_path / "other"))


class Folding(SubgraphBackend):
    """Puts a dense layer's bias into a new parameter, twice as large."""

    def select(self, node: OperatorNode) -> bool:
        return node.op == "FullyConnected"

    def replace(self, subgraph: Subgraph) -> Any:
        data, weight, bias = subgraph.inputs
        larger = subgraph.add_parameter("bias", subgraph.arrays[bias] * 2)
        units = subgraph.nodes[0].attrs["num_hidden"]
        x, w = mx.sym.var(data), mx.sym.var(weight)
        return mx.sym.FullyConnected(x, w, larger, num_hidden=units)


def test_new_parameters_become_those_of_the_block(tmp_path: Path) -> None:
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Dense(3, bias_initializer="ones"))
    net.initialize()
    expected = net(X).asnumpy() + 1
    with registered_backend("folding", Folding):
        net.optimize_for(X, backend="folding")
        np.testing.assert_allclose(net(X).asnumpy(), expected, rtol=1e-5)
        with autograd.record():
            y = net(X)
        y.backward()
        added = net.collect_params()["net_folding0_bias"]
        np.testing.assert_allclose(added.grad().asnumpy(), [4, 4, 4])
        files = net.export(str(tmp_path / "net"))
    again = gluon.SymbolBlock.imports(files[0], ["data"], files[1])
    np.testing.assert_allclose(again(X).asnumpy(), expected, rtol=1e-5)


def test_new_parameters_keep_what_training_made_of_them_and_follow_the_block_else() -> None:
    net = nn.Dense(3, bias_initializer="ones", prefix="net_")
    net.initialize()
    with registered_backend("folding", Folding):
        net.optimize_for(X, backend="folding")
        added = net.collect_params()["net_folding0_bias"]
        net.bias.set_data(nd.full((3,), 4))
        net.hybridize(backend="folding")
        net(X)
        np.testing.assert_allclose(added.data().asnumpy(), [8, 8, 8])
        trainer = gluon.Trainer({"added": added}, "sgd", {"learning_rate": 1.0})
        with autograd.record():
            y = net(X)
        y.backward()
        trainer.step(1)
        trained = added.data().asnumpy()
        assert not np.array_equal(trained, [8, 8, 8])
        net.hybridize(backend="folding")
        net(X)
        np.testing.assert_array_equal(added.data().asnumpy(), trained)


def test_a_forward_in_the_style_of_numpy_goes_through_backends() -> None:
    class Net(gluon.HybridBlock):
        def forward(self, x: Any) -> Any:
            return mx.npx.relu(mx.np.sin(x)) + 1

    class Waves(SubgraphBackend):
        def select(self, node: OperatorNode) -> bool:
            return node.op in ("_npi_sin", "relu", "_npx_relu", "Activation")

        def replace(self, subgraph: Subgraph) -> Any:
            assert len(subgraph.nodes) == 2
            return lambda x: nd.relu(nd.sin(x)) * 3

    net, x = Net(), mx.np.array([[0.5, -1.0, 2.0]])
    expected = 3 * np.maximum(np.sin(x.asnumpy()), 0) + 1
    with registered_backend("waves", Waves):
        net.optimize_for(x, backend="waves")
        y = net(x)
    assert type(y) is mx.np.ndarray
    np.testing.assert_allclose(y.asnumpy(), expected, rtol=1e-5)


class _Masked(gluon.HybridBlock):
    def hybrid_forward(self, F: Any, x: Any, mask: Any) -> Any:
        return F.tanh(F.contrib.boolean_mask(F.Activation(x, act_type="tanh"), mask))


def test_graphs_whose_shapes_depend_on_values_are_partitioned_unless_told() -> None:
    mask = nd.array([1, 0, 1, 1])
    net = _Masked()
    once = np.tanh(np.tanh(X.asnumpy()))[[0, 2, 3]]
    twice = np.tanh(2 * np.tanh(X.asnumpy()))[[0, 2, 3]]
    for if_dynamic, expected in ((True, twice), (False, once)):
        net.optimize_for(X, mask, backend="doubling", clear=True, partition_if_dynamic=if_dynamic)
        np.testing.assert_allclose(net(X, mask).asnumpy(), expected, rtol=1e-5)
    with pytest.raises(GraphError, match="whose shapes depend on values, got a function"):
        net.optimize_for(X, mask, backend="whole", clear=True, chosen="1")
    net.optimize_for(X, mask, backend="whole", clear=True, chosen="101")
    np.testing.assert_allclose(net(X, mask).asnumpy(), once, rtol=1e-5)


@settings(max_examples=8)
@given(st.text("01", min_size=3, max_size=9))
def test_random_parts_of_a_network_train_alike(chosen: str) -> None:
    expected = _trained(_net())
    net = _net()
    net.optimize_for(X, backend="whole", chosen=chosen)
    for got, want in zip(_trained(net), expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-6)
