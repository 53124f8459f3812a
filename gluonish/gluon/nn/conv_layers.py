"""Convolutions and poolings, under the name of the module that Gluon has them in."""

from gluonish.gluon.nn.conv import Conv1D, Conv2D, Conv3D
from gluonish.gluon.nn.conv_transpose import Conv1DTranspose, Conv2DTranspose, Conv3DTranspose
from gluonish.gluon.nn.global_pooling import (
    GlobalAvgPool1D,
    GlobalAvgPool2D,
    GlobalAvgPool3D,
    GlobalMaxPool1D,
    GlobalMaxPool2D,
    GlobalMaxPool3D,
)
from gluonish.gluon.nn.pooling import (
    AvgPool1D,
    AvgPool2D,
    AvgPool3D,
    MaxPool1D,
    MaxPool2D,
    MaxPool3D,
)
from gluonish.gluon.nn.reflection_pad import ReflectionPad2D

__all__ = [
    "AvgPool1D",
    "AvgPool2D",
    "AvgPool3D",
    "Conv1D",
    "Conv1DTranspose",
    "Conv2D",
    "Conv2DTranspose",
    "Conv3D",
    "Conv3DTranspose",
    "GlobalAvgPool1D",
    "GlobalAvgPool2D",
    "GlobalAvgPool3D",
    "GlobalMaxPool1D",
    "GlobalMaxPool2D",
    "GlobalMaxPool3D",
    "MaxPool1D",
    "MaxPool2D",
    "MaxPool3D",
    "ReflectionPad2D",
]
