"""Gluon, under the names that programs import: Blocks, layers, losses, data, Trainer, model zoo."""

from gluonish import data, loss, model_zoo, nn, parameter, trainer
from gluonish.block import Block
from gluonish.gluon import names as _names
from gluonish.gluon import utils
from gluonish.hybrid_block import HybridBlock
from gluonish.parameter import Constant, Parameter, ParameterDict
from gluonish.symbol_block import SymbolBlock
from gluonish.trainer import Trainer

__all__ = [
    "Block",
    "Constant",
    "HybridBlock",
    "Parameter",
    "ParameterDict",
    "SymbolBlock",
    "Trainer",
    "data",
    "loss",
    "model_zoo",
    "nn",
    "parameter",
    "trainer",
    "utils",
]
