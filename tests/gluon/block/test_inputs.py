"""What a HybridBlock is called with; classes of errors as MXNet 1.9.1 has them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import gluon, nd
from gluonish.gluon import nn


class Add(gluon.HybridBlock):
    def hybrid_forward(self, F: Any, x: Any, y: Any) -> Any:
        return x + y


REFUSED: dict[str, tuple[Any, ...]] = {
    "none": (None, None),
    "text": ("a", "b"),
    "NumPy's": (np.ones(2), np.ones(2)),
    "array and Symbol": (nd.ones((2,)), mx.sym.var("a")),
    "Symbol and array": (mx.sym.var("a"), nd.ones((2,))),
}


@pytest.mark.parametrize("hybridized", [False, True])
@pytest.mark.parametrize("name", REFUSED)
def test_wrong_inputs_are_value_errors(name: str, hybridized: bool) -> None:
    net = Add()
    net.hybridize(hybridized)
    with pytest.raises(ValueError, match=r"^(Add )?add\d+: expected "):
        net(*REFUSED[name])


def test_arrays_on_several_devices_are_a_value_error_when_hybridized() -> None:
    net = Add()
    net.hybridize()
    with pytest.raises(ValueError, match="expected all arrays on cpu"):
        net(nd.ones((2,)), nd.ones((2,), ctx=mx.cpu(1)))


def test_inputs_beside_arrays_that_are_no_keys_are_value_errors() -> None:
    net = Add()
    net.hybridize()
    with pytest.raises(ValueError, match="arrays or hashable"):
        net(nd.ones((2,)), np.ones(2))


@pytest.mark.parametrize("nested", [False, True])
def test_forward_called_by_itself_makes_the_graph(nested: bool, tmp_path: Path) -> None:
    net: gluon.HybridBlock = nn.Dense(2)
    if nested:
        layers = nn.HybridSequential()
        layers.add(net, nn.Activation("relu"))
        net = layers
    net.initialize()
    want = net(nd.ones((1, 3))).asnumpy()
    net.hybridize()
    np.testing.assert_allclose(net.forward(nd.ones((1, 3))).asnumpy(), want, rtol=1e-6)
    symbol_file, params_file = net.export(str(tmp_path / "net"))
    again = gluon.SymbolBlock.imports(symbol_file, ["data"], params_file)
    np.testing.assert_allclose(again(nd.ones((1, 3))).asnumpy(), want, rtol=1e-6)


def test_forward_of_a_call_without_a_graph_computes() -> None:
    net = nn.HybridLambda(lambda F, x: F.contrib.boolean_mask(x, x > 1))
    net.hybridize()
    assert net.forward(nd.array([1, 2, 3])).asnumpy().tolist() == [2, 3]
    assert net(nd.array([1, 2, 3])).asnumpy().tolist() == [2, 3]


class Wrapped(gluon.HybridBlock):
    """Its own forward hands on other arguments, and its weight waits for its shape."""

    def __init__(self) -> None:
        super().__init__()
        with self.name_scope():
            self.weight = self.params.get("weight", shape=(2, 0), allow_deferred_init=True)

    def forward(self, x: Any, unused: Any = None) -> Any:
        return super().forward(x)

    def hybrid_forward(self, F: Any, x: Any, weight: Any) -> Any:
        return F.FullyConnected(x, weight, no_bias=True, num_hidden=2)


@pytest.mark.parametrize("hybridized", [False, True])
def test_forward_around_that_of_hybrid_block_settles_shapes(hybridized: bool) -> None:
    net = Wrapped()
    net.initialize()
    net.hybridize(hybridized)
    assert net(nd.ones((1, 3)), None).shape == (1, 2)
    assert net.weight.shape == (2, 3)


NESTED: dict[str, tuple[Any, ...]] = {
    "a list of both": ([nd.ones((2,)), mx.sym.var("a")], nd.ones((2,))),
    "a list of each": ([mx.sym.var("a")], [nd.ones((2,))]),
    "an array and a list of a Symbol": (nd.ones((2,)), [[mx.sym.var("a")]]),
}


@pytest.mark.parametrize("hybridized", [False, True])
@pytest.mark.parametrize("arguments", NESTED.values(), ids=NESTED)
def test_arrays_and_symbols_in_lists_are_refused_too(
    arguments: tuple[Any, ...], hybridized: bool
) -> None:
    class First(gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any, y: Any) -> Any:
            return x

    net = First()
    net.hybridize(hybridized)
    with pytest.raises(ValueError, match="got both among the inputs"):
        net(*arguments)


def test_a_symbol_block_refuses_an_array_beside_a_symbol() -> None:
    variables = [mx.sym.var("x"), mx.sym.var("y")]
    net = gluon.SymbolBlock(variables[0] + variables[1], variables)
    with pytest.raises(ValueError, match="got both among the inputs"):
        net(nd.ones((2,)), mx.sym.var("a"))


def test_recurrent_layers_and_cells_refuse_what_they_cannot_begin_with() -> None:
    state = mx.sym.var("state")
    for net, x in (
        (gluon.rnn.LSTM(2, input_size=2), nd.ones((1, 1, 2))),
        (gluon.rnn.LSTMCell(2, input_size=2), nd.ones((1, 2))),
    ):
        net.initialize()
        with pytest.raises(ValueError, match="got both among the inputs"):
            net(x, [state, state])
        with pytest.raises(ValueError, match="expected an NDArray"):
            net(None, [None, None])
