"""dynamic_unroll against unroll: in eager calls, and as a loop in a graph."""

from typing import Any

import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish import autograd
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.gluon import rnn
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.contrib.rnn import VariationalDropoutCell
from gluonish.gluon.contrib.rnn.rnn_cell import dynamic_unroll
from gluonish.ndarray import NDArray, array

T, N, C = 4, 3, 2


def fill(name: str, values: NDArray) -> None:
    wave = np.sin(np.arange(values.size) * 1.7 + 0.3).reshape(values.shape)
    values[:] = array(wave * 0.4)


class Loop(HybridBlock):
    def __init__(self, cell: Any, layout: str) -> None:
        super().__init__()
        self.cell, self.layout = cell, layout

    def hybrid_forward(self, F: Any, x: Any, states: Any, lengths: Any = None) -> Any:
        outputs, last = dynamic_unroll(
            self.cell, x, states, layout=self.layout, valid_length=lengths
        )
        return [outputs, *last]


class Second(Loop):
    """The same in the style of 2.0."""

    def forward(self, x: Any, *args: Any) -> Any:
        return self.hybrid_forward(nd, x, *args)


@pytest.mark.parametrize("ragged", [False, True])
@pytest.mark.parametrize("kind", [Loop, Second])
@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("layout", ["TNC", "NTC"])
def test_it_equals_unroll(layout: str, hybridize: bool, kind: Any, ragged: bool) -> None:
    cell = rnn.LSTMCell(3, input_size=C)
    for parameter in cell.collect_params().values():
        parameter.initialize(init=fill)
    shape = (T, N, C) if layout == "TNC" else (N, T, C)
    x = array(np.random.default_rng(0).standard_normal(shape))
    x.attach_grad()
    states, lengths = cell.begin_state(N, func=nd.ones), array([4, 1, 2]) if ragged else None
    loop = kind(cell, layout)
    loop.hybridize(active=hybridize)
    found = []
    runs: list[Any] = [
        lambda: loop(x, states, *((lengths,) if ragged else ())),
        lambda: cell.unroll(T, x, states, layout, True, lengths),
    ]
    for run in runs:
        with autograd.record():
            output, *last = run()
            last = last[0] if isinstance(last[0], list) else last
            loss = (output * output).sum() + sum(s.sum() for s in last)
        loss.backward()
        gradients = [p.grad() for p in cell.collect_params().values()]
        arrays: list[Any] = [output, *last, x.grad, *gradients]
        found.append([y.asnumpy() for y in arrays])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("where", ["drop_inputs", "drop_outputs"])
def test_dropout_is_the_same_at_all_steps(where: str) -> None:
    cell = rnn.DropoutCell(0)
    with autograd.record():
        output, states = dynamic_unroll(cell, nd.ones((T, 30, 40)), [], **{where: 0.4})  # type: ignore[arg-type]  # one of the two
    values = output.asnumpy()
    assert abs((values == 0).mean() - 0.4) < 0.05
    np.testing.assert_array_equal(values, np.broadcast_to(values[:1], values.shape))
    assert states == []


@pytest.mark.parametrize("where", ["drop_inputs", "drop_outputs"])
def test_rate_1_leaves_nothing_in_training(where: str) -> None:
    with autograd.record():
        output, _ = dynamic_unroll(rnn.DropoutCell(0), nd.ones((T, N, C)), [], **{where: 1})  # type: ignore[arg-type]  # one of the two
    assert not output.asnumpy().any()


def test_a_loop_in_a_graph_has_no_memory_between_steps() -> None:
    cell = VariationalDropoutCell(rnn.GRUCell(3), 0.1, 0.1)
    cell.initialize()
    x, states = nd.ones((T, N, C)), [nd.ones((N, 3))]
    assert dynamic_unroll(cell, x, states)[0].shape == (T, N, 3)
    loop = Loop(cell, "TNC")
    loop.hybridize()
    with pytest.raises(NotSupportedError, match="a stateless cell in a graph"):
        loop(x, states)


def test_what_does_not_fit_is_refused() -> None:
    cell = rnn.GRUCell(3)
    with pytest.raises(ArgumentError, match="expected layout TNC or NTC, got 'CNT'"):
        dynamic_unroll(cell, nd.ones((T, N, C)), [], layout="CNT")
    with pytest.raises(ArgumentTypeError, match="expected inputs to be an array, got list"):
        dynamic_unroll(cell, [nd.ones((N, C))], [])
    with pytest.raises(ArgumentError, match=r"expected probabilities in \[0, 1\], got 2"):
        dynamic_unroll(cell, nd.ones((T, N, C)), [], drop_outputs=2)
