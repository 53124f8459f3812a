"""The recurrent cells, under the name that programs import: `mx.gluon.rnn.rnn_cell`."""

from gluonish.gluon.rnn.bidirectional_cell import BidirectionalCell
from gluonish.gluon.rnn.dropout_cell import DropoutCell
from gluonish.gluon.rnn.elman_cell import RNNCell
from gluonish.gluon.rnn.gru_cell import GRUCell
from gluonish.gluon.rnn.lstm_cell import LSTMCell
from gluonish.gluon.rnn.modifier_cell import ModifierCell, ResidualCell, ZoneoutCell
from gluonish.gluon.rnn.recurrent_cell import HybridRecurrentCell, RecurrentCell
from gluonish.gluon.rnn.sequential_cell import HybridSequentialRNNCell, SequentialRNNCell

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
