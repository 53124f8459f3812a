"""Gluon, under the names that programs import: Blocks, layers, losses, data, Trainer, model zoo."""

from typing import TYPE_CHECKING

import gluonish.parameter as parameter
from gluonish.block import Block
from gluonish.block.hybrid_block import HybridBlock
from gluonish.core.module_names import lists as _lists
from gluonish.core.module_names import loads as _loads
from gluonish.gluon import names as _names  # noqa: F401  # it names the modules
from gluonish.parameter import (
    Constant,
    DeferredInitializationError,
    Parameter,
    ParameterDict,
    tensor_types,
)

if TYPE_CHECKING:
    import gluonish.data as data
    import gluonish.loss as loss
    import gluonish.model_zoo as model_zoo
    import gluonish.nn as nn
    import gluonish.recurrent as rnn
    import gluonish.trainer as trainer
    from gluonish.block.symbol_block import SymbolBlock
    from gluonish.gluon import block, contrib, utils
    from gluonish.trainer import Trainer
else:
    __getattr__ = _loads(
        __name__,
        ("block", "contrib", "data", "loss", "model_zoo", "nn", "rnn", "trainer", "utils"),
        {
            "SymbolBlock": "gluonish.block.symbol_block:SymbolBlock",
            "Trainer": "gluonish.trainer:Trainer",
        },
    )

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
