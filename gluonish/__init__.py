"""Gluon, imperative and hybrid, in plain Python: ``import gluonish as mx``."""

from gluonish import (
    attribute,
    autograd,
    base,
    context,
    engine,
    gluon,
    initializer,
    kvstore,
    lr_scheduler,
    metric,
    model_zoo,
    name,
    ndarray,
    nn,
    optimizer,
    random,
    symbol,
)
from gluonish import initializer as init
from gluonish import kvstore as kv
from gluonish import ndarray as nd
from gluonish import random as rnd
from gluonish import symbol as sym
from gluonish.base import MXNetError
from gluonish.context import (
    Context,
    cpu,
    cpu_pinned,
    current_context,
    gpu,
    gpu_memory_info,
    num_gpus,
)
from gluonish.symbol import AttrScope

__version__ = "0.1.0"

__all__ = [
    "AttrScope",
    "Context",
    "MXNetError",
    "attribute",
    "autograd",
    "base",
    "context",
    "cpu",
    "cpu_pinned",
    "current_context",
    "engine",
    "gluon",
    "gpu",
    "gpu_memory_info",
    "init",
    "initializer",
    "kv",
    "kvstore",
    "lr_scheduler",
    "metric",
    "model_zoo",
    "name",
    "nd",
    "ndarray",
    "nn",
    "num_gpus",
    "optimizer",
    "random",
    "rnd",
    "sym",
    "symbol",
]
