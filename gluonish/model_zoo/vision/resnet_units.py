"""The units that residual networks are made of, for versions 1 and 2 of the architecture.

In the version 1 bottleneck, the stride is in the first convolution and the 1x1 convolutions have
biases, as in the published weights of MXNet.
"""

from types import ModuleType
from typing import Any

from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.activations import Activation
from gluonish.gluon.nn.batch_norm import BatchNorm
from gluonish.gluon.nn.conv_layers import Conv2D
from gluonish.gluon.nn.sequential import HybridSequential
from gluonish.gluon.nn.tensor import Tensor

__all__ = ["BasicBlockV1", "BasicBlockV2", "BottleneckV1", "BottleneckV2", "conv3x3"]


def conv3x3(channels: int, stride: int, in_channels: int) -> Conv2D:
    """Return a 3x3 convolution without bias; stride 1 keeps height and width.

    Args:
        channels: Number of output channels.
        stride: Step of the kernel along both spatial axes.
        in_channels: Number of input channels; 0 infers it from the first batch.
    """
    return Conv2D(
        channels, kernel_size=3, strides=stride, padding=1, use_bias=False, in_channels=in_channels
    )


class _UnitV1(HybridBlock):
    """A version 1 unit: ``relu(body(x) + x)``, where ``x`` may pass a projection."""

    # The order of the sum in MXNet's exported graphs, which differs between the two units.
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
        """Compute the unit."""
        residual = x
        x = self.body(x)
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


class BasicBlockV2(HybridBlock):
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
        return x + residual


class BottleneckV2(HybridBlock):
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
        return x + residual
