"""Gluon, under the names that programs import: Blocks, layers, losses, data, Trainer, model zoo."""

from typing import TYPE_CHECKING

import gluonish.loss as loss
import gluonish.nn as nn
import gluonish.parameter as parameter
import gluonish.recurrent as rnn
import gluonish.trainer as trainer
from gluonish.block import Block
from gluonish.block.hybrid_block import HybridBlock
from gluonish.block.symbol_block import SymbolBlock
from gluonish.core.module_names import lists as _lists
from gluonish.core.module_names import loads as _loads
from gluonish.gluon import block
from gluonish.gluon import names as _names  # noqa: F401  # it names the modules
from gluonish.parameter import (
    Constant,
    DeferredInitializationError,
    Parameter,
    ParameterDict,
    tensor_types,
)
from gluonish.trainer import Trainer

if TYPE_CHECKING:
    import gluonish.data as data
    import gluonish.model_zoo as model_zoo
    from gluonish.gluon import contrib, utils
else:
    __getattr__ = _loads(__name__, ("contrib", "data", "model_zoo", "utils"))

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
    "contrib",
    "data",
    "loss",
    "model_zoo",
    "nn",
    "parameter",
    "rnn",
    "tensor_types",
    "trainer",
    "utils",
]
__dir__ = _lists(__all__)
