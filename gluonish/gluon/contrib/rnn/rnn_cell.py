"""The other cells and `dynamic_unroll`, under the name that programs import them by."""

from gluonish.gluon.contrib.rnn.dynamic_unroll import dynamic_unroll
from gluonish.gluon.contrib.rnn.variational_dropout_cell import VariationalDropoutCell
from gluonish.gluon.rnn.lstmp_cell import LSTMPCell

__all__ = ["LSTMPCell", "VariationalDropoutCell", "dynamic_unroll"]
