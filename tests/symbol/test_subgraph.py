"""A user's back end gets subgraphs of a Symbol, and what it returns takes their place."""

import logging
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.config import MXNET_SUBGRAPH_BACKEND
from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    ConfigError,
    FileFormatError,
    GraphError,
    NotSupportedError,
)
from gluonish.symbol import OperatorNode, Subgraph, SubgraphBackend
from gluonish.symbol.subgraph import registered_backend


class Recorded(SubgraphBackend):
    """Takes some operators, remembers what it was given, and returns what a test says."""

    seen: list[Subgraph]
    made: Any = None
    names: tuple[str, ...] = ("sin", "relu")

    def __init__(self, also: str = "") -> None:
        self.also = also

    def select(self, node: OperatorNode) -> bool:
        return node.op in (*self.names, self.also)

    def replace(self, subgraph: Subgraph) -> Any:
        self.seen.append(subgraph)
        return type(self).made(subgraph) if type(self).made is not None else None


@pytest.fixture
def backend() -> Iterator[type[Recorded]]:
    kind = type("Mine", (Recorded,), {"seen": []})
    with registered_backend("mine", kind):
        yield kind


def _net() -> Any:
    x, weight = mx.sym.var("x"), mx.sym.var("weight")
    dense = mx.sym.FullyConnected(x, weight, num_hidden=3, no_bias=True, name="dense")
    return mx.sym.relu(mx.sym.sin(dense, name="wave"), name="cut") * 2


X = nd.array([[1.0, 2.0], [3.0, -4.0]])
WEIGHT = nd.array([[0.5, 1.0], [-1.0, 0.25], [2.0, 0.0]])
ARGS = {"x": X, "weight": WEIGHT}


def _value(symbol: Any) -> Any:
    return symbol.eval(**ARGS)[0].asnumpy()


EXPECTED = 2 * np.maximum(np.sin(X.asnumpy() @ WEIGHT.asnumpy().T), 0)


def test_a_subgraph_is_described(backend: type[Recorded]) -> None:
    _net().optimize_for("mine", ARGS, also="FullyConnected")
    (subgraph,) = backend.seen
    assert subgraph.name == "mine0"
    assert [node.name for node in subgraph.nodes] == ["dense", "wave", "cut"]
    assert subgraph.inputs == ["x", "weight"]
    assert subgraph.outputs == ["cut_output"]
    assert subgraph.shapes == {"x": (2, 2), "weight": (3, 2)}
    assert subgraph.arrays["weight"] is WEIGHT
    dense = subgraph.nodes[0]
    assert (dense.op, dense.attrs["num_hidden"]) == ("FullyConnected", 3)
    assert dense.inputs == ("x", "weight")
    assert (dense.input_shapes, dense.output_shapes) == (((2, 2), (3, 2)), ((2, 3),))
    assert dense.output_dtypes == (np.float32,)


def test_none_leaves_the_graph(backend: type[Recorded]) -> None:
    net = _net()
    assert net.optimize_for("mine", ARGS).tojson() == net.tojson()
    assert len(backend.seen) == 1


def test_a_symbol_takes_the_place(backend: type[Recorded]) -> None:
    backend.made = lambda subgraph: mx.sym.tanh(mx.sym.var(subgraph.inputs[0]), name="new")
    made = _net().optimize_for("mine", ARGS)
    np.testing.assert_allclose(
        _value(made), 2 * np.tanh(X.asnumpy() @ WEIGHT.asnumpy().T), rtol=1e-5
    )
    assert made.list_arguments() == ["x", "weight"]
    again = mx.sym.load_json(made.tojson())
    np.testing.assert_array_equal(_value(again), _value(made))


def test_a_function_takes_the_place(backend: type[Recorded]) -> None:
    calls = []

    def function(x: Any) -> Any:
        calls.append(x.shape)
        return nd.relu(nd.sin(x))

    backend.made = lambda subgraph: function
    made = _net().optimize_for("mine", ARGS)
    np.testing.assert_allclose(_value(made), EXPECTED, rtol=1e-5)
    assert calls == [(2, 3)]
    assert made.infer_shape(x=(5, 2))[1] == [(5, 3)]
    assert made.infer_type(x="float32")[1] == [np.float32]


def test_a_function_has_a_gradient(backend: type[Recorded]) -> None:
    backend.made = lambda subgraph: lambda x: nd.relu(nd.sin(x))
    grads = []
    for symbol in (_net(), _net().optimize_for("mine", ARGS)):
        executor = symbol.bind(mx.cpu(), ARGS, {"weight": nd.zeros((3, 2)), "x": nd.zeros((2, 2))})
        executor.forward(is_train=True)
        executor.backward([nd.ones((2, 3))])
        grads.append([executor.grad_dict[name].asnumpy() for name in ARGS])
    for got, expected in zip(grads[1], grads[0], strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5)
        assert np.abs(expected).max() > 0.1


def test_a_function_of_several_outputs(backend: type[Recorded]) -> None:
    x = mx.sym.var("x")
    wave = mx.sym.sin(x)
    backend.made = lambda subgraph: (
        lambda a: [nd.relu(nd.sin(a)), nd.sin(a)][
            :: 1 if subgraph.outputs[0].startswith("relu") else -1
        ]
    )
    made = mx.sym.Group([mx.sym.tanh(mx.sym.relu(wave)), wave]).optimize_for("mine", [X])
    results = [y.asnumpy() for y in made.eval(x=X)]
    sine = np.sin(X.asnumpy())
    np.testing.assert_allclose(results[0], np.tanh(np.maximum(sine, 0)), rtol=1e-5)
    np.testing.assert_allclose(results[1], sine, rtol=1e-5)


def test_a_parameter_can_be_added(backend: type[Recorded]) -> None:
    def scaled(subgraph: Subgraph) -> Any:
        factor = subgraph.add_parameter("factor", nd.array([3.0]))
        return mx.sym.broadcast_mul(mx.sym.var(subgraph.inputs[0]), factor)

    backend.made = scaled
    args = dict(ARGS)
    made = _net().optimize_for("mine", args)
    assert made.list_arguments() == ["x", "weight", "mine0_factor"]
    assert args["mine0_factor"].asnumpy() == [3]
    got = made.eval(**args)[0].asnumpy()
    np.testing.assert_allclose(got, 6 * X.asnumpy() @ WEIGHT.asnumpy().T, rtol=1e-5)
    with pytest.raises(GraphError, match="'mine0_factor' that the backend adds, got NoneType"):
        _net().optimize_for("mine", shape_dict={"x": (2, 2)})


def test_hooks_see_the_whole_graph(backend: type[Recorded]) -> None:
    told: list[list[str]] = []
    backend.begin = lambda self, symbol: told.append(symbol.list_outputs())  # type: ignore[method-assign]
    backend.end = lambda self, symbol: symbol + 1  # type: ignore[method-assign]
    np.testing.assert_allclose(_value(_net().optimize_for("mine", ARGS)), EXPECTED + 1, rtol=1e-5)
    assert len(told) == 1


def test_without_arrays_nothing_is_known(backend: type[Recorded]) -> None:
    backend.made = lambda subgraph: mx.sym.tanh(mx.sym.var(subgraph.inputs[0]))
    made = _net().get_backend_symbol("mine")
    assert "tanh" in made.tojson()
    (subgraph,) = backend.seen
    assert subgraph.shapes == {"dense_output": None}
    assert subgraph.nodes[0].output_shapes == (None,)


def test_the_environment_names_a_backend(backend: type[Recorded]) -> None:
    backend.made = lambda subgraph: lambda x: nd.tanh(x)
    with MXNET_SUBGRAPH_BACKEND.override("mine"):
        executor = _net().bind(mx.cpu(), ARGS)
    got = executor.forward()[0].asnumpy()
    np.testing.assert_allclose(got, 2 * np.tanh(X.asnumpy() @ WEIGHT.asnumpy().T), rtol=1e-5)
    assert "_subgraph_call" in executor.get_optimized_symbol().debug_str()


def test_the_environment_names_nothing_that_is_there() -> None:
    with (
        MXNET_SUBGRAPH_BACKEND.override("nobody"),
        pytest.raises(ConfigError, match=r"MXNET_SUBGRAPH_BACKEND: expected .*got 'nobody'"),
    ):
        _net().bind(mx.cpu(), ARGS)


def test_a_function_is_in_no_file(backend: type[Recorded]) -> None:
    backend.made = lambda subgraph: lambda x: nd.tanh(x)
    with pytest.raises(GraphError, match=r"save: .* backend 'mine' put there \(mine0\); save"):
        _net().optimize_for("mine", ARGS).tojson()
    text = _net().tojson().replace('"sin"', '"_subgraph_call"')
    with pytest.raises(FileFormatError, match="_subgraph_call"):
        mx.sym.load_json(text)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda s: 5, r"replace of backend 'mine' .* for mine0 \(wave, cut\), got 5"),
        (lambda s: 1 / 0, r"replace of backend 'mine' failed at mine0 \(wave, cut\): ZeroDiv"),
        (
            lambda s: mx.sym.Group([s.symbol, s.symbol]),
            r"the Symbol of backend 'mine' for mine0 \(wave, cut\) to have 1 outputs, got 2",
        ),
        (lambda s: s.symbol.sum(), r"outputs of shapes \[\(2, 3\)\], got \[\(1,\)\]"),
    ],
)
def test_a_backend_that_fails_is_named(backend: type[Recorded], made: Any, message: str) -> None:
    backend.made = made
    with pytest.raises(GraphError, match=message):
        _net().optimize_for("mine", ARGS)


def test_a_function_of_another_shape_is_named(backend: type[Recorded]) -> None:
    backend.made = lambda subgraph: lambda x: x.sum()
    made = _net().optimize_for("mine", ARGS)
    with pytest.raises(mx.base.MXNetError, match=r"mine0 of mine.*\[\(2, 3\)\], got \[\(1,\)\]"):
        _value(made)


def test_options_reach_the_backend(backend: type[Recorded]) -> None:
    with pytest.raises(ArgumentError, match=r"options of backend 'mine', got \{'speed': 3\}"):
        _net().optimize_for("mine", ARGS, speed=3)


def test_methods_that_are_not_there_are_named() -> None:
    with (
        registered_backend("empty", SubgraphBackend),
        pytest.raises(GraphError, match=r"select of backend 'empty' at dense: .*defines select"),
    ):
        _net().optimize_for("empty", ARGS)


def test_registering_checks_names_and_classes() -> None:
    with pytest.raises(ArgumentError, match="got 'ONEDNN'"):
        mx.sym.register_backend("ONEDNN")
    with pytest.raises(ArgumentTypeError, match="expected a SubgraphBackend, got <class 'int'>"):
        mx.sym.register_backend("number")(int)  # type: ignore[arg-type]
    with pytest.raises(NotSupportedError, match="defines replace"):
        SubgraphBackend().replace(None)  # type: ignore[arg-type]


def test_states_come_last_and_can_be_moved(backend: type[Recorded]) -> None:
    backend.names = ("BatchNorm",)
    mean, variance = nd.zeros((2,)), nd.ones((2,))
    normalized = mx.sym.BatchNorm(mx.sym.var("x"), name="bn", fix_gamma=False)

    def function(x: Any, gamma: Any, beta: Any, mean: Any, variance: Any) -> Any:
        mean[:] = mean + 5
        return x + beta * gamma

    backend.made = lambda subgraph: function
    args = {"x": X, "bn_gamma": nd.ones((2,)), "bn_beta": nd.ones((2,))}
    aux = {"bn_moving_mean": mean, "bn_moving_var": variance}
    made = normalized.optimize_for("mine", args, aux)
    (subgraph,) = backend.seen
    assert subgraph.auxiliary == ["bn_moving_mean", "bn_moving_var"]
    assert made.list_auxiliary_states() == subgraph.auxiliary
    executor = made.bind(mx.cpu(), args, aux_states=aux)
    np.testing.assert_array_equal(executor.forward(is_train=True)[0].asnumpy(), X.asnumpy() + 1)
    np.testing.assert_array_equal(mean.asnumpy(), [5, 5])


def test_names_of_gluonish_change_nothing(caplog: pytest.LogCaptureFixture) -> None:
    net = _net()
    with caplog.at_level(logging.WARNING, "gluonish"):
        assert net.optimize_for("MKLDNN").tojson() == net.tojson()
    assert not caplog.text
