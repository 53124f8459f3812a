"""_lstm_step and _gru_step are what the cells' formulas say, with all their gradients."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gluonish import autograd, gluon, nd
from gluonish.core.errors import OperatorError
from gluonish.gluon import rnn
from gluonish.gluon.block.hybrid_graph import OpHookScope
from gluonish.ndarray.recording import OperatorNode
from tests.checking.check_operator import check_operator
from tests.checking.values import run_operator

N, H = 3, 4


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def lstm(i2h: Any, h2h: Any, c: Any) -> tuple[Any, Any]:
    i, f, g, o = np.split(i2h.astype(np.float64) + h2h, 4, axis=1)
    after = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(after), after


def gru(i2h: Any, h2h: Any, h: Any) -> Any:
    (ir, iz, i_new), (hr, hz, h_new) = (
        np.split(x.astype(np.float64), 3, axis=1) for x in (i2h, h2h)
    )
    z = sigmoid(iz + hz)
    return (1 - z) * np.tanh(i_new + sigmoid(ir + hr) * h_new) + z * h


def draw(*widths: int, n: int = N, dtype: Any = np.float32) -> list[Any]:
    random = np.random.default_rng(1)
    return [random.standard_normal((n, width)).astype(dtype) for width in widths]


def test_lstm() -> None:
    check_operator("_lstm_step", draw(4 * H, 4 * H, H), {}, lstm, wrt=(0, 1, 2))


def test_gru() -> None:
    check_operator("_gru_step", draw(3 * H, 3 * H, H), {}, gru, wrt=(0, 1, 2))


@pytest.mark.parametrize(("n", "units"), [(1, 1), (32, 128), (70, 300), (5, 2049)])
@pytest.mark.parametrize(("name", "gates", "formula"), [("lstm", 4, lstm), ("gru", 3, gru)])
def test_sizes(name: str, gates: int, formula: Callable[..., Any], n: int, units: int) -> None:
    arrays = draw(gates * units, gates * units, units, n=n)
    expected = formula(*arrays)
    got = run_operator(f"_{name}_step", *arrays)
    pairs = zip(got[:2], expected, strict=True) if name == "lstm" else [(got, expected)]
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(3, 4), (3, 4, 1), (4,)])
@pytest.mark.parametrize(("name", "gates"), [("lstm", 4), ("gru", 3)])
def test_products_of_other_shapes_are_refused(name: str, gates: int, shape: Any) -> None:
    with pytest.raises(OperatorError, match=rf"_{name}_step: expected floating products"):
        run_operator(f"_{name}_step", *draw(4 * H + 1, gates * H), np.zeros(shape, np.float32))


CELLS = {
    "lstm": lambda: rnn.LSTMCell(H, input_size=5),
    "gru": lambda: rnn.GRUCell(H, input_size=5),
    "lstmp": lambda: gluon.contrib.rnn.LSTMPCell(6, H, input_size=5),
}


def run_cell(cell: Any, x: Any, *, train: bool = True) -> list[Any]:
    x.attach_grad()
    with autograd.record(train):
        outputs, states = cell.unroll(3, x, layout="NTC", merge_outputs=True)
        loss = (outputs * outputs).sum() + sum(s.sum() for s in states)
    loss.backward()
    grads = [p.grad() for p in cell.collect_params().values()]
    return [outputs, *states, x.grad, *grads]


def made(name: str, dtype: str = "float32") -> tuple[Any, Any]:
    cell = CELLS[name]()
    cell.initialize()
    random = np.random.default_rng(2)
    for parameter in cell.collect_params().values():
        parameter.set_data(nd.array(random.uniform(-1, 1, parameter.shape)))
    cell.cast(dtype)
    return cell, nd.array(random.standard_normal((2, 3, 5))).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", CELLS)
def test_an_imperative_cell_gives_what_its_graph_gives(name: str, dtype: str) -> None:
    cell, x = made(name, dtype)
    found = [y.asnumpy().copy() for y in run_cell(cell, x)]
    cell.hybridize()
    tolerance = 2e-2 if dtype == "float16" else 1e-5
    for a, b in zip(found, run_cell(cell, x), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b.asnumpy(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", CELLS)
def test_gradients_of_gradients(name: str) -> None:
    results = []
    for plain in (False, True):
        cell, x = made(name, "float64")
        if plain:
            cell._step = lambda *_: None
        x.attach_grad()
        with autograd.record():
            outputs, _ = cell.unroll(3, x, layout="NTC", merge_outputs=True)
            (first,) = autograd.grad((outputs * outputs).sum(), [x], create_graph=True)
            loss = (first * first).sum()
        loss.backward()
        results.append(x.grad.asnumpy().copy())
    np.testing.assert_allclose(*results, rtol=1e-8)


@pytest.mark.parametrize("name", CELLS)
def test_one_operator_takes_the_place_of_a_dozen(name: str) -> None:
    cell, x = made(name)
    with autograd.record():
        _, states = cell(x[:, 0], cell.begin_state(2))
    node = states[-1]._edge[0]
    assert isinstance(node, OperatorNode)
    assert node.op.name == ("_gru_step" if name == "gru" else "_lstm_step")


def test_who_watches_sees_mxnets_operators() -> None:
    cell, x = made("lstm")
    seen: list[str] = []
    with OpHookScope((lambda name, op, array: seen.append(op), False)):
        cell(x[:, 0], cell.begin_state(2))
    assert "SliceChannel" in seen
    assert "_lstm_step" not in seen


def test_other_activations_and_shapes_run_by_plain_operators() -> None:
    cell = rnn.LSTMCell(H, input_size=5, activation="relu")
    cell.initialize()
    _, (h, _) = cell(nd.ones((2, 5)), cell.begin_state(2))
    assert h.shape == (2, H)
    plain = rnn.LSTMCell(H, input_size=5)
    plain.initialize()
    with pytest.raises(Exception, match="elemwise_mul"):
        plain(nd.ones((2, 5)), [nd.zeros((2, H)), nd.zeros((1, H + 1))])
