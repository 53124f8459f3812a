"""The units that MobileNets are made of."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from gluonish.block.hybrid_block import HybridBlock
from gluonish.nn.activation import Activation
from gluonish.nn.batch_norm import BatchNorm
from gluonish.nn.conv import Conv2D
from gluonish.nn.sequential import HybridSequential
from gluonish.nn.tensor import Tensor

__all__ = ["RELU6", "LinearBottleneck", "add_conv", "relu"]


class RELU6(HybridBlock):
    """``min(max(x, 0), 6)``.

    Args:
        **kwargs: See `HybridBlock`.

    Inputs:
        x: any shape.

    Outputs:
        y: shape of ``x``.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Clip."""
        return F.clip(x, 0, 6, name="relu6")


def relu() -> HybridBlock:
    """Return the activation of version 1."""
    return Activation("relu")


def add_conv(
    network: HybridSequential,
    activation: Callable[[], HybridBlock] | None,
    channels: int,
    kernel_size: int = 1,
    stride: int = 1,
    groups: int = 1,
) -> None:
    """Append a convolution that keeps the size at stride 1, its normalization and an activation.

    Args:
        network: What they are appended to.
        activation: Makes the activation; None for none.
        channels: Number of output channels.
        kernel_size: Extent of the kernel along both axes, an odd number.
        stride: Steps between positions of the kernel.
        groups: Number of groups of channels; ``channels`` for a convolution channel by channel.
    """
    network.add(
        Conv2D(channels, kernel_size, stride, kernel_size // 2, groups=groups, use_bias=False),
        BatchNorm(),
    )
    if activation is not None:
        network.add(activation())


class LinearBottleneck(HybridBlock):
    """The unit of version 2: widen, convolve channel by channel, narrow; and the input, added.

    Args:
        in_channels: Number of input channels.
        channels: Number of output channels.
        t: How many times wider it is inside.
        stride: Stride of the inner convolution. The input is added where that is 1 and
            ``channels`` are as many as ``in_channels``.
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
        """Compute the unit."""
        out = self.out(x)
        return F.elemwise_add(out, x) if self.use_shortcut else out
