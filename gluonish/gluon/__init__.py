"""Gluon, under the names that programs import: Blocks, layers, losses, data, Trainer, model zoo."""

import gluonish.data as data
import gluonish.loss as loss
import gluonish.model_zoo as model_zoo
import gluonish.nn as nn
import gluonish.parameter as parameter
import gluonish.rnn as rnn
import gluonish.trainer as trainer
from gluonish.block import Block
from gluonish.gluon import block, utils
from gluonish.gluon import names as _names  # noqa: F401  # it registers the modules
from gluonish.hybrid_block import HybridBlock
from gluonish.parameter import Constant, DeferredInitializationError, Parameter, ParameterDict
from gluonish.symbol_block import SymbolBlock
from gluonish.trainer import Trainer

__all__ = [
    "Block",
    "Constant",
    "DeferredInitializationError",
    "HybridBlock",
    "Parameter",
    "ParameterDict",
    "SymbolBlock",
    "Trainer",
    "block",
    "data",
    "loss",
    "model_zoo",
    "nn",
    "parameter",
    "rnn",
    "trainer",
    "utils",
]
