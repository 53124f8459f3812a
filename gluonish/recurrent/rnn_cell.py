"""The recurrent cells, under the name that programs import: `mx.gluon.rnn.rnn_cell`."""

from gluonish.recurrent.bidirectional_cell import BidirectionalCell
from gluonish.recurrent.dropout_cell import DropoutCell
from gluonish.recurrent.elman_cell import RNNCell
from gluonish.recurrent.gru_cell import GRUCell
from gluonish.recurrent.lstm_cell import LSTMCell
from gluonish.recurrent.modifier_cell import ModifierCell, ResidualCell, ZoneoutCell
from gluonish.recurrent.recurrent_cell import HybridRecurrentCell, RecurrentCell
from gluonish.recurrent.sequential_cell import HybridSequentialRNNCell, SequentialRNNCell

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
