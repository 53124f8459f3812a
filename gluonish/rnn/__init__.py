"""Recurrent layers."""

from gluonish.rnn.rnn_layer import GRU, LSTM, RNN

__all__ = ["GRU", "LSTM", "RNN"]
