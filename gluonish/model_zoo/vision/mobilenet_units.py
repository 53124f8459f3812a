"""The units that MobileNets are made of."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.activations import Activation
from gluonish.gluon.nn.batch_norm import BatchNorm
from gluonish.gluon.nn.conv_layers import Conv2D
from gluonish.gluon.nn.sequential import HybridSequential
from gluonish.gluon.nn.tensor import Tensor

__all__ = ["RELU6", "LinearBottleneck", "add_conv", "relu"]


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

    The padding is such that stride 1 keeps height and width.

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
        t: Expansion factor: how many times wider the inner convolution is than the input.
        stride: Stride of the inner convolution. With stride 1, and if ``channels`` equals
            ``in_channels``, the input is added to the output.
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
