"""Automatic differentiation: recording, backward, grad, and functions with custom gradients."""

from gluonish.autograd.function import Function
from gluonish.autograd.gradient import backward, grad, mark_variables
from gluonish.autograd.scopes import (
    get_symbol,
    is_recording,
    is_training,
    pause,
    predict_mode,
    record,
    set_recording,
    set_training,
    train_mode,
)
from gluonish.ndarray import NDArray

__all__ = [
    "Function",
    "NDArray",
    "backward",
    "get_symbol",
    "grad",
    "is_recording",
    "is_training",
    "mark_variables",
    "pause",
    "predict_mode",
    "record",
    "set_recording",
    "set_training",
    "train_mode",
]
