"""The recurrent cells, under the name that programs import: `mx.gluon.rnn.rnn_cell`."""

from gluonish.rnn.bidirectional_cell import BidirectionalCell
from gluonish.rnn.dropout_cell import DropoutCell
from gluonish.rnn.elman_cell import RNNCell
from gluonish.rnn.gru_cell import GRUCell
from gluonish.rnn.lstm_cell import LSTMCell
from gluonish.rnn.modifier_cell import ModifierCell, ResidualCell, ZoneoutCell
from gluonish.rnn.recurrent_cell import HybridRecurrentCell, RecurrentCell
from gluonish.rnn.sequential_cell import HybridSequentialRNNCell, SequentialRNNCell

__all__ = [
    "BidirectionalCell",
    "DropoutCell",
    "GRUCell",
    "HybridRecurrentCell",
    "HybridSequentialRNNCell",
    "LSTMCell",
    "ModifierCell",
    "RNNCell",
    "RecurrentCell",
    "ResidualCell",
    "SequentialRNNCell",
    "ZoneoutCell",
]
