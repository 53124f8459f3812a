import numpy as np
import pytest

import gluonish.ndarray as nd
import gluonish.nn as nn
from gluonish import autograd
from gluonish.core.errors import ArgumentTypeError, AutogradError, NotSupportedError
from gluonish.ndarray import NDArray, array
from gluonish.symbol import Symbol, load_json


def _leaf(values: list[float]) -> NDArray:
    x = array(values)
    x.attach_grad()
    return x


def _recorded() -> tuple[NDArray, NDArray, NDArray]:
    x, y = _leaf([1, 2]), _leaf([3, 4])
    with autograd.record():
        return x, y, nd.concat(x * y + x, nd.ones((2,)), dim=0)


def _names_of_operators(symbol: Symbol) -> list[str]:
    return [line for line in symbol.debug_str().split("\n") if line.startswith("Op:")]


def test_leaves_and_constants_are_variables_with_one_count() -> None:
    symbol = autograd.get_symbol(_recorded()[2])
    assert symbol.list_arguments() == ["var0", "var1", "null2"]
    assert symbol.list_outputs() == ["node_2_output"]


def test_the_symbol_computes_what_was_recorded() -> None:
    x, y, z = _recorded()
    (found,) = autograd.get_symbol(z).eval(var0=x, var1=y, null2=nd.ones((2,)))
    np.testing.assert_array_equal(found.asnumpy(), z.asnumpy())


def test_the_symbol_can_be_written_and_read() -> None:
    symbol = autograd.get_symbol(_recorded()[2])
    assert load_json(symbol.tojson()).debug_str() == symbol.debug_str()


def test_a_constant_read_twice_is_one_variable() -> None:
    x, c = _leaf([1, 2]), array([5, 6])
    with autograd.record():
        y = x * c + c
    assert autograd.get_symbol(y).list_arguments() == ["var0", "null1"]


def test_a_leaf_alone_is_a_variable() -> None:
    assert autograd.get_symbol(_leaf([1])).list_arguments() == ["var0"]


def test_an_output_of_several_keeps_its_number() -> None:
    x = _leaf([1, 2, 3, 4])
    with autograd.record():
        part = nd.split(x, num_outputs=2, axis=0)[1]
    assert autograd.get_symbol(part).list_outputs() == ["node_0_output1"]


def test_moving_statistics_are_auxiliary_states_and_the_mode_is_left_out() -> None:
    x = array(np.ones((2, 2)))
    x.attach_grad()
    with autograd.record():
        y = nd.BatchNorm(x, nd.ones((2,)), nd.ones((2,)), nd.zeros((2,)), nd.ones((2,)))
        y = nd.Dropout(y, p=0.25)
    symbol = autograd.get_symbol(y)
    assert symbol.list_auxiliary_states() == ["null3", "null4"]
    assert symbol.attr_dict() == {"node_1": {"p": "0.25"}}


@pytest.mark.parametrize("hybridize", [False, True])
def test_a_hybridized_block_appears_operator_by_operator(hybridize: bool) -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(2, activation="relu", in_units=2), nn.Dense(3, in_units=2))
    net.initialize()
    if hybridize:
        net.hybridize()
    with autograd.record():
        y = net(nd.ones((1, 2))) * 2
    symbol = autograd.get_symbol(y)
    assert _names_of_operators(symbol) == [
        "Op:FullyConnected, Name=node_0",
        "Op:Activation, Name=node_1",
        "Op:FullyConnected, Name=node_2",
        "Op:_mul_scalar, Name=node_3",
    ]
    assert len(symbol.list_arguments()) == 5


def test_other_values_than_arrays_are_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="get_symbol: expected an NDArray, got int"):
        autograd.get_symbol(3)  # type: ignore[arg-type]


def test_an_array_that_was_not_recorded_is_refused() -> None:
    with pytest.raises(AutogradError, match="get_symbol: expected an array that autograd recorded"):
        autograd.get_symbol(array([1]))


@pytest.mark.parametrize("hybridize", [False, True])
def test_a_freed_record_is_refused(hybridize: bool) -> None:
    net = nn.Dense(1, in_units=2)
    net.initialize()
    if hybridize:
        net.hybridize()
    with autograd.record():
        y = net(nd.ones((1, 2)))
    y.backward()
    with pytest.raises(AutogradError, match="freed at"):
        autograd.get_symbol(y)


class _Double(autograd.Function):
    def forward(self, x: NDArray) -> NDArray:
        return x * 2

    def backward(self, dy: NDArray) -> NDArray:
        return dy * 2


def test_a_function_of_the_user_has_no_symbol() -> None:
    x = _leaf([1])
    with autograd.record():
        y = _Double()(x)
    with pytest.raises(NotSupportedError, match=r"got a call of an autograd\.Function"):
        autograd.get_symbol(y)
