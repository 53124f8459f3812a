"""The other cells and `dynamic_unroll`, under the name that programs import them by."""

from gluonish.contrib.rnn.dynamic_unroll import dynamic_unroll
from gluonish.contrib.rnn.variational_dropout_cell import VariationalDropoutCell
from gluonish.recurrent.lstmp_cell import LSTMPCell

__all__ = ["LSTMPCell", "VariationalDropoutCell", "dynamic_unroll"]
