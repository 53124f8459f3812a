"""Neural network layers."""

from typing import TYPE_CHECKING

from gluonish.core.lazy import attach as _attach
from gluonish.core.lazy import lists as _lists
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
from gluonish.gluon.nn.sequential import (
    Concatenate,
    HybridConcatenate,
    HybridSequential,
    Identity,
    Sequential,
)

if TYPE_CHECKING:
    from gluonish.gluon.contrib.cnn import DeformableConvolution, ModulatedDeformableConvolution
    from gluonish.gluon.contrib.nn import (
        PixelShuffle1D,
        PixelShuffle2D,
        PixelShuffle3D,
        SyncBatchNorm,
    )
    from gluonish.gluon.nn.attention import AttentionCache, MultiHeadAttention
    from gluonish.gluon.nn.feed_forward import GatedMLP
    from gluonish.gluon.nn.mixture_of_experts import MixtureOfExperts
    from gluonish.gluon.nn.patch_embedding import PatchEmbedding
    from gluonish.gluon.nn.positions import ALiBiBias, PositionalEmbedding, RelativePositionBias
    from gluonish.gluon.nn.residual import DropPath, LayerScale, Residual
    from gluonish.gluon.nn.rotary_embedding import RotaryEmbedding
    from gluonish.gluon.nn.transformer import TransformerDecoder, TransformerEncoder
    from gluonish.gluon.nn.transformer_layers import (
        TransformerDecoderLayer,
        TransformerEncoderLayer,
    )
    from gluonish.gluon.nn.weight_only import WeightOnlyDense
else:
    # Layers of transformers and with 8-bit weights, and those that MXNet 1.9 has in gluon.contrib,
    # which most networks of other kinds never use.
    __getattr__ = _attach(
        __name__,
        (),
        {
            "ALiBiBias": "gluonish.gluon.nn.positions:ALiBiBias",
            "AttentionCache": "gluonish.gluon.nn.attention:AttentionCache",
            "DeformableConvolution": "gluonish.gluon.contrib.cnn:DeformableConvolution",
            "DropPath": "gluonish.gluon.nn.residual:DropPath",
            "GatedMLP": "gluonish.gluon.nn.feed_forward:GatedMLP",
            "LayerScale": "gluonish.gluon.nn.residual:LayerScale",
            "MixtureOfExperts": "gluonish.gluon.nn.mixture_of_experts:MixtureOfExperts",
            "ModulatedDeformableConvolution": (
                "gluonish.gluon.contrib.cnn:ModulatedDeformableConvolution"
            ),
            "MultiHeadAttention": "gluonish.gluon.nn.attention:MultiHeadAttention",
            "PatchEmbedding": "gluonish.gluon.nn.patch_embedding:PatchEmbedding",
            "PixelShuffle1D": "gluonish.gluon.contrib.nn:PixelShuffle1D",
            "PixelShuffle2D": "gluonish.gluon.contrib.nn:PixelShuffle2D",
            "PixelShuffle3D": "gluonish.gluon.contrib.nn:PixelShuffle3D",
            "PositionalEmbedding": "gluonish.gluon.nn.positions:PositionalEmbedding",
            "RelativePositionBias": "gluonish.gluon.nn.positions:RelativePositionBias",
            "Residual": "gluonish.gluon.nn.residual:Residual",
            "RotaryEmbedding": "gluonish.gluon.nn.rotary_embedding:RotaryEmbedding",
            "SyncBatchNorm": "gluonish.gluon.contrib.nn:SyncBatchNorm",
            "TransformerDecoder": "gluonish.gluon.nn.transformer:TransformerDecoder",
            "TransformerDecoderLayer": (
                "gluonish.gluon.nn.transformer_layers:TransformerDecoderLayer"
            ),
            "TransformerEncoder": "gluonish.gluon.nn.transformer:TransformerEncoder",
            "TransformerEncoderLayer": (
                "gluonish.gluon.nn.transformer_layers:TransformerEncoderLayer"
            ),
            "WeightOnlyDense": "gluonish.gluon.nn.weight_only:WeightOnlyDense",
        },
    )

__all__ = [
    "ELU",
    "GELU",
    "SELU",
    "ALiBiBias",
    "Activation",
    "AttentionCache",
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
    "DeformableConvolution",
    "Dense",
    "DropPath",
    "Dropout",
    "Embedding",
    "Flatten",
    "GatedMLP",
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
    "LayerScale",
    "LeakyReLU",
    "MaxPool1D",
    "MaxPool2D",
    "MaxPool3D",
    "MixtureOfExperts",
    "ModulatedDeformableConvolution",
    "MultiHeadAttention",
    "PReLU",
    "PatchEmbedding",
    "PixelShuffle1D",
    "PixelShuffle2D",
    "PixelShuffle3D",
    "PositionalEmbedding",
    "RMSNorm",
    "ReflectionPad2D",
    "RelativePositionBias",
    "Residual",
    "RotaryEmbedding",
    "Sequential",
    "SiLU",
    "Swish",
    "SymbolBlock",
    "SyncBatchNorm",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "WeightOnlyDense",
]
__dir__ = _lists((*__all__, "Block", "HybridBlock", "activations", "basic_layers", "conv_layers"))
