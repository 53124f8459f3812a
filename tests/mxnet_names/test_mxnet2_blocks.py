"""Blocks, arrays and files by the rules of MXNet 2.0, each checked against MXNet 2.0.0b1."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import gluonish as mx
from gluonish import autograd, gluon, np, npx
from gluonish.core.errors import ArgumentTypeError, GraphError, ParameterError
from gluonish.core.mxnet_rules import Rules, follow_mxnet
from gluonish.gluon import nn


@pytest.fixture(autouse=True)
def mxnet2() -> Iterator[None]:
    before = follow_mxnet(Rules.MXNET2)
    npx.set_np()
    yield
    npx.reset_np()
    follow_mxnet(before)


class Pair(nn.HybridBlock):
    """Two outputs."""

    def forward(self, x: Any) -> Any:
        return [x, x * 2]


class Add(nn.HybridBlock):
    """Two inputs."""

    def forward(self, x: Any, y: Any) -> Any:
        return x + y


@pytest.mark.parametrize("kind", [nn.Sequential, nn.HybridSequential])
@pytest.mark.parametrize("hybrid", [False, True])
def test_layers_pass_on_several_arrays(kind: type, hybrid: bool) -> None:
    x = np.array([1.0, 2.0])
    net = kind()
    net.add(Pair(), Add())
    both = kind()
    both.add(Add(), Pair())
    if hybrid and kind is nn.HybridSequential:
        net.hybridize()
        both.hybridize()
    assert net(x).tolist() == [3.0, 6.0]
    assert [y.tolist() for y in both(x, x)] == [[2.0, 4.0], [4.0, 8.0]]


def test_first_layer_of_other_rules_takes_several_arrays_too() -> None:
    follow_mxnet(Rules.GLUONISH)
    net = nn.HybridSequential()
    net.add(Add(), nn.Activation("relu"))
    x = np.array([1.0, -2.0])
    assert net(x, x).tolist() == [2.0, 0.0]
    seen = nn.Sequential()
    seen.add(Pair(), nn.Lambda(lambda outputs: len(outputs)))
    assert seen(x) == 2


@pytest.mark.parametrize("hybrid", [False, True])
def test_function_of_a_hybrid_lambda_gets_arrays(hybrid: bool) -> None:
    net = nn.HybridLambda(lambda x: npx.relu(x) + 1)
    if hybrid:
        net.hybridize()
    assert net(np.array([-1.0, 2.0])).tolist() == [1.0, 3.0]
    assert nn.HybridLambda("relu")(np.array([-1.0, 2.0])).tolist() == [0.0, 2.0]


@pytest.mark.parametrize("rules", [Rules.MXNET2, Rules.GLUONISH])
def test_parameter_set_as_an_attribute_is_shared(rules: Rules) -> None:
    follow_mxnet(rules)
    a, b = nn.Dense(2, in_units=2), nn.Dense(2, in_units=2)
    b.weight = a.weight
    net = nn.HybridSequential()
    net.add(a, b)
    net.initialize(mx.init.One())
    net.hybridize()
    with autograd.record():
        y = net(np.ones((1, 2)))
    y.backward()
    assert b.weight is a.weight
    assert y.tolist() == [[4.0, 4.0]]
    assert a.weight.grad().tolist() == [[4.0, 4.0], [4.0, 4.0]]


def test_parameter_of_an_attribute_is_not_replaced_in_1_9() -> None:
    follow_mxnet(Rules.MXNET1)
    a, b = nn.Dense(2, in_units=2), nn.Dense(2, in_units=2)
    with pytest.raises(ParameterError, match="got weight, which holds another"):
        b.weight = a.weight


class Constants(nn.HybridBlock):
    """Arrays made in ``forward``: of one value, of equal steps, and others."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(3, in_units=3, use_bias=False)

    def forward(self, x: Any) -> Any:
        table = np.array([[1.0, 5.0, 2.0]])
        return self.dense(x + np.ones((1, 3)) + np.arange(3)) * table - np.full((3,), 0.1)


def test_exported_graph_holds_the_arrays_of_forward(tmp_path: Path) -> None:
    net = Constants()
    net.initialize(mx.init.Constant(0.5))
    net.hybridize()
    x = np.array([[1.0, -3.0, 3.0]])
    wanted = net(x).asnumpy()
    files = net.export(str(tmp_path / "net"))
    loaded = gluon.SymbolBlock.imports(files[0], "data", files[1], device=x.device)
    onp.testing.assert_array_equal(loaded(x).asnumpy(), wanted)
    assert sorted(loaded.collect_params()) == ["constant2", "dense.weight"]
    with autograd.record():
        y = loaded(x)
    y.backward()
    parameters = loaded.collect_params()
    assert not parameters["constant2"].grad().asnumpy().any()
    assert parameters["dense.weight"].grad().asnumpy().all()


def test_export_without_a_path_returns_graph_and_arrays() -> None:
    net = nn.Dense(2, in_units=3)
    net.initialize()
    net.hybridize()
    net(np.ones((1, 3)))
    symbol, arrays = net.export(None)
    assert symbol.list_inputs() == ["data", "weight", "bias"]
    assert sorted(arrays) == ["arg:bias", "arg:weight"]


def test_network_of_one_layer_is_imported(tmp_path: Path) -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(2, in_units=3))
    net.initialize()
    net.hybridize()
    x = np.ones((1, 3))
    wanted = net(x).asnumpy()
    files = net.export(str(tmp_path / "net"))
    loaded = gluon.SymbolBlock.imports(files[0], "data", files[1], device=x.device)
    onp.testing.assert_array_equal(loaded(x).asnumpy(), wanted)


def test_symbol_of_noted_operators() -> None:
    deferred: Any = mx._deferred_compute  # type: ignore[attr-defined]  # MXNet's name
    x = np.array([1.0, 2.0])
    assert not deferred.is_deferred_compute()
    with deferred.context():
        assert deferred.is_deferred_compute()
        deferred.set_variable(x, mx.sym.var("x").as_np_ndarray())
        y = np.exp(x) * 2
        with deferred.context(False):
            z = y + 1
    symbol = deferred.get_symbol([y])
    found = symbol._bind(mx.cpu(), {"x": np.array([0.0, 1.0])}).forward()[0]
    onp.testing.assert_allclose(found.asnumpy(), 2 * onp.exp([0.0, 1.0]), rtol=1e-6)
    onp.testing.assert_allclose(y.asnumpy(), 2 * onp.exp([1.0, 2.0]), rtol=1e-6)
    with pytest.raises(GraphError, match="got another one"):
        deferred.get_symbol(z)
    with pytest.raises(ArgumentTypeError, match="got 1 for 2"):
        deferred.set_variable([x, y], mx.sym.var("x"))
    assert deferred.set_deferred_compute(True) is False
    assert deferred.set_deferred_compute(False) is True


def test_executor_of_a_numpy_symbol_returns_np_arrays() -> None:
    symbol: Any = mx.sym.np.exp(mx.sym.var("x").as_np_ndarray())  # type: ignore[attr-defined]
    executor = symbol._simple_bind(mx.cpu(), x=(2,))
    executor.arg_dict["x"][:] = 0
    assert isinstance(executor.forward()[0], np.ndarray)
    assert executor.forward()[0].tolist() == [1.0, 1.0]


def test_one_array_is_saved_as_numpy_does(tmp_path: Path) -> None:
    path = str(tmp_path / "x.npy")
    npx.save(path, np.arange(3))
    assert onp.load(path).tolist() == [0.0, 1.0, 2.0]
    assert npx.load(path).tolist() == [0.0, 1.0, 2.0]


def test_gradient_is_dropped_and_the_graph_stays() -> None:
    x = np.ones(2)
    x.attach_grad()
    with autograd.record():
        y = x * 2
        y.attach_grad()
        y.drop_grad()
        z = y * 3
    z.backward()
    assert y.grad is None
    assert x.grad.tolist() == [6.0, 6.0]


def test_states_are_made_by_functions_of_np() -> None:
    layer, cell = gluon.rnn.LSTM(3), gluon.rnn.GRUCell(3)
    assert [x.shape for x in layer.begin_state(2, func=np.ones)] == [(1, 2, 3)] * 2
    seen: list[dict[str, Any]] = []
    cell.begin_state(2, func=lambda **options: seen.append(options))
    assert [sorted(options) for options in seen] == [["device", "dtype", "shape"]]


def test_kinds_of_numbers() -> None:
    assert type(gluon.utils.clip_global_norm([np.array([3.0, 4.0])], 1.0)) is float
    assert np.interp(2.5, np.array([2.0, 3.0]), np.array([0.0, 1.0])).shape == ()
    x = mx.nd.array([[1, 2], [3, 4]])
    assert (x[0, 1].shape, x[0].shape, x[0:1, 0].shape) == ((), (2,), (1,))
    assert mx.nd.linalg.det(x).shape == ()


def test_bias_of_fully_connected_has_to_be_asked_for() -> None:
    x, weight, bias = np.ones((1, 2)), np.ones((1, 2)), np.ones(1)
    assert npx.fully_connected(x, weight, bias, num_hidden=1).tolist() == [[2.0]]
    assert npx.fully_connected(x, weight, bias, num_hidden=1, no_bias=False).tolist() == [[3.0]]


def test_iterators_of_files_give_np_arrays(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("1,2\n3,4\n")
    batch = next(iter(mx.io.CSVIter(data_csv=str(path), data_shape=(2,), batch_size=2)))
    assert isinstance(batch.data[0], np.ndarray)
    npx.reset_np()
    batch = next(iter(mx.io.CSVIter(data_csv=str(path), data_shape=(2,), batch_size=2)))
    assert not isinstance(batch.data[0], np.ndarray)


def test_step_of_no_samples_is_a_division_by_zero() -> None:
    net = nn.Dense(1, in_units=1)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    with pytest.raises(ZeroDivisionError, match="expected batch_size above 0, got 0"):
        trainer.step(0)


def test_transposed_convolution_prints_input_channels_first() -> None:
    assert repr(nn.Conv2DTranspose(2, 3)).startswith("Conv2DTranspose(-1 -> 2, ")
