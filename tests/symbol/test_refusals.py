"""What Symbols refuse in `hybrid_forward`, and what stays legal elsewhere."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.mxnet_rules import follow_mxnet
from gluonish.gluon import nn, rnn

nd, sym = mx.nd, mx.sym


class Net(nn.HybridBlock):
    """Compute a function of F and x."""

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        super().__init__()
        self.function = function

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return self.function(F, x)


OF_OUTPUTS: dict[str, Callable[[Any, Any], Any]] = {
    "index": lambda F, x: x[0],
    "slice": lambda F, x: x[0:1],
    "len": lambda F, x: x * len(x),
    "iteration": lambda F, x: next(iter(x)),
    "unpacking": lambda F, x: F.add_n(*x),
}


@pytest.fixture
def as_mxnet() -> Iterator[None]:
    before = follow_mxnet()
    yield
    follow_mxnet(before)


@pytest.mark.parametrize("name", OF_OUTPUTS)
def test_what_differs_from_an_array_is_refused(name: str) -> None:
    net = Net(OF_OUTPUTS[name])
    net.hybridize()
    with pytest.raises(NotImplementedError, match=r"got <Symbol data>: hybrid_forward runs on"):
        net(nd.ones((2, 3)))


@pytest.mark.usefixtures("as_mxnet")
@pytest.mark.parametrize("name", OF_OUTPUTS)
def test_under_the_name_mxnet_it_means_outputs(name: str) -> None:
    net = Net(OF_OUTPUTS[name])
    net.hybridize()
    assert net(nd.ones((2, 3))).shape == (2, 3)


@pytest.mark.parametrize("name", OF_OUTPUTS)
def test_a_call_on_a_symbol_refuses_it_too(name: str) -> None:
    with pytest.raises(NotImplementedError, match="hybrid_forward runs on Symbols"):
        Net(OF_OUTPUTS[name])(sym.var("data"))


def test_outside_hybrid_forward_it_means_outputs() -> None:
    x = sym.FullyConnected(sym.var("data"), num_hidden=3, name="fc")
    assert x[0].name == "fc"
    assert x[0:1].list_outputs() == ["fc_output"]
    assert len(x) == 1
    assert [y.name for y in x] == ["fc"]
    assert x["fc_output"].name == "fc"


def test_several_outputs_are_picked_in_hybrid_forward() -> None:
    def function(F: Any, x: Any) -> Any:
        parts = F.split(x, num_outputs=3, axis=1)
        first, *_ = parts
        return first + parts[1] * len(parts) + parts[2]

    net = Net(function)
    net.hybridize()
    assert net(nd.array([[1, 2, 3]])).tolist() == [[10.0]]


def test_the_scope_ends_with_hybrid_forward() -> None:
    net = Net(OF_OUTPUTS["index"])
    with pytest.raises(NotImplementedError):
        net(sym.var("data"))
    assert sym.var("x")[0].name == "x"


def test_layers_of_this_package_pick_outputs() -> None:
    cell = rnn.LSTMCell(3, input_size=2)
    cell.initialize()
    cell.hybridize()
    output, states = cell(nd.ones((1, 2)), cell.begin_state(batch_size=1))
    assert output.shape == (1, 3)
    assert len(states) == 2


@pytest.mark.parametrize("name", ["shape", "size", "ndim", "dtype", "context", "ctx", "grad"])
def test_an_attribute_of_arrays_is_missing(name: str) -> None:
    x = sym.var("x")
    assert not hasattr(x, name)
    assert not hasattr(type(x), name)
    assert getattr(x, name, 5) == 5


def test_outside_hybrid_forward_the_shape_is_unknown_until_bound() -> None:
    with pytest.raises(AttributeError, match=r"^x.shape: expected an array, got <Symbol x>, which"):
        _ = sym.var("x").shape


def test_transposed_symbol_equals_the_transposed_array() -> None:
    net = Net(lambda F, x: x.T)
    expected = net(nd.ones((2, 3))).shape
    net.hybridize()
    assert net(nd.ones((2, 3))).shape == expected == (3, 2)


def test_numbers_of_numpy_still_multiply_symbols() -> None:
    net = Net(lambda F, x: np.float32(2) * x)
    net.hybridize()
    assert net(nd.ones((1,))).tolist() == [2.0]


def test_a_loop_over_a_one_output_body_runs() -> None:
    def function(F: Any, x: Any) -> Any:
        outputs, _ = F.contrib.foreach(lambda row, state: (row * 2, state), x, [])
        return outputs

    net = Net(function)
    net.hybridize()
    assert net(nd.ones((2, 3))).tolist() == [[2.0] * 3] * 2
