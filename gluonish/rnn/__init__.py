"""`mx.rnn`: recurrent cells as Symbols, for Module. Gluon's layers are in `gluon.rnn`.

LSTM, GRU and RNN are Gluon's layers, for programs that import them from here.
"""

from gluonish.gluon.rnn.rnn_layer import GRU, LSTM, RNN
from gluonish.rnn import io, rnn, rnn_cell
from gluonish.rnn.io import BucketSentenceIter, encode_sentences
from gluonish.rnn.rnn import (
    do_rnn_checkpoint,
    load_rnn_checkpoint,
    rnn_unroll,
    save_rnn_checkpoint,
)
from gluonish.rnn.rnn_cell import (
    BaseConvRNNCell,
    BaseRNNCell,
    BidirectionalCell,
    ConvGRUCell,
    ConvLSTMCell,
    ConvRNNCell,
    DropoutCell,
    FusedRNNCell,
    GRUCell,
    LSTMCell,
    ModifierCell,
    ResidualCell,
    RNNCell,
    RNNParams,
    SequentialRNNCell,
    ZoneoutCell,
)

__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "BaseConvRNNCell",
    "BaseRNNCell",
    "BidirectionalCell",
    "BucketSentenceIter",
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
    "do_rnn_checkpoint",
    "encode_sentences",
    "io",
    "load_rnn_checkpoint",
    "rnn",
    "rnn_cell",
    "rnn_unroll",
    "save_rnn_checkpoint",
]
