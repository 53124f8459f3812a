"""MobileNet 1 and 2, and their units.

References:
    A. G. Howard, M. Zhu, B. Chen, D. Kalenichenko, W. Wang, T. Weyand, M. Andreetto, H. Adam,
    MobileNets: Efficient Convolutional Neural Networks for Mobile Vision Applications, 2017.
    M. Sandler, A. Howard, M. Zhu, A. Zhmoginov, L.-C. Chen, MobileNetV2: Inverted Residuals and
    Linear Bottlenecks, 2018. Scaled numbers of channels are rounded down.
"""

import os
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from gluonish.core.context import Context, cpu
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.activations import Activation
from gluonish.gluon.nn.basic_layers import Dense, Flatten
from gluonish.gluon.nn.batch_norm import BatchNorm
from gluonish.gluon.nn.conv_layers import Conv2D
from gluonish.gluon.nn.pooling import GlobalAvgPool2D
from gluonish.gluon.nn.sequential import HybridSequential
from gluonish.gluon.nn.tensor import Tensor
from gluonish.model_zoo.registry import register_model
from gluonish.model_zoo.vision.classifier import Classifier, load_published


class RELU6(HybridBlock):
    """The activation ``min(max(x, 0), 6)``.

    Args:
        **kwargs: See `HybridBlock`.

    Inputs:
        x: Any shape.

    Outputs:
        y: Shape of ``x``.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Clip to [0, 6].

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Any shape.
        """
        return F.clip(x, 0, 6, name="relu6")


def relu() -> HybridBlock:
    """Return the activation of MobileNet v1."""
    return Activation("relu")


def add_conv(
    network: HybridSequential,
    activation: Callable[[], HybridBlock] | None,
    channels: int,
    kernel_size: int = 1,
    stride: int = 1,
    groups: int = 1,
) -> None:
    """Append a convolution, batch normalization and an activation to a network.

    With stride 1, the padding preserves height and width.

    Args:
        network: Network to append to.
        activation: Creates the activation; None for no activation.
        channels: Number of output channels.
        kernel_size: Height and width of the kernel, an odd number.
        stride: Step of the kernel along both spatial axes.
        groups: Number of groups of channels; ``channels`` for a depthwise convolution.
    """
    network.add(
        Conv2D(channels, kernel_size, stride, kernel_size // 2, groups=groups, use_bias=False),
        BatchNorm(),
    )
    if activation is not None:
        network.add(activation())


class LinearBottleneck(HybridBlock):
    """The inverted residual unit of MobileNet v2: expand, depthwise convolution, project.

    Args:
        in_channels: Number of input channels.
        channels: Number of output channels.
        t: Expansion factor of the inner convolution's channels.
        stride: Stride of the inner convolution. If it is 1 and ``channels`` equals ``in_channels``,
            the input is added to the output.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, in_channels, H, W).

    Outputs:
        y: (N, channels, H / stride, W / stride).
    """

    def __init__(self, in_channels: int, channels: int, t: int, stride: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.use_shortcut = stride == 1 and in_channels == channels
        inner = in_channels * t
        with self.name_scope():
            self.out = HybridSequential()
            add_conv(self.out, RELU6, inner)
            add_conv(self.out, RELU6, inner, 3, stride, groups=inner)
            add_conv(self.out, None, channels)

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Compute the unit's output.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, in_channels, H, W).
        """
        out = self.out(x)
        return F.elemwise_add(out, x) if self.use_shortcut else out


_CPU = cpu()
# Version 1, for each pair of convolutions: output channels, stride of the first.
_PAIRS = (
    (64, 1),
    (128, 2),
    (128, 1),
    (256, 2),
    (256, 1),
    (512, 2),
    *[(512, 1)] * 5,
    (1024, 2),
    (1024, 1),
)
# Version 2, for each stage: expansion, output channels, units, stride of the first.
_STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
_STEM = 32
_HEAD = 1280


class MobileNet(Classifier):
    """MobileNet, version 1.

    Args:
        multiplier: Width multiplier: factor of every number of channels.
        classes: Number of classes.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, H, W).

    Outputs:
        y: (N, classes) logits.
    """

    def __init__(self, multiplier: float = 1.0, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = HybridSequential(prefix="")
            channels = int(_STEM * multiplier)
            add_conv(self.features, relu, channels, 3, 2)
            for full, stride in _PAIRS:
                add_conv(self.features, relu, channels, 3, stride, groups=channels)
                channels = int(full * multiplier)
                add_conv(self.features, relu, channels)
            self.features.add(GlobalAvgPool2D(), Flatten())
            self.output = Dense(classes)


class MobileNetV2(Classifier):
    """MobileNet, version 2.

    Args:
        multiplier: Width multiplier: factor of every number of channels; the last convolution has
            at least 1280.
        classes: Number of classes.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, H, W).

    Outputs:
        y: (N, classes) logits.
    """

    def __init__(self, multiplier: float = 1.0, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = HybridSequential(prefix="features_")
            with self.features.name_scope():
                channels = int(_STEM * multiplier)
                add_conv(self.features, RELU6, channels, 3, 2)
                for expansion, full, count, stride in _STAGES:
                    for i in range(count):
                        in_channels, channels = channels, int(full * multiplier)
                        self.features.add(
                            LinearBottleneck(in_channels, channels, expansion, 1 if i else stride)
                        )
                add_conv(self.features, RELU6, int(_HEAD * max(multiplier, 1)))
                self.features.add(GlobalAvgPool2D())
            self.output = HybridSequential(prefix="output_")
            with self.output.name_scope():
                self.output.add(Conv2D(classes, 1, use_bias=False, prefix="pred_"), Flatten())


def get_mobilenet(
    multiplier: float,
    pretrained: bool = False,
    ctx: Context | Sequence[Context] = _CPU,
    root: str | os.PathLike[str] | None = None,
    **kwargs: Any,
) -> MobileNet:
    """Create MobileNet, version 1.

    Args:
        multiplier: Width multiplier: factor of every number of channels; 1, 0.75, 0.5 and 0.25 have
            pretrained weights.
        pretrained: Whether to load weights trained on ImageNet, which are downloaded if missing.
        ctx: Device or devices for pretrained weights.
        root: Folder of the weights; ``$MXNET_HOME/models`` by default.
        **kwargs: Arguments of `MobileNet`, such as ``classes``.

    Raises:
        ArgumentError: No pretrained weights were published for this width.
        DownloadError: The weights could not be downloaded.
    """
    network = MobileNet(multiplier, **kwargs)
    if pretrained:
        load_published(network, f"mobilenet{float(multiplier)}", ctx, root)
    return network


def get_mobilenet_v2(
    multiplier: float,
    pretrained: bool = False,
    ctx: Context | Sequence[Context] = _CPU,
    root: str | os.PathLike[str] | None = None,
    **kwargs: Any,
) -> MobileNetV2:
    """Create MobileNet, version 2.

    Args:
        multiplier: Width multiplier: factor of every number of channels; 1, 0.75, 0.5 and 0.25 have
            pretrained weights.
        pretrained: Whether to load weights trained on ImageNet, which are downloaded if missing.
        ctx: Device or devices for pretrained weights.
        root: Folder of the weights; ``$MXNET_HOME/models`` by default.
        **kwargs: Arguments of `MobileNetV2`, such as ``classes``.

    Raises:
        ArgumentError: No pretrained weights were published for this width.
        DownloadError: The weights could not be downloaded.
    """
    network = MobileNetV2(multiplier, **kwargs)
    if pretrained:
        load_published(network, f"mobilenetv2_{float(multiplier)}", ctx, root)
    return network


@register_model("mobilenet1.0")
def mobilenet1_0(**kwargs: Any) -> MobileNet:
    """Create MobileNet with width multiplier 1.0; see `get_mobilenet` for the arguments."""
    return get_mobilenet(1.0, **kwargs)


@register_model("mobilenet0.75")
def mobilenet0_75(**kwargs: Any) -> MobileNet:
    """Create MobileNet with width multiplier 0.75; see `get_mobilenet` for the arguments."""
    return get_mobilenet(0.75, **kwargs)


@register_model("mobilenet0.5")
def mobilenet0_5(**kwargs: Any) -> MobileNet:
    """Create MobileNet with width multiplier 0.5; see `get_mobilenet` for the arguments."""
    return get_mobilenet(0.5, **kwargs)


@register_model("mobilenet0.25")
def mobilenet0_25(**kwargs: Any) -> MobileNet:
    """Create MobileNet with width multiplier 0.25; see `get_mobilenet` for the arguments."""
    return get_mobilenet(0.25, **kwargs)


@register_model("mobilenetv2_1.0")
def mobilenet_v2_1_0(**kwargs: Any) -> MobileNetV2:
    """Create MobileNetV2 with width multiplier 1.0; see `get_mobilenet_v2` for the arguments."""
    return get_mobilenet_v2(1.0, **kwargs)


@register_model("mobilenetv2_0.75")
def mobilenet_v2_0_75(**kwargs: Any) -> MobileNetV2:
    """Create MobileNetV2 with width multiplier 0.75; see `get_mobilenet_v2` for the arguments."""
    return get_mobilenet_v2(0.75, **kwargs)


@register_model("mobilenetv2_0.5")
def mobilenet_v2_0_5(**kwargs: Any) -> MobileNetV2:
    """Create MobileNetV2 with width multiplier 0.5; see `get_mobilenet_v2` for the arguments."""
    return get_mobilenet_v2(0.5, **kwargs)


@register_model("mobilenetv2_0.25")
def mobilenet_v2_0_25(**kwargs: Any) -> MobileNetV2:
    """Create MobileNetV2 with width multiplier 0.25; see `get_mobilenet_v2` for the arguments."""
    return get_mobilenet_v2(0.25, **kwargs)
