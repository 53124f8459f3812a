"""ResNet 1 and 2, and their units.

In the version 1 bottleneck, the stride is in the first convolution and the 1x1 convolutions have
biases, as in the published weights of MXNet.

References:
    K. He, X. Zhang, S. Ren, J. Sun, Deep Residual Learning for Image Recognition, 2015 (version 1).
    K. He, X. Zhang, S. Ren, J. Sun, Identity Mappings in Deep Residual Networks, 2016 (version 2).
"""

import os
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from gluonish.core.context import Context, cpu
from gluonish.core.errors import ArgumentError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.activations import Activation
from gluonish.gluon.nn.basic_layers import Dense, Flatten
from gluonish.gluon.nn.batch_norm import BatchNorm
from gluonish.gluon.nn.conv_layers import Conv2D
from gluonish.gluon.nn.pooling import GlobalAvgPool2D, MaxPool2D
from gluonish.gluon.nn.residual import DropPath
from gluonish.gluon.nn.sequential import HybridSequential
from gluonish.gluon.nn.tensor import Tensor, check_rate
from gluonish.model_zoo.registry import register_model
from gluonish.model_zoo.vision.classifier import Classifier, load_published


def conv3x3(channels: int, stride: int, in_channels: int) -> Conv2D:
    """Return a 3x3 convolution without bias; stride 1 preserves height and width.

    Args:
        channels: Number of output channels.
        stride: Step of the kernel along both spatial axes.
        in_channels: Number of input channels; 0 infers it from the first batch.
    """
    return Conv2D(
        channels, kernel_size=3, strides=stride, padding=1, use_bias=False, in_channels=in_channels
    )


class _Unit(HybridBlock):
    """Base class of units; `ResNet` sets ``drop_path`` for stochastic depth."""

    drop_path: DropPath | None = None

    def _after_drop_path(self, x: Any) -> Any:
        """Return the branch beside the shortcut, zeroed for some samples in training."""
        return x if self.drop_path is None else self.drop_path(x)


class _UnitV1(_Unit):
    """Base class of version 1 units: ``relu(body(x) + x)``, where ``x`` may be projected."""

    # Order of the operands of the sum, which differs between units in MXNet's exported graphs.
    _input_first = True

    body: HybridSequential
    downsample: HybridSequential | None

    def _project(self, channels: int, stride: int, in_channels: int) -> HybridSequential:
        projection = HybridSequential(prefix="")
        projection.add(
            Conv2D(
                channels, kernel_size=1, strides=stride, use_bias=False, in_channels=in_channels
            ),
            BatchNorm(),
        )
        return projection

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Compute the unit's output."""
        residual = x
        x = self._after_drop_path(self.body(x))
        if self.downsample is not None:
            residual = self.downsample(residual)
        total = residual + x if self._input_first else x + residual
        return F.Activation(total, act_type="relu")


class BasicBlockV1(_UnitV1):
    """Residual unit of two 3x3 convolutions, of ResNet-18 and 34, version 1.

    Args:
        channels: Number of output channels.
        stride: Stride of the first convolution.
        downsample: Whether the shortcut is a 1x1 convolution instead of the identity.
        in_channels: Number of input channels; 0 infers it from the first batch.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, in_channels, H, W).

    Outputs:
        y: (N, channels, H / stride, W / stride).
    """

    def __init__(
        self,
        channels: int,
        stride: int,
        downsample: bool = False,
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.body = HybridSequential(prefix="")
        self.body.add(
            conv3x3(channels, stride, in_channels),
            BatchNorm(),
            Activation("relu"),
            conv3x3(channels, 1, channels),
            BatchNorm(),
        )
        self.downsample = self._project(channels, stride, in_channels) if downsample else None


class BottleneckV1(_UnitV1):
    """Residual unit of 1x1, 3x3 and 1x1 convolutions, of ResNet-50 and deeper, version 1.

    Args:
        channels: Number of output channels; the inner convolution has a quarter of them.
        stride: Stride of the first convolution.
        downsample: Whether the shortcut is a 1x1 convolution instead of the identity.
        in_channels: Number of input channels; 0 infers it from the first batch.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, in_channels, H, W).

    Outputs:
        y: (N, channels, H / stride, W / stride).
    """

    _input_first = False

    def __init__(
        self,
        channels: int,
        stride: int,
        downsample: bool = False,
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.body = HybridSequential(prefix="")
        self.body.add(
            Conv2D(channels // 4, kernel_size=1, strides=stride),
            BatchNorm(),
            Activation("relu"),
            conv3x3(channels // 4, 1, channels // 4),
            BatchNorm(),
            Activation("relu"),
            Conv2D(channels, kernel_size=1, strides=1),
            BatchNorm(),
        )
        self.downsample = self._project(channels, stride, in_channels) if downsample else None


def _projection(channels: int, stride: int, in_channels: int) -> Conv2D:
    return Conv2D(channels, 1, stride, use_bias=False, in_channels=in_channels)


class BasicBlockV2(_Unit):
    """Residual unit of two 3x3 convolutions, of ResNet-18 and 34, version 2 (pre-activation).

    Args:
        channels: Number of output channels.
        stride: Stride of the first convolution.
        downsample: Whether the shortcut is a 1x1 convolution instead of the identity.
        in_channels: Number of input channels; 0 infers it from the first batch.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, in_channels, H, W).

    Outputs:
        y: (N, channels, H / stride, W / stride).
    """

    def __init__(
        self,
        channels: int,
        stride: int,
        downsample: bool = False,
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.bn1 = BatchNorm()
        self.conv1 = conv3x3(channels, stride, in_channels)
        self.bn2 = BatchNorm()
        self.conv2 = conv3x3(channels, 1, channels)
        self.downsample = _projection(channels, stride, in_channels) if downsample else None

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Compute the unit's output.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, in_channels, H, W).
        """
        residual = x
        x = F.Activation(self.bn1(x), act_type="relu")
        if self.downsample is not None:
            residual = self.downsample(x)
        x = self.conv1(x)
        x = F.Activation(self.bn2(x), act_type="relu")
        x = self.conv2(x)
        return self._after_drop_path(x) + residual


class BottleneckV2(_Unit):
    """Residual unit of 1x1, 3x3 and 1x1 convolutions, of ResNet-50 and deeper, version 2.

    Args:
        channels: Number of output channels; the inner convolution has a quarter of them.
        stride: Stride of the second convolution.
        downsample: Whether the shortcut is a 1x1 convolution instead of the identity.
        in_channels: Number of input channels; 0 infers it from the first batch.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, in_channels, H, W).

    Outputs:
        y: (N, channels, H / stride, W / stride).
    """

    def __init__(
        self,
        channels: int,
        stride: int,
        downsample: bool = False,
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.bn1 = BatchNorm()
        self.conv1 = Conv2D(channels // 4, kernel_size=1, strides=1, use_bias=False)
        self.bn2 = BatchNorm()
        self.conv2 = conv3x3(channels // 4, stride, channels // 4)
        self.bn3 = BatchNorm()
        self.conv3 = Conv2D(channels, kernel_size=1, strides=1, use_bias=False)
        self.downsample = _projection(channels, stride, in_channels) if downsample else None

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Compute the unit's output.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, in_channels, H, W).
        """
        residual = x
        x = F.Activation(self.bn1(x), act_type="relu")
        if self.downsample is not None:
            residual = self.downsample(x)
        x = self.conv1(x)
        x = F.Activation(self.bn2(x), act_type="relu")
        x = self.conv2(x)
        x = F.Activation(self.bn3(x), act_type="relu")
        x = self.conv3(x)
        return self._after_drop_path(x) + residual


_conv3x3 = conv3x3  # MXNet's name, which programs import


# Called with channels, stride, downsample, and keywords in_channels and prefix.
Unit = Callable[..., HybridBlock]


class ResNet(Classifier):
    """Base class of residual networks; a subclass builds ``features`` and ``output``."""

    def _check(self, layers: Sequence[int], channels: Sequence[int]) -> None:
        if len(channels) != len(layers) + 1:
            raise ArgumentError(
                f"{type(self).__name__}: expected {len(layers) + 1} channels, one for the stem and "
                f"one for each stage, got {list(channels)}"
            )

    def _add_stages(
        self, block: Unit, layers: Sequence[int], channels: Sequence[int], drop_path: float = 0.0
    ) -> None:
        name = type(self).__name__
        check_rate(name, "drop_path", drop_path)
        units: list[Any] = []
        for i, count in enumerate(layers):
            in_channels, out_channels = channels[i], channels[i + 1]
            stride = 1 if i == 0 else 2
            stage = self._make_layer(block, count, out_channels, stride, i + 1, in_channels)
            self.features.add(stage)
            units += stage
        if not drop_path:
            return
        if not all(isinstance(unit, _Unit) for unit in units):
            raise ArgumentError(
                f"{name}: expected drop_path=0 with units of other classes than ours"
            )
        for i, unit in enumerate(units):
            unit.drop_path = DropPath(drop_path * i / max(1, len(units) - 1))

    def _make_layer(
        self,
        block: Unit,
        layers: int,
        channels: int,
        stride: int,
        stage_index: int,
        in_channels: int = 0,
    ) -> HybridSequential:
        """Return a stage of ``layers`` units; MXNet's name, which subclasses call."""
        stage = HybridSequential(prefix=f"stage{stage_index}_")
        with stage.name_scope():
            projected = channels != in_channels
            stage.add(block(channels, stride, projected, in_channels=in_channels, prefix=""))
            for _ in range(layers - 1):
                stage.add(block(channels, 1, False, in_channels=channels, prefix=""))
        return stage


class ResNetV1(ResNet):
    """A residual network, version 1.

    Args:
        block: `BasicBlockV1` or `BottleneckV1`.
        layers: Number of residual units in each stage.
        channels: Number of output channels of the stem and of each stage.
        classes: Number of classes.
        thumbnail: Whether the stem is a single 3x3 convolution of stride 1, for small images.
        drop_path: Probability of dropping the last unit for a sample in training, in [0, 1); that
            of the others rises linearly from 0.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, H, W).

    Outputs:
        y: (N, classes) logits.

    Raises:
        ArgumentError: ``channels`` does not have one entry more than ``layers``, or ``drop_path``
            is not in [0, 1).
    """

    def __init__(
        self,
        block: Unit,
        layers: Sequence[int],
        channels: Sequence[int],
        classes: int = 1000,
        thumbnail: bool = False,
        drop_path: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._check(layers, channels)
        with self.name_scope():
            self.features = HybridSequential(prefix="")
            if thumbnail:
                self.features.add(conv3x3(channels[0], 1, 0))
            else:
                self.features.add(
                    Conv2D(channels[0], 7, 2, 3, use_bias=False),
                    BatchNorm(),
                    Activation("relu"),
                    MaxPool2D(3, 2, 1),
                )
            self._add_stages(block, layers, channels, drop_path)
            self.features.add(GlobalAvgPool2D())
            self.output = Dense(classes, in_units=channels[-1])


class ResNetV2(ResNet):
    """A residual network, version 2.

    Args:
        block: `BasicBlockV2` or `BottleneckV2`.
        layers: Number of residual units in each stage.
        channels: Number of output channels of the stem and of each stage.
        classes: Number of classes.
        thumbnail: Whether the stem is a single 3x3 convolution of stride 1, for small images.
        drop_path: Probability of dropping the last unit for a sample in training, in [0, 1); that
            of the others rises linearly from 0.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, H, W).

    Outputs:
        y: (N, classes) logits.

    Raises:
        ArgumentError: ``channels`` does not have one entry more than ``layers``, or ``drop_path``
            is not in [0, 1).
    """

    def __init__(
        self,
        block: Unit,
        layers: Sequence[int],
        channels: Sequence[int],
        classes: int = 1000,
        thumbnail: bool = False,
        drop_path: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._check(layers, channels)
        with self.name_scope():
            self.features = HybridSequential(prefix="")
            self.features.add(BatchNorm(scale=False, center=False))
            if thumbnail:
                self.features.add(conv3x3(channels[0], 1, 0))
            else:
                self.features.add(
                    Conv2D(channels[0], 7, 2, 3, use_bias=False),
                    BatchNorm(),
                    Activation("relu"),
                    MaxPool2D(3, 2, 1),
                )
            self._add_stages(block, layers, channels, drop_path)
            self.features.add(BatchNorm(), Activation("relu"), GlobalAvgPool2D(), Flatten())
            self.output = Dense(classes, in_units=channels[-1])


_CPU = cpu()
_BASIC = (64, 64, 128, 256, 512)
_BOTTLENECK = (64, 256, 512, 1024, 2048)

# By number of layers: kind of unit, units of each stage, channels.
resnet_spec: dict[int, tuple[str, list[int], list[int]]] = {
    18: ("basic_block", [2, 2, 2, 2], [*_BASIC]),
    34: ("basic_block", [3, 4, 6, 3], [*_BASIC]),
    50: ("bottle_neck", [3, 4, 6, 3], [*_BOTTLENECK]),
    101: ("bottle_neck", [3, 4, 23, 3], [*_BOTTLENECK]),
    152: ("bottle_neck", [3, 8, 36, 3], [*_BOTTLENECK]),
}
resnet_net_versions: list[Callable[..., HybridBlock]] = [ResNetV1, ResNetV2]
resnet_block_versions: list[dict[str, Unit]] = [
    {"basic_block": BasicBlockV1, "bottle_neck": BottleneckV1},
    {"basic_block": BasicBlockV2, "bottle_neck": BottleneckV2},
]


def get_resnet(
    version: int,
    num_layers: int,
    pretrained: bool = False,
    ctx: Context | Sequence[Context] = _CPU,
    root: str | os.PathLike[str] | None = None,
    **kwargs: Any,
) -> HybridBlock:
    """Create a residual network (ResNet) of a published size.

    Args:
        version: 1 or 2.
        num_layers: 18, 34, 50, 101 or 152.
        pretrained: Whether to load weights trained on ImageNet, which are downloaded if missing.
        ctx: Device or devices for pretrained weights.
        root: Folder of the weights; ``$MXNET_HOME/models`` by default.
        **kwargs: Arguments of `ResNetV1` or `ResNetV2`, such as ``classes``.

    Raises:
        ArgumentError: ``version`` or ``num_layers`` has another value.
        DownloadError: The weights could not be downloaded.
    """
    if num_layers not in resnet_spec:
        raise ArgumentError(
            f"get_resnet: expected num_layers in {list(resnet_spec)}, got {num_layers}"
        )
    if version not in (1, 2):
        raise ArgumentError(f"get_resnet: expected version 1 or 2, got {version}")
    kind, layers, channels = resnet_spec[num_layers]
    unit = resnet_block_versions[version - 1][kind]
    network = resnet_net_versions[version - 1](unit, layers, channels, **kwargs)
    if pretrained:
        load_published(network, f"resnet{num_layers}_v{version}", ctx, root)
    return network


@register_model("resnet18_v1")
def resnet18_v1(**kwargs: Any) -> HybridBlock:
    """Create ResNet-18, version 1; see `get_resnet` for the arguments."""
    return get_resnet(1, 18, **kwargs)


@register_model("resnet34_v1")
def resnet34_v1(**kwargs: Any) -> HybridBlock:
    """Create ResNet-34, version 1; see `get_resnet` for the arguments."""
    return get_resnet(1, 34, **kwargs)


@register_model("resnet50_v1")
def resnet50_v1(**kwargs: Any) -> HybridBlock:
    """Create ResNet-50, version 1; see `get_resnet` for the arguments."""
    return get_resnet(1, 50, **kwargs)


@register_model("resnet101_v1")
def resnet101_v1(**kwargs: Any) -> HybridBlock:
    """Create ResNet-101, version 1; see `get_resnet` for the arguments."""
    return get_resnet(1, 101, **kwargs)


@register_model("resnet152_v1")
def resnet152_v1(**kwargs: Any) -> HybridBlock:
    """Create ResNet-152, version 1; see `get_resnet` for the arguments."""
    return get_resnet(1, 152, **kwargs)


@register_model("resnet18_v2")
def resnet18_v2(**kwargs: Any) -> HybridBlock:
    """Create ResNet-18, version 2; see `get_resnet` for the arguments."""
    return get_resnet(2, 18, **kwargs)


@register_model("resnet34_v2")
def resnet34_v2(**kwargs: Any) -> HybridBlock:
    """Create ResNet-34, version 2; see `get_resnet` for the arguments."""
    return get_resnet(2, 34, **kwargs)


@register_model("resnet50_v2")
def resnet50_v2(**kwargs: Any) -> HybridBlock:
    """Create ResNet-50, version 2; see `get_resnet` for the arguments."""
    return get_resnet(2, 50, **kwargs)


@register_model("resnet101_v2")
def resnet101_v2(**kwargs: Any) -> HybridBlock:
    """Create ResNet-101, version 2; see `get_resnet` for the arguments."""
    return get_resnet(2, 101, **kwargs)


@register_model("resnet152_v2")
def resnet152_v2(**kwargs: Any) -> HybridBlock:
    """Create ResNet-152, version 2; see `get_resnet` for the arguments."""
    return get_resnet(2, 152, **kwargs)
