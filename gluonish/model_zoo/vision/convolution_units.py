"""Units of convolutional networks: convolution with normalization, squeeze and excitation."""

from types import ModuleType
from typing import Any

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError, NotSupportedError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.activations import Activation, SiLU
from gluonish.gluon.nn.batch_norm import BatchNorm
from gluonish.gluon.nn.conv_layers import Conv2D
from gluonish.gluon.nn.pooling import GlobalAvgPool2D
from gluonish.gluon.nn.tensor import Tensor
from gluonish.ndarray import NDArray

__all__ = ["ConvNorm", "HardSigmoid", "HardSwish", "SamePadding", "SqueezeExcite", "make_divisible"]


def make_divisible(number: float, divisor: int = 8) -> int:
    """Return a multiple of a divisor near a number of channels, at most a tenth below it."""
    rounded = max(divisor, int(number + divisor / 2) // divisor * divisor)
    return rounded + divisor if rounded < 0.9 * number else rounded


class HardSigmoid(HybridBlock):
    """The activation ``min(max(x / 6 + 1 / 2, 0), 1)``.

    Args:
        **kwargs: See `HybridBlock`.

    Inputs:
        x: any shape.

    Outputs:
        y: shape of ``x``.

    References:
        A. Howard et al., Searching for MobileNetV3, 2019.
    """

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Apply the activation function.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Any shape.
        """
        return F.hard_sigmoid(x, alpha=1 / 6, beta=0.5)


class HardSwish(HybridBlock):
    """The activation ``x * min(max(x / 6 + 1 / 2, 0), 1)``.

    Args:
        **kwargs: See `HybridBlock`.

    Inputs:
        x: any shape.

    Outputs:
        y: shape of ``x``.

    References:
        A. Howard et al., Searching for MobileNetV3, 2019.
    """

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Apply the activation function.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Any shape.
        """
        return x * F.hard_sigmoid(x, alpha=1 / 6, beta=0.5)


def activation_layer(name: str) -> HybridBlock:
    """Return the layer of an activation function.

    Raises:
        ArgumentError: There is no such function.
    """
    layers = {"hard_sigmoid": HardSigmoid, "hard_swish": HardSwish, "silu": SiLU}
    if name in ("relu", "sigmoid"):
        return Activation(name)
    if name not in layers:
        known = ", ".join(("relu", "sigmoid", *layers))
        raise ArgumentError(f"activation: expected one of {known}, got {name!r}")
    made: HybridBlock = layers[name]()
    return made


class SamePadding(HybridBlock):
    """Pad images with zeros, so that a convolution's output has ``ceil(size / stride)`` pixels.

    Unlike the padding of `Conv2D`, the end gets one zero more than the begin where the total is
    odd, as in TensorFlow.

    Args:
        kernel_size: Height and width of the convolution's kernel.
        strides: Its step along both axes.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, H, W).

    Outputs:
        y: (N, C, H + padding, W + padding).

    Raises:
        NotSupportedError: In the call, if ``x`` is a Symbol, whose size is not known.
    """

    def __init__(self, kernel_size: int, strides: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._kernel, self._strides = kernel_size, strides

    def forward(self, x: Any) -> Any:
        """Pad images.

        Args:
            x: (N, C, H, W).
        """
        if not isinstance(x, NDArray):
            raise NotSupportedError(
                "SamePadding: expected an array, as the padding depends on the size of the images, "
                f"got {type(x).__name__}; call the hybridized network with an array first"
            )
        widths = [0, 0, 0, 0]
        for size in x.shape[2:]:
            steps = -(-size // self._strides) - 1
            total = max(steps * self._strides + self._kernel - size, 0)
            widths += [total // 2, total - total // 2]
        return nd.pad(x, mode="constant", pad_width=tuple(widths), constant_value=0)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(kernel_size={self._kernel}, strides={self._strides})"


class ConvNorm(HybridBlock):
    """Convolution without bias, batch normalization and, if one is named, an activation.

    Args:
        channels: Number of output channels.
        in_channels: Number of input channels.
        kernel_size: Height and width of the kernel, an odd number.
        strides: Step of the kernel along both spatial axes.
        groups: Number of groups of channels.
        activation: Name of the activation, or None.
        epsilon: Small constant of the normalization.
        same_padding: Whether padding is that of `SamePadding`; else it is ``kernel_size // 2`` on
            all sides.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, in_channels, H, W).

    Outputs:
        y: (N, channels, ceil(H / strides), ceil(W / strides)).
    """

    def __init__(
        self,
        channels: int,
        in_channels: int,
        kernel_size: int = 1,
        strides: int = 1,
        groups: int = 1,
        activation: str | None = None,
        epsilon: float = 1e-5,
        same_padding: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        uneven = same_padding and strides > 1  # with stride 1 both paddings are equal
        options: dict[str, Any] = {"groups": groups, "in_channels": in_channels, "use_bias": False}
        options["padding"] = 0 if uneven else kernel_size // 2
        with self.name_scope():
            self.padding = SamePadding(kernel_size, strides) if uneven else None
            self.conv = Conv2D(channels, kernel_size, strides, prefix="conv_", **options)
            self.norm = BatchNorm(epsilon=epsilon, in_channels=channels, prefix="norm_")
            self.activation = activation_layer(activation) if activation else None

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Convolve, normalize and activate.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, in_channels, H, W).
        """
        x = self.norm(self.conv(x if self.padding is None else self.padding(x)))
        return x if self.activation is None else self.activation(x)


class SqueezeExcite(HybridBlock):
    """Scale channels by gates that follow from the channels' means (squeeze and excitation).

    Args:
        channels: Number C of channels.
        hidden_channels: Number of hidden units.
        activation: Name of the activation of the hidden units.
        gate: Name of the function of the gates: ``sigmoid`` or ``hard_sigmoid``.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, H, W).

    Outputs:
        y: shape of ``x``.

    References:
        J. Hu, L. Shen, S. Albanie, G. Sun, E. Wu, Squeeze-and-Excitation Networks, 2017.
    """

    def __init__(
        self,
        channels: int,
        hidden_channels: int,
        activation: str = "relu",
        gate: str = "sigmoid",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.pool = GlobalAvgPool2D()
            self.reduce = Conv2D(hidden_channels, 1, in_channels=channels, prefix="reduce_")
            self.activation = activation_layer(activation)
            self.expand = Conv2D(channels, 1, in_channels=hidden_channels, prefix="expand_")
            self.gate = activation_layer(gate)

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Scale channels.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, C, H, W).
        """
        hidden = self.activation(self.reduce(self.pool(x)))
        return F.broadcast_mul(x, self.gate(self.expand(hidden)))
