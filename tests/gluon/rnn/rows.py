"""How to make and call recurrent layers and unrolled cells; test_hybrid_equals_imperative walks it.

See `tests.gluon.nn.rows`.
"""

from collections.abc import Callable
from typing import Any

from gluonish.gluon import rnn
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.contrib import rnn as contrib
from tests.gluon.nn.rows import Row, normal

T, C = 4, 3


class Unrolled(HybridBlock):
    """A cell over sequences of T steps."""

    def __init__(self, cell: Any) -> None:
        super().__init__()
        with self.name_scope():
            self.cell = cell

    def hybrid_forward(self, F: Any, x: Any, lengths: Any = None) -> Any:
        outputs, _ = self.cell.unroll(T, x, merge_outputs=True, valid_length=lengths)
        return outputs


def _stack(known: bool) -> HybridBlock:
    stack = rnn.HybridSequentialRNNCell()
    with stack.name_scope():
        stack.add(rnn.LSTMCell(3, input_size=C * known))
        stack.add(rnn.ResidualCell(rnn.GRUCell(3, input_size=3 * known)))
        sides = (rnn.RNNCell(2, input_size=3 * known), rnn.GRUCell(2, input_size=3 * known))
        stack.add(rnn.BidirectionalCell(*sides))
    return Unrolled(stack)


def _cell(make: Callable[..., Any], *sizes: int) -> Row:
    return Row(lambda known: Unrolled(make(*sizes, input_size=C * known)), normal(T, C))


def _layer(make: Callable[..., Any], **options: Any) -> Row:
    return Row(lambda known: make(4, layout="NTC", input_size=C * known, **options), normal(T, C))


RECURRENT: dict[str, list[Row]] = {
    "Conv1DLSTMCell": [
        Row(
            lambda _: Unrolled(contrib.Conv1DLSTMCell((C, 5), 2, 3, 3, i2h_pad=1)),
            normal(T, C, 5),
        )
    ],
    "GRU": [_layer(rnn.GRU), _layer(rnn.GRU, num_layers=2, bidirectional=True)],
    "GRUCell": [_cell(rnn.GRUCell, 4)],
    "HybridSequentialRNNCell": [Row(_stack, normal(T, C))],
    "LSTM": [_layer(rnn.LSTM, num_layers=2), _layer(rnn.LSTM, projection_size=2)],
    "LSTMCell": [
        _cell(rnn.LSTMCell, 4),
        Row(
            lambda known: Unrolled(rnn.LSTMCell(4, input_size=C * known)),
            lambda rng, n: [rng.standard_normal((n, T, C)), rng.integers(1, T, (n,))],
        ),
    ],
    "LSTMPCell": [_cell(contrib.LSTMPCell, 4, 2)],
    "RNN": [_layer(rnn.RNN), _layer(rnn.RNN, activation="tanh", bidirectional=True)],
    "RNNCell": [_cell(rnn.RNNCell, 4)],
}
