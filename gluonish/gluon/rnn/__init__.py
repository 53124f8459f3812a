"""Recurrent layers, and recurrent cells, which compute single time steps."""

from typing import TYPE_CHECKING

from gluonish.core.lazy import attach as _attach
from gluonish.gluon.rnn import rnn_cell, rnn_layer
from gluonish.gluon.rnn.rnn_cell import (
    BidirectionalCell,
    DropoutCell,
    GRUCell,
    HybridRecurrentCell,
    HybridSequentialRNNCell,
    LSTMCell,
    ModifierCell,
    RecurrentCell,
    ResidualCell,
    RNNCell,
    SequentialRNNCell,
    ZoneoutCell,
)
from gluonish.gluon.rnn.rnn_layer import GRU, LSTM, RNN

if TYPE_CHECKING:
    from gluonish.gluon.contrib.rnn import (
        Conv1DGRUCell,
        Conv1DLSTMCell,
        Conv1DRNNCell,
        Conv2DGRUCell,
        Conv2DLSTMCell,
        Conv2DRNNCell,
        Conv3DGRUCell,
        Conv3DLSTMCell,
        Conv3DRNNCell,
        LSTMPCell,
        VariationalDropoutCell,
    )
else:
    # Cells that MXNet 1.9 has in gluon.contrib.
    __getattr__ = _attach(
        __name__,
        (),
        {
            name: f"gluonish.gluon.contrib.rnn:{name}"
            for name in (
                *(f"Conv{rank}D{kind}Cell" for rank in "123" for kind in ("GRU", "LSTM", "RNN")),
                *("LSTMPCell", "VariationalDropoutCell"),
            )
        },
    )

__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "BidirectionalCell",
    "Conv1DGRUCell",
    "Conv1DLSTMCell",
    "Conv1DRNNCell",
    "Conv2DGRUCell",
    "Conv2DLSTMCell",
    "Conv2DRNNCell",
    "Conv3DGRUCell",
    "Conv3DLSTMCell",
    "Conv3DRNNCell",
    "DropoutCell",
    "GRUCell",
    "HybridRecurrentCell",
    "HybridSequentialRNNCell",
    "LSTMCell",
    "LSTMPCell",
    "ModifierCell",
    "RNNCell",
    "RecurrentCell",
    "ResidualCell",
    "SequentialRNNCell",
    "VariationalDropoutCell",
    "ZoneoutCell",
    "rnn_cell",
    "rnn_layer",
]
