from typing import Any

import numpy as np
import pytest

import gluonish.gluon.nn as nn
import gluonish.ndarray as nd
from gluonish import autograd
from gluonish.core.context import cpu
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
        net.hybridize(inline_limit=3)
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


def _one_node(net: nn.HybridSequential, x: NDArray, **options: Any) -> tuple[Symbol, NDArray]:
    """Return what two calls record, of which the first is a hybridized network's."""
    net.initialize()
    net.hybridize(**options)
    with autograd.record():
        y = net(x) * 2
    return autograd.get_symbol(y), y


def _dense_layers(count: int) -> nn.HybridSequential:
    net = nn.HybridSequential()
    net.add(*(nn.Dense(4, in_units=4) for _ in range(count)))
    return net


@pytest.mark.parametrize(
    ("layers", "options"),
    [(3, {}), (1, {"inline_limit": 0}), (2, {"inline_limit": 3, "static_alloc": True})],
)
def test_a_graph_of_more_operators_than_the_limit_is_one_node(
    layers: int, options: dict[str, Any]
) -> None:  # as MXNet 1.9.1 and 2.0
    net = _dense_layers(layers)
    symbol, _ = _one_node(net, nd.ones((1, 4)), **options)
    assert _names_of_operators(symbol) == [
        "Op:_CachedOp, Name=node_0",
        "Op:_mul_scalar, Name=node_1",
    ]
    assert len(symbol.list_arguments()) == 2 * layers + 1
    last = net[-1].name
    assert f"node_0_{last}_fwd_output" in symbol.get_internals().list_outputs()


def _values(net: nn.HybridSequential, symbol: Symbol, x: NDArray) -> dict[str, NDArray]:
    """Return the arrays that a Symbol of one network reads, the parameters in their order."""
    names = symbol.list_inputs()
    leaves = sorted(name for name in names if name.startswith("var"))
    trained = [p.data() for p in net.collect_params().values() if p.grad_req != "null"]
    others = [p.data() for p in net.collect_params().values() if p.grad_req == "null"]
    constants = sorted(name for name in names if name.startswith("null"))
    return dict(zip([*leaves, *constants], [*trained, x, *others], strict=True))


def test_a_symbol_with_a_graph_as_a_node_computes_differentiates_and_is_written() -> None:
    net = _dense_layers(3)
    x = nd.array([[1, 2, 3, 4]])
    symbol, y = _one_node(net, x)
    values = _values(net, symbol, x)
    for form in (symbol, load_json(symbol.tojson())):
        (found,) = form.eval(**values)
        np.testing.assert_array_equal(found.asnumpy(), y.asnumpy())
        assert form.infer_shape(**{name: a.shape for name, a in values.items()})[1] == [(1, 4)]
    y.backward()
    gradients = {name: nd.zeros_like(a) for name, a in values.items()}
    executor = symbol.bind(cpu(), values, args_grad=gradients)
    executor.forward(is_train=True)
    executor.backward(nd.ones((1, 4)))
    for name, parameter in zip(sorted(values)[1:], net.collect_params().values(), strict=True):
        np.testing.assert_array_equal(gradients[name].asnumpy(), parameter.grad().asnumpy())


def test_statistics_inside_a_graph_as_a_node_are_auxiliary_states() -> None:
    net = _dense_layers(1)
    net.add(nn.BatchNorm(in_channels=4), nn.Dropout(0.5))
    x = nd.array(np.arange(8).reshape(2, 4))
    symbol, _ = _one_node(net, x)
    assert symbol.list_auxiliary_states() == ["null5", "null6"]
    values = _values(net, symbol, x)
    states = {name: values.pop(name) for name in symbol.list_auxiliary_states()}
    executor = symbol.bind(cpu(), values, aux_states=states)
    np.testing.assert_allclose(
        executor.forward()[0].asnumpy(), 2 * net(x).asnumpy(), rtol=1e-6, atol=1e-6
    )


def test_outputs_of_a_graph_as_a_node_keep_their_numbers() -> None:
    class Two(nn.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return F.split(x * 2 + 1, num_outputs=2, axis=0)[1], F.exp(x)

    net = Two()
    net.hybridize()
    x = _leaf([1, 2])
    with autograd.record():
        half, power = net(x)
    assert autograd.get_symbol(half).list_outputs() == [f"node_0_{net.name}_split0_output1"]
    (found,) = autograd.get_symbol(power).eval(var0=x)
    np.testing.assert_array_equal(found.asnumpy(), power.asnumpy())


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
