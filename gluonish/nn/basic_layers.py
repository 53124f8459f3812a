"""Containers, dense layers, normalizations, under the name of the module that Gluon has them in."""

from gluonish.nn.batch_norm import BatchNorm, BatchNormReLU
from gluonish.nn.dense import Dense
from gluonish.nn.dropout import Dropout
from gluonish.nn.embedding import Embedding
from gluonish.nn.flatten import Flatten
from gluonish.nn.function import HybridLambda, Lambda
from gluonish.nn.group_norm import GroupNorm, InstanceNorm
from gluonish.nn.layer_norm import LayerNorm
from gluonish.nn.sequential import HybridSequential, Sequential

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
