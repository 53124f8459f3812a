"""The Gluon interface: Blocks, layers, losses, data, Trainer, model zoo."""

from typing import TYPE_CHECKING

from gluonish.core.lazy import attach as _attach
from gluonish.core.lazy import lists as _lists
from gluonish.gluon import block, parameter
from gluonish.gluon.block import Block, HybridBlock
from gluonish.gluon.parameter import (
    Constant,
    DeferredInitializationError,
    Parameter,
    ParameterDict,
    tensor_types,
)

if TYPE_CHECKING:
    from gluonish.gluon import (
        contrib,
        data,
        loss,
        metric,
        nn,
        probability,
        rnn,
        trainer,
        utils,
    )
    from gluonish.gluon.block import SymbolBlock
    from gluonish.gluon.trainer import Trainer
else:
    __getattr__ = _attach(
        __name__,
        ("contrib", "data", "loss", "metric", "nn", "probability", "rnn", "trainer", "utils"),
        {
            "SymbolBlock": "gluonish.gluon.block.symbol_block:SymbolBlock",
            "Trainer": "gluonish.gluon.trainer:Trainer",
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
    "metric",
    "model_zoo",
    "nn",
    "parameter",
    "probability",
    "rnn",
    "tensor_types",
    "trainer",
    "utils",
]
__dir__ = _lists(__all__)
