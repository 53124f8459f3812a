"""Neural network layers."""

from gluonish.gluon.block import Block
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.block.symbol_block import SymbolBlock
from gluonish.gluon.nn import activations as activations
from gluonish.gluon.nn import basic_layers as basic_layers
from gluonish.gluon.nn import conv_layers as conv_layers
from gluonish.gluon.nn.activations import ELU, GELU, SELU, Activation, LeakyReLU, PReLU, SiLU, Swish
from gluonish.gluon.nn.basic_layers import Dense, Dropout, Embedding, Flatten, HybridLambda, Lambda
from gluonish.gluon.nn.batch_norm import BatchNorm, BatchNormReLU
from gluonish.gluon.nn.conv_layers import (
    Conv1D,
    Conv1DTranspose,
    Conv2D,
    Conv2DTranspose,
    Conv3D,
    Conv3DTranspose,
    ReflectionPad2D,
)
from gluonish.gluon.nn.normalization import GroupNorm, InstanceNorm, LayerNorm, RMSNorm
from gluonish.gluon.nn.pooling import (
    AvgPool1D,
    AvgPool2D,
    AvgPool3D,
    GlobalAvgPool1D,
    GlobalAvgPool2D,
    GlobalAvgPool3D,
    GlobalMaxPool1D,
    GlobalMaxPool2D,
    GlobalMaxPool3D,
    MaxPool1D,
    MaxPool2D,
    MaxPool3D,
)
from gluonish.gluon.nn.rotary_embedding import RotaryEmbedding
from gluonish.gluon.nn.sequential import (
    Concatenate,
    HybridConcatenate,
    HybridSequential,
    Identity,
    Sequential,
)

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
    "RMSNorm",
    "ReflectionPad2D",
    "RotaryEmbedding",
    "Sequential",
    "SiLU",
    "Swish",
    "SymbolBlock",
]
