"""Layers: `gluonish.gluon.nn` is this package."""

from gluonish.block import Block
from gluonish.block.hybrid_block import HybridBlock
from gluonish.block.symbol_block import SymbolBlock
from gluonish.nn import activations as activations
from gluonish.nn import basic_layers as basic_layers
from gluonish.nn import conv_layers as conv_layers
from gluonish.nn.activation import Activation
from gluonish.nn.batch_norm import BatchNorm, BatchNormReLU
from gluonish.nn.concurrent import Concatenate, HybridConcatenate, Identity
from gluonish.nn.conv import Conv1D, Conv2D, Conv3D
from gluonish.nn.conv_transpose import Conv1DTranspose, Conv2DTranspose, Conv3DTranspose
from gluonish.nn.dense import Dense
from gluonish.nn.dropout import Dropout
from gluonish.nn.embedding import Embedding
from gluonish.nn.flatten import Flatten
from gluonish.nn.function import HybridLambda, Lambda
from gluonish.nn.global_pooling import (
    GlobalAvgPool1D,
    GlobalAvgPool2D,
    GlobalAvgPool3D,
    GlobalMaxPool1D,
    GlobalMaxPool2D,
    GlobalMaxPool3D,
)
from gluonish.nn.group_norm import GroupNorm, InstanceNorm
from gluonish.nn.layer_norm import LayerNorm
from gluonish.nn.leaky_relu import ELU, GELU, SELU, LeakyReLU, PReLU
from gluonish.nn.pooling import AvgPool1D, AvgPool2D, AvgPool3D, MaxPool1D, MaxPool2D, MaxPool3D
from gluonish.nn.reflection_pad import ReflectionPad2D
from gluonish.nn.sequential import HybridSequential, Sequential
from gluonish.nn.swish import SiLU, Swish

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
