"""The convolutional cells, under the name that programs import them by."""

from gluonish.gluon.contrib.rnn.conv_elman_cell import Conv1DRNNCell, Conv2DRNNCell, Conv3DRNNCell
from gluonish.gluon.contrib.rnn.conv_gru_cell import Conv1DGRUCell, Conv2DGRUCell, Conv3DGRUCell
from gluonish.gluon.contrib.rnn.conv_lstm_cell import Conv1DLSTMCell, Conv2DLSTMCell, Conv3DLSTMCell

__all__ = [
    "Conv1DGRUCell",
    "Conv1DLSTMCell",
    "Conv1DRNNCell",
    "Conv2DGRUCell",
    "Conv2DLSTMCell",
    "Conv2DRNNCell",
    "Conv3DGRUCell",
    "Conv3DLSTMCell",
    "Conv3DRNNCell",
]
