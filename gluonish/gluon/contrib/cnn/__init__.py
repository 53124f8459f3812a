"""More convolutions: `gluonish.gluon.contrib.cnn` is this package."""

from gluonish.gluon.contrib.cnn import conv_layers as conv_layers
from gluonish.gluon.contrib.cnn.conv_layers import (
    DeformableConvolution,
    ModulatedDeformableConvolution,
)

__all__ = ["DeformableConvolution", "ModulatedDeformableConvolution"]
