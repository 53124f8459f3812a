"""Layers: `gluonish.gluon.nn` is this package."""

from gluonish.gluon.block import Block
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.block.symbol_block import SymbolBlock
from gluonish.gluon.nn import activations as activations
from gluonish.gluon.nn import basic_layers as basic_layers
from gluonish.gluon.nn import conv_layers as conv_layers
from gluonish.gluon.nn.activation import Activation
from gluonish.gluon.nn.batch_norm import BatchNorm, BatchNormReLU
from gluonish.gluon.nn.concurrent import Concatenate, HybridConcatenate, Identity
from gluonish.gluon.nn.conv import Conv1D, Conv2D, Conv3D
from gluonish.gluon.nn.conv_transpose import Conv1DTranspose, Conv2DTranspose, Conv3DTranspose
from gluonish.gluon.nn.dense import Dense
from gluonish.gluon.nn.dropout import Dropout
from gluonish.gluon.nn.embedding import Embedding
from gluonish.gluon.nn.flatten import Flatten
from gluonish.gluon.nn.function import HybridLambda, Lambda
from gluonish.gluon.nn.global_pooling import (
    GlobalAvgPool1D,
    GlobalAvgPool2D,
    GlobalAvgPool3D,
    GlobalMaxPool1D,
    GlobalMaxPool2D,
    GlobalMaxPool3D,
)
from gluonish.gluon.nn.group_norm import GroupNorm, InstanceNorm
from gluonish.gluon.nn.layer_norm import LayerNorm
from gluonish.gluon.nn.leaky_relu import ELU, GELU, SELU, LeakyReLU, PReLU
from gluonish.gluon.nn.pooling import (
    AvgPool1D,
    AvgPool2D,
    AvgPool3D,
    MaxPool1D,
    MaxPool2D,
    MaxPool3D,
)
from gluonish.gluon.nn.reflection_pad import ReflectionPad2D
from gluonish.gluon.nn.sequential import HybridSequential, Sequential
from gluonish.gluon.nn.swish import SiLU, Swish

__all__ = [
    "ELU",
    "GELU",
    "SELU",
    "Activation",
    "AvgPool1D",
    "AvgPool2D",
    "AvgPool3D",
    "BatchNorm",
    "BatchNormReLU",
    "Block",
    "Concatenate",
    "Conv1D",
    "Conv1DTranspose",
    "Conv2D",
    "Conv2DTranspose",
    "Conv3D",
    "Conv3DTranspose",
    "Dense",
    "Dropout",
    "Embedding",
    "Flatten",
    "GlobalAvgPool1D",
    "GlobalAvgPool2D",
    "GlobalAvgPool3D",
    "GlobalMaxPool1D",
    "GlobalMaxPool2D",
    "GlobalMaxPool3D",
    "GroupNorm",
    "HybridBlock",
    "HybridConcatenate",
    "HybridLambda",
    "HybridSequential",
    "Identity",
    "InstanceNorm",
    "Lambda",
    "LayerNorm",
    "LeakyReLU",
    "MaxPool1D",
    "MaxPool2D",
    "MaxPool3D",
    "PReLU",
    "ReflectionPad2D",
    "Sequential",
    "SiLU",
    "Swish",
    "SymbolBlock",
]
