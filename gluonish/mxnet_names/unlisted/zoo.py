"""Helpers of `mx.gluon.model_zoo.vision` for programs with their own networks."""

from collections.abc import Sequence
from typing import Any

from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.activations import Activation
from gluonish.gluon.nn.batch_norm import BatchNorm
from gluonish.gluon.nn.conv_layers import Conv2D
from gluonish.gluon.nn.pooling import AvgPool2D, MaxPool2D
from gluonish.gluon.nn.sequential import HybridConcurrent, HybridSequential
from gluonish.model_zoo.vision.classifier import chain
from gluonish.model_zoo.vision.densenet import dense_layer
from gluonish.model_zoo.vision.mobilenet import RELU6, add_conv, relu
from gluonish.model_zoo.vision.squeezenet import convolution

__all__ = [
    "append_conv",
    "append_separable",
    "dense_block",
    "fire",
    "inception_branch",
    "inception_conv",
]


def append_conv(
    out: HybridSequential,
    channels: int = 1,
    kernel: int = 1,
    stride: int = 1,
    pad: int = 0,
    num_group: int = 1,
    active: bool = True,
    relu6: bool = False,
) -> None:
    """Append a convolution, batch normalization and an activation to a network.

    Args:
        out: Network to append to.
        channels: Number of output channels.
        kernel: Height and width of the kernel.
        stride: Step of the kernel along both spatial axes.
        pad: Number of zeros added to both ends of each spatial axis.
        num_group: Number of groups of channels.
        active: Whether to add an activation.
        relu6: Whether the activation is ReLU6 instead of ReLU.
    """
    out.add(Conv2D(channels, kernel, stride, pad, groups=num_group, use_bias=False))
    out.add(BatchNorm(scale=True))
    if active:
        out.add(RELU6() if relu6 else Activation("relu"))


def append_separable(
    out: HybridSequential, dw_channels: int, channels: int, stride: int, relu6: bool = False
) -> None:
    """Append a depthwise separable convolution (depthwise 3x3, then 1x1) to a network.

    Args:
        out: Network to append to.
        dw_channels: Number of channels of the depthwise convolution.
        channels: Number of output channels.
        stride: Step of the depthwise kernel.
        relu6: Whether the activations are ReLU6 instead of ReLU.
    """
    active = RELU6 if relu6 else relu
    add_conv(out, active, dw_channels, 3, stride, groups=dw_channels)
    add_conv(out, active, channels)


def fire(squeeze_channels: int, expand1x1_channels: int, expand3x3_channels: int) -> HybridBlock:
    """Return a fire module of SqueezeNet.

    Args:
        squeeze_channels: Channels of the 1x1 convolution that squeezes.
        expand1x1_channels: Channels of the 1x1 convolution that expands.
        expand3x3_channels: Channels of the 3x3 convolution that expands.
    """
    squeeze = convolution(squeeze_channels)
    expand = HybridConcurrent(axis=1, prefix="")
    expand.add(convolution(expand1x1_channels), convolution(expand3x3_channels, 3, 1))
    return chain(squeeze, expand)


def dense_block(
    num_layers: int, bn_size: int, growth_rate: int, dropout: float, stage_index: int
) -> HybridBlock:
    """Return a stage of a DenseNet.

    Args:
        num_layers: Number of layers.
        bn_size: Number of channels of each bottleneck, as a multiple of ``growth_rate``.
        growth_rate: Number of channels that each layer adds.
        dropout: Dropout rate of each layer's output; 0 for none.
        stage_index: Number of the stage, for the names of its parameters.
    """
    stage = HybridSequential(prefix=f"stage{stage_index}_")
    with stage.name_scope():
        for _ in range(num_layers):
            stage.add(dense_layer(growth_rate, bn_size, dropout))
    return stage


def inception_conv(**kwargs: Any) -> HybridBlock:
    """Return a convolution without bias, batch normalization and ReLU.

    Args:
        **kwargs: Arguments of `Conv2D`.
    """
    return chain(Conv2D(use_bias=False, **kwargs), BatchNorm(epsilon=0.001), Activation("relu"))


def inception_branch(use_pool: str | None, *conv_settings: Sequence[Any]) -> HybridBlock:
    """Return a branch of Inception v3.

    Args:
        use_pool: ``"avg"`` or ``"max"`` to start with a pooling layer; None for no pooling.
        *conv_settings: For each convolution channels, kernel_size, strides and padding; None for
            the default of `Conv2D`.
    """
    out = HybridSequential(prefix="")
    if use_pool == "avg":
        out.add(AvgPool2D(pool_size=3, strides=1, padding=1))
    elif use_pool == "max":
        out.add(MaxPool2D(pool_size=3, strides=2))
    names = ("channels", "kernel_size", "strides", "padding")
    for setting in conv_settings:
        pairs = zip(names, setting, strict=False)
        out.add(inception_conv(**{name: value for name, value in pairs if value is not None}))
    return out
