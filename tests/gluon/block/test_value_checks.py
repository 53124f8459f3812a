"""`mx.check_values` in networks: what it says does not depend on how the network runs."""

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.core import training_step
from gluonish.core.dtype import is_floating
from gluonish.core.errors import NonFiniteError, OperatorIndexError
from gluonish.engine import use_engine
from gluonish.gluon import nn, rnn
from gluonish.ops.registry import Operator, apply, find_operator
from tests.ops.cases import CASES


@pytest.fixture(autouse=True)
def no_earlier_trainer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages name the step of the newest Trainer, which may be another test's."""
    monkeypatch.setattr(training_step, "_latest", [])


WAYS: dict[str, dict[str, Any] | None] = {
    "eager": None,
    "hybridized": {},
    "static": {"static_alloc": True, "static_shape": True},
}


class Apply(gluon.HybridBlock):
    """A network of one operator."""

    def __init__(self, op: Operator, attrs: dict[str, Any]) -> None:
        super().__init__(prefix="net_")
        self.op, self.attrs = op, attrs

    def forward(self, *xs: Any) -> Any:
        return apply(self.op, xs, self.attrs)


class Logarithms(gluon.HybridBlock):
    """A network with a bad operator in a layer of a layer."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(prefix="net_", **kwargs)
        with self.name_scope():
            self.body = nn.HybridSequential(prefix="body_")
            with self.body.name_scope():
                self.body.add(nn.Dense(3, prefix="first_"), Difference(prefix="second_"))

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.relu(self.body(x))


class Difference(gluon.HybridBlock):
    """0, computed in a way that no pass simplifies."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        y = F.relu(x) * 0
        return F.sqrt(y)  # whose gradient is infinite


def made(way: str, net: Any) -> Any:
    net.initialize()
    if WAYS[way] is not None:
        net.hybridize(**WAYS[way])
    return net


def message(run: Any) -> str:
    try:
        run()
    except (FloatingPointError, IndexError) as error:
        return str(error)
    return ""


def of_every_way(run: Any, make: Any) -> set[str]:
    """Return the messages of a computation, eagerly and as graphs, on the engines."""
    found = set()
    for engine in ("NaiveEngine", "ThreadedEnginePerDevice"):
        with use_engine(engine):
            for way in WAYS:
                net = made(way, make())
                with mx.check_values():
                    found.add(message(lambda: run(net)))  # noqa: B023  # runs here
    return found


CASES_OF_TWO = sorted(
    name
    for name, case in CASES.items()
    if case.inputs and is_floating(np.asarray(case.inputs[0]).dtype)
)


@pytest.mark.parametrize("name", CASES_OF_TWO)
def test_graphs_report_what_eager_calls_report(name: str) -> None:
    op, case = find_operator(name), CASES[name]
    given = dict(case.attrs)
    if op.variadic is not None:
        given.setdefault(op.variadic, len(case.inputs))
    attrs = op.schema.parse(op.name, given)
    arrays = [np.asarray(x).copy() for x in case.inputs]
    if arrays[0].size:
        arrays[0].reshape(-1)[0] = np.nan
    found = set()
    for way in WAYS:
        net = made(way, Apply(op, attrs))
        inputs = [nd.array(x, dtype=x.dtype) for x in arrays]
        with mx.check_values(labels=False), contextlib.suppress(OperatorIndexError):
            found.add(message(lambda: net(*inputs)))  # noqa: B023
    assert len(found) <= 1


def gradients(net: Any, arrays: list[Any]) -> list[Any] | None:
    """Return the gradients for a head that has NaN, or None if there are no gradients."""
    xs = [nd.array(x, dtype=x.dtype) for x in arrays]
    for x in xs:
        if is_floating(np.dtype(x.dtype)):
            x.attach_grad()
    with autograd.record():
        made = net(*xs)
    outputs = [y for y in (made if isinstance(made, list | tuple) else [made]) if y._edge]
    outputs = [y for y in outputs if is_floating(np.dtype(y.dtype)) and y.size]
    if not outputs:
        return None
    heads = []
    for y in outputs:
        values = np.ones(y.shape)
        values.reshape(-1)[0] = np.nan
        heads.append(nd.array(values, dtype=y.dtype))
    autograd.backward(outputs, heads)
    return [x.grad.asnumpy().astype(np.float64) for x in xs if x.grad is not None]


@pytest.mark.parametrize("name", [x for x in CASES_OF_TWO if find_operator(x).gradient is not None])
def test_gradients_of_graphs_are_reported_as_eager_ones(name: str) -> None:
    op, case = find_operator(name), CASES[name]
    given = dict(case.attrs)
    if op.variadic is not None:
        given.setdefault(op.variadic, len(case.inputs))
    attrs = op.schema.parse(op.name, given)
    arrays = [np.asarray(x) for x in case.inputs]
    try:
        plain = gradients(made("eager", Apply(op, attrs)), arrays)
    except mx.MXNetError:
        return
    if plain is None:
        return
    is_bad = not all(np.isfinite(x).all() for x in plain)
    found = {}
    for way in WAYS:
        net = made(way, Apply(op, attrs))
        with mx.check_values(labels=False):
            found[way] = message(lambda: gradients(net, arrays))  # noqa: B023
    assert [bool(text) for text in found.values()] == [is_bad] * len(WAYS)
    if name != "_copy":  # which graphs omit
        assert len(set(found.values())) == 1


def test_a_layer_is_named_by_its_place_with_the_users_line() -> None:
    (text,) = of_every_way(lambda net: net(nd.array([[1, np.nan]])), Logarithms)
    assert text.startswith(
        "Dense net_body_first (body[0]): FullyConnected: expected finite values, got NaN in its "
        "input data (1 of 2 values, the first at [0, 1])"
    )
    assert "; at test_value_checks.py:" in text
    assert text.endswith("in hybrid_forward: return F.relu(self.body(x))")


def test_a_gradient_is_named_by_its_layer_with_the_line_of_the_forward_pass() -> None:
    def step(net: Any) -> None:
        with autograd.record():
            y = net(nd.ones((2, 4)))
        y.backward()

    (text,) = of_every_way(step, Logarithms)
    assert text.startswith(
        "Difference net_body_second (body[1]): sqrt: expected finite gradients, got NaN in "
        "the gradient of its input data"
    )
    assert text.endswith("return F.sqrt(y)  # whose gradient is infinite")


def test_embedding_ids_are_named() -> None:
    (text,) = of_every_way(
        lambda net: net(nd.array([[0, 5]])), lambda: nn.Embedding(5, 2, prefix="e_")
    )
    assert text.startswith("Embedding e: Embedding: expected data from 0 to 4, got 5.0 at [0, 1]")


def test_an_intermediate_value_of_a_fused_graph_is_found() -> None:
    class Vanishing(gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any) -> Any:
            large = F.exp(x)
            return 1 / (1 + large)

    (text,) = of_every_way(lambda net: net(nd.array([1, 1000])), lambda: Vanishing(prefix="v_"))
    assert text.startswith("Vanishing v: exp: expected finite values, got infinity in its output")


def test_values_that_depend_on_the_shape_of_values_are_checked() -> None:
    class Dynamic(gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return F.log(F.contrib.boolean_mask(x, x < 2))

    found = of_every_way(lambda net: net(nd.array([0, 1, 2])), lambda: Dynamic(prefix="d_"))
    # Without a plan, the line of an operator is that of the network's call.
    assert {text.partition("; at ")[0] for text in found} == {
        "Dynamic d: log: expected finite values, got -infinity in its output (1 of 2 values, the "
        "first at [0])"
    }


def networks() -> Iterator[tuple[str, Any, Any]]:
    convolutions = nn.HybridSequential()
    convolutions.add(
        nn.Conv2D(6, 3, padding=1, activation="relu"),
        nn.BatchNorm(),
        nn.MaxPool2D(),
        nn.Dropout(0.3),
        nn.Flatten(),
        nn.Dense(5),
    )
    yield "convolutions", convolutions, nd.random.normal(shape=(4, 3, 8, 8))
    yield "lstm", rnn.LSTM(5, layout="NTC"), nd.random.normal(shape=(4, 3, 6))
    cell = nn.HybridSequential()
    cell.add(nn.Dense(16, activation="tanh"), nn.LayerNorm(), nn.Dense(4), nn.Activation("sigmoid"))
    yield "dense", cell, nd.random.normal(shape=(4, 7))


def trained(net: Any, x: Any, checked: bool) -> list[Any]:
    """Return the parameters after steps, and the last outputs."""
    mx.random.seed(3)
    np.random.seed(3)  # noqa: NPY002  # of initializers
    net.initialize(mx.init.Xavier(), force_reinit=True)
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
    loss = gluon.loss.L2Loss()
    with mx.check_values() if checked else contextlib.nullcontext():
        for _ in range(4):
            with autograd.record():
                y = net(x)
                value = loss(y, nd.ones_like(y))
            value.backward()
            trainer.step(4)
        outputs = net(x)
    values = [p.data().asnumpy() for p in net.collect_params().values()]
    return [*values, outputs.asnumpy()]


@pytest.mark.parametrize("way", WAYS)
def test_results_have_equal_bits(way: str) -> None:
    for name, net, x in networks():
        made(way, net)(x)  # infers the shapes of parameters
        plain, checked = trained(net, x, False), trained(net, x, True)
        for a, b in zip(plain, checked, strict=True):
            np.testing.assert_array_equal(a, b, err_msg=name)


def test_random_numbers_continue_as_without_checks() -> None:
    net = nn.Dropout(0.5)
    net.hybridize()
    draws = []
    for scope in (contextlib.nullcontext(), mx.check_values()):
        mx.random.seed(5)
        with scope, autograd.record():
            draws.append([net(nd.ones((8,))).asnumpy() for _ in range(3)])
            draws[-1].append(nd.random.uniform(shape=(3,)).asnumpy())
    for a, b in zip(*draws, strict=True):
        np.testing.assert_array_equal(a, b)


def test_two_devices_name_the_bad_values_of_either() -> None:
    devices = [mx.cpu(0), mx.cpu(1)]
    net = nn.Dense(2, in_units=3, prefix="layer_")
    net.initialize(ctx=devices)
    net.hybridize()
    for device in devices:
        x = nd.array([[1, 2, np.nan]], ctx=device)
        with mx.check_values(), pytest.raises(NonFiniteError, match="Dense layer: FullyConnected"):
            net(x)


def test_an_op_hook_and_checks_run_together() -> None:
    net = Logarithms()
    net.initialize()
    seen: list[str] = []
    net.register_op_hook(lambda name, op, array: seen.append(op))
    with mx.check_values():
        assert net(nd.ones((1, 2))).shape == (1, 3)


def test_a_checkpointed_layer_is_checked() -> None:
    net = Logarithms()
    net.initialize()
    net.body[1].checkpoint()
    x = nd.ones((1, 2))
    with mx.check_values():
        with autograd.record():
            y = net(x)
        with pytest.raises(NonFiniteError, match="sqrt: expected finite gradients"):
            y.backward()


def test_a_graph_recorded_before_the_scope_is_checked_as_a_whole() -> None:
    net = made("hybridized", Logarithms())
    with autograd.record():
        y = net(nd.ones((1, 2)))
    with mx.check_values(), pytest.raises(NonFiniteError, match="net: expected finite gradients"):
        y.backward()
