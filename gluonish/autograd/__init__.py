"""Automatic differentiation: recording, backward, grad, and functions with custom gradients."""

from typing import TYPE_CHECKING

from gluonish.autograd.function import Function
from gluonish.autograd.functional import hessian, jacobian, jvp, vjp
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
from gluonish.autograd.vmap import vmap
from gluonish.core.lazy import attach as _attach
from gluonish.ndarray import NDArray

if not TYPE_CHECKING:
    __getattr__ = _attach(__name__)  # advice about unknown names

__all__ = [
    "Function",
    "NDArray",
    "backward",
    "get_symbol",
    "grad",
    "hessian",
    "is_recording",
    "is_training",
    "jacobian",
    "jvp",
    "mark_variables",
    "pause",
    "predict_mode",
    "record",
    "set_recording",
    "set_training",
    "train_mode",
    "vjp",
    "vmap",
]
