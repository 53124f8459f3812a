"""Initializers of parameters; `mx.init` and `mx.initializer` are this package."""

from gluonish.initializer.base import InitDesc, Initializer, alias, create, register
from gluonish.initializer.by_name import Load, Mixed
from gluonish.initializer.fused_rnn import FusedRNN
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
    "Uniform",
    "Xavier",
    "Zero",
    "alias",
    "create",
    "register",
]
