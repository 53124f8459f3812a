"""Recurrent layers with one vector of parameters, compared with golden data of MXNet 2.0."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish import autograd, nd
from gluonish.core.context import current_context
from gluonish.core.errors import ArgumentError, NotSupportedError
from gluonish.core.mxnet_rules import Rules, follow_mxnet
from gluonish.gluon import SymbolBlock, nn, rnn
from gluonish.initializer import Constant, InitDesc, One, RNNFused

GOLDEN = Path(__file__).parents[2] / "golden/rnn2"
VALUES = np.load(GOLDEN / "rnn2.npz")


def layer_of(name: str) -> Any:
    if name == "lstm":
        return rnn.LSTM(4, 2, bidirectional=True)
    return rnn.GRU(4, layout="NTC") if name == "gru" else rnn.RNN(4, 2, activation="tanh")


@pytest.fixture
def _mxnet2() -> Iterator[None]:
    before = follow_mxnet(Rules.MXNET2)
    yield
    follow_mxnet(before)


names = pytest.mark.parametrize("name", ["lstm", "gru", "rnn"])


@names
@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.usefixtures("_mxnet2")
def test_layers_have_one_vector(name: str, hybridize: bool) -> None:
    layer = layer_of(name)
    assert list(layer.collect_params()) == ["rnn_param"]
    layer.load_parameters(GOLDEN / f"{name}.params", current_context())
    layer.hybridize(hybridize)
    for _ in range(2):
        with autograd.record():
            y = layer(nd.array(VALUES["x"]))
            loss = (y * y).sum()
        loss.backward()
        np.testing.assert_allclose(y.asnumpy(), VALUES[f"{name}/y"], atol=1e-5)
        grad = layer.rnn_param.grad().asnumpy()
        np.testing.assert_allclose(grad, VALUES[f"{name}/grad"], rtol=1e-4, atol=1e-5)


@names
def test_files_go_both_ways(name: str, tmp_path: Path) -> None:
    x = nd.array(VALUES["x"])
    layer = layer_of(name)
    layer.load_parameters(GOLDEN / f"{name}.params", current_context())
    np.testing.assert_allclose(layer(x).asnumpy(), VALUES[f"{name}/y"], atol=1e-5)
    net = nn.HybridSequential()
    net.add(layer)
    layer.save_parameters(tmp_path / "paths.params")
    net.save_parameters(tmp_path / "nested.params")
    layer.collect_params().save(tmp_path / "names.params", strip_prefix=layer.prefix)
    before = follow_mxnet(Rules.MXNET2)
    try:
        for file in ("paths", "names"):
            other = layer_of(name)
            other.load_parameters(tmp_path / f"{file}.params", current_context())
            np.testing.assert_allclose(other(x).asnumpy(), VALUES[f"{name}/y"], atol=1e-5)
        net = nn.HybridSequential()
        net.add(layer_of(name))
        net.load_parameters(tmp_path / "nested.params", current_context())
        np.testing.assert_allclose(net(x).asnumpy(), VALUES[f"{name}/y"], atol=1e-5)
        with pytest.raises(NotSupportedError, match="with a vector of all parameters"):
            other.unfuse()
    finally:
        follow_mxnet(before)


@pytest.mark.usefixtures("_mxnet2")
def test_network_with_a_layer_is_exported(tmp_path: Path) -> None:
    class Net(nn.HybridSequential):
        pass

    net = Net()
    net.add(nn.Dense(3, flatten=False), rnn.LSTM(4, layout="NTC"), nn.Dense(2, flatten=False))
    net.initialize()
    net.hybridize()
    x = nd.array(VALUES["x"])
    y = net(x).asnumpy()
    net.export(str(tmp_path / "net"))
    files = (str(tmp_path / "net-symbol.json"), ["data"], str(tmp_path / "net-0000.params"))
    again = SymbolBlock.imports(*files, ctx=current_context())
    np.testing.assert_allclose(again(x).asnumpy(), y, atol=1e-6)
    np.testing.assert_allclose(again(x[:3]).asnumpy(), y[:3], atol=1e-6)


def test_single_parameter_of_a_graph_is_loaded(tmp_path: Path) -> None:
    net = nn.Dense(2, use_bias=False, in_units=3)
    net.initialize()
    net.hybridize()
    y = net(nd.ones((1, 3)))
    net.export(str(tmp_path / "net"))
    files = (str(tmp_path / "net-symbol.json"), ["data"], str(tmp_path / "net-0000.params"))
    assert (
        SymbolBlock.imports(*files, ctx=current_context())(nd.ones((1, 3))).tolist() == y.tolist()
    )


@pytest.mark.usefixtures("_mxnet2")
def test_initializers_of_the_arrays_in_the_vector() -> None:
    layer: Any = rnn.GRU(4, i2h_weight_initializer=Constant(3.0), h2h_bias_initializer="ones")
    layer.initialize(One())
    layer(nd.ones((5, 2, 3)))
    found = layer.rnn_param.data().asnumpy()
    wanted = np.repeat([3.0, 1.0, 0.0, 1.0], [36, 48, 12, 12])
    np.testing.assert_array_equal(found, wanted)


def test_vector_of_another_length_is_refused() -> None:
    with pytest.raises(ArgumentError, match="of 1 layers of 4 features"):
        RNNFused("lstm", 1, 4)(InitDesc("rnn_weight"), nd.zeros((7,)))
    with pytest.raises(ArgumentError, match="expected mode lstm, gru"):
        RNNFused("foo", 1, 4)
