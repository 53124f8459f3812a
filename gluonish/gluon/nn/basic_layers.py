"""Containers, dense layers, normalizations, under the name of the module that Gluon has them in."""

from gluonish.gluon.nn.batch_norm import BatchNorm, BatchNormReLU
from gluonish.gluon.nn.dense import Dense
from gluonish.gluon.nn.dropout import Dropout
from gluonish.gluon.nn.embedding import Embedding
from gluonish.gluon.nn.flatten import Flatten
from gluonish.gluon.nn.function import HybridLambda, Lambda
from gluonish.gluon.nn.group_norm import GroupNorm, InstanceNorm
from gluonish.gluon.nn.layer_norm import LayerNorm
from gluonish.gluon.nn.sequential import HybridSequential, Sequential

__all__ = [
    "BatchNorm",
    "BatchNormReLU",
    "Dense",
    "Dropout",
    "Embedding",
    "Flatten",
    "GroupNorm",
    "HybridLambda",
    "HybridSequential",
    "InstanceNorm",
    "Lambda",
    "LayerNorm",
    "Sequential",
]
