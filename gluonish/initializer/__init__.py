"""Initializers of parameters; `mx.init` and `mx.initializer` are this package."""

from typing import TYPE_CHECKING

from gluonish.core.lazy import attach as _attach
from gluonish.initializer.base import InitDesc, Initializer, alias, create, register
from gluonish.initializer.by_name import Load, Mixed
from gluonish.initializer.fused_rnn import FusedRNN, RNNFused
from gluonish.initializer.random import (
    Bilinear,
    Constant,
    LSTMBias,
    MSRAPrelu,
    Normal,
    One,
    Orthogonal,
    Uniform,
    Xavier,
    Zero,
)

if not TYPE_CHECKING:
    __getattr__ = _attach(__name__)  # advice about unknown names

__all__ = [
    "Bilinear",
    "Constant",
    "FusedRNN",
    "InitDesc",
    "Initializer",
    "LSTMBias",
    "Load",
    "MSRAPrelu",
    "Mixed",
    "Normal",
    "One",
    "Orthogonal",
    "RNNFused",
    "Uniform",
    "Xavier",
    "Zero",
    "alias",
    "create",
    "register",
]
