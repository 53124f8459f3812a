"""`mx.rnn.rnn_cell`: the symbolic cells."""

from gluonish.rnn.base_cell import BaseRNNCell, RNNParams
from gluonish.rnn.convolution_cells import (
    BaseConvRNNCell,
    ConvGRUCell,
    ConvLSTMCell,
    ConvRNNCell,
)
from gluonish.rnn.fused_cell import FusedRNNCell
from gluonish.rnn.gated_cells import GRUCell, LSTMCell, RNNCell
from gluonish.rnn.modifier_cells import ModifierCell, ResidualCell, ZoneoutCell
from gluonish.rnn.sequential_cell import BidirectionalCell, DropoutCell, SequentialRNNCell

__all__ = [
    "BaseConvRNNCell",
    "BaseRNNCell",
    "BidirectionalCell",
    "ConvGRUCell",
    "ConvLSTMCell",
    "ConvRNNCell",
    "DropoutCell",
    "FusedRNNCell",
    "GRUCell",
    "LSTMCell",
    "ModifierCell",
    "RNNCell",
    "RNNParams",
    "ResidualCell",
    "SequentialRNNCell",
    "ZoneoutCell",
]
