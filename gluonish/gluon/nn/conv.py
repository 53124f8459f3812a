"""Convolutions over one, two and three spatial axes."""

from typing import Any

from gluonish.gluon.nn.conv_layer import ConvLayer
from gluonish.gluon.nn.tensor import Extents, as_extents, check_layout
from gluonish.gluon.parameter.parameter import Init

__all__ = ["Conv1D", "Conv2D", "Conv3D"]


class Conv1D(ConvLayer):
    """Convolve over one spatial axis.

    Args:
        channels: Number C_out of output channels.
        kernel_size: Size of the kernel along each spatial axis, or one int for all.
        strides: Step of the kernel along each spatial axis, in elements of the input.
        padding: Number of zeros added to both ends of each spatial axis.
        dilation: Spacing between kernel elements; 1 gives an ordinary (dense) kernel.
        groups: Number of groups that the channels are split into; each output channel sees the
            input channels of its own group only.
        layout: ``"NCW"``.
        activation: Function applied to the result, such as ``"relu"`` (see `Activation`), or None.
        use_bias: Whether to add a bias to each output channel.
        weight_initializer: Initializer of ``weight``; None uses the one passed to `initialize`.
        bias_initializer: Initializer of ``bias`` (C_out,).
        in_channels: Number C_in of input channels; 0 infers it from the first batch.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C_in, W).

    Outputs:
        y: (N, C_out, W_out), where a size x becomes
            floor((x + 2 * padding - dilation * (kernel_size - 1) - 1) / strides) + 1.

    Raises:
        ArgumentError: ``layout`` is not supported, or a tuple has the wrong length.
    """

    def __init__(
        self,
        channels: int,
        kernel_size: Extents,
        strides: Extents = 1,
        padding: Extents = 0,
        dilation: Extents = 1,
        groups: int = 1,
        layout: str = "NCW",
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Init | None = None,
        bias_initializer: Init | None = "zeros",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        check_layout(layout, ("NCW",), "Conv1D")
        super().__init__(
            channels,
            as_extents(kernel_size, 1, "Conv1D kernel_size"),
            strides,
            padding,
            dilation,
            groups,
            layout,
            in_channels,
            activation,
            use_bias,
            weight_initializer,
            bias_initializer,
            **kwargs,
        )


class Conv2D(ConvLayer):
    """Convolve over two spatial axes.

    Args:
        channels: Number C_out of output channels.
        kernel_size: Size of the kernel along each spatial axis, or one int for all.
        strides: Step of the kernel along each spatial axis, in elements of the input.
        padding: Number of zeros added to both ends of each spatial axis.
        dilation: Spacing between kernel elements; 1 gives an ordinary (dense) kernel.
        groups: Number of groups that the channels are split into; each output channel sees the
            input channels of its own group only.
        layout: ``"NCHW"`` or ``"NHWC"``.
        activation: Function applied to the result, such as ``"relu"`` (see `Activation`), or None.
        use_bias: Whether to add a bias to each output channel.
        weight_initializer: Initializer of ``weight``; None uses the one passed to `initialize`.
        bias_initializer: Initializer of ``bias`` (C_out,).
        in_channels: Number C_in of input channels; 0 infers it from the first batch.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C_in, H, W); (N, H, W, C_in) with ``layout`` NHWC.

    Outputs:
        y: (N, C_out, H_out, W_out), where a size x becomes
            floor((x + 2 * padding - dilation * (kernel_size - 1) - 1) / strides) + 1.

    Raises:
        ArgumentError: ``layout`` is not supported, or a tuple has the wrong length.

    Example:
        >>> import gluonish as mx
        >>> layer = mx.gluon.nn.Conv2D(channels=8, kernel_size=3, padding=1)
        >>> layer.initialize()
        >>> layer(mx.nd.ones((2, 3, 32, 32))).shape
        (2, 8, 32, 32)
    """

    def __init__(
        self,
        channels: int,
        kernel_size: Extents,
        strides: Extents = (1, 1),
        padding: Extents = (0, 0),
        dilation: Extents = (1, 1),
        groups: int = 1,
        layout: str = "NCHW",
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Init | None = None,
        bias_initializer: Init | None = "zeros",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        check_layout(layout, ("NCHW", "NHWC"), "Conv2D")
        super().__init__(
            channels,
            as_extents(kernel_size, 2, "Conv2D kernel_size"),
            strides,
            padding,
            dilation,
            groups,
            layout,
            in_channels,
            activation,
            use_bias,
            weight_initializer,
            bias_initializer,
            **kwargs,
        )


class Conv3D(ConvLayer):
    """Convolve over three spatial axes.

    Args:
        channels: Number C_out of output channels.
        kernel_size: Size of the kernel along each spatial axis, or one int for all.
        strides: Step of the kernel along each spatial axis, in elements of the input.
        padding: Number of zeros added to both ends of each spatial axis.
        dilation: Spacing between kernel elements; 1 gives an ordinary (dense) kernel.
        groups: Number of groups that the channels are split into; each output channel sees the
            input channels of its own group only.
        layout: ``"NCDHW"`` or ``"NDHWC"``.
        activation: Function applied to the result, such as ``"relu"`` (see `Activation`), or None.
        use_bias: Whether to add a bias to each output channel.
        weight_initializer: Initializer of ``weight``; None uses the one passed to `initialize`.
        bias_initializer: Initializer of ``bias`` (C_out,).
        in_channels: Number C_in of input channels; 0 infers it from the first batch.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C_in, D, H, W); (N, D, H, W, C_in) with ``layout`` NDHWC.

    Outputs:
        y: (N, C_out, D_out, H_out, W_out), where a size x becomes
            floor((x + 2 * padding - dilation * (kernel_size - 1) - 1) / strides) + 1.

    Raises:
        ArgumentError: ``layout`` is not supported, or a tuple has the wrong length.
    """

    def __init__(
        self,
        channels: int,
        kernel_size: Extents,
        strides: Extents = (1, 1, 1),
        padding: Extents = (0, 0, 0),
        dilation: Extents = (1, 1, 1),
        groups: int = 1,
        layout: str = "NCDHW",
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Init | None = None,
        bias_initializer: Init | None = "zeros",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        check_layout(layout, ("NCDHW", "NDHWC"), "Conv3D")
        super().__init__(
            channels,
            as_extents(kernel_size, 3, "Conv3D kernel_size"),
            strides,
            padding,
            dilation,
            groups,
            layout,
            in_channels,
            activation,
            use_bias,
            weight_initializer,
            bias_initializer,
            **kwargs,
        )
