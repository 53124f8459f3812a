"""Convolutions and transposed convolutions over one to three axes, and reflection padding."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.conv_layer import ConvLayer
from gluonish.gluon.nn.pooling import (
    AvgPool1D,
    AvgPool2D,
    AvgPool3D,
    GlobalAvgPool1D,
    GlobalAvgPool2D,
    GlobalAvgPool3D,
    GlobalMaxPool1D,
    GlobalMaxPool2D,
    GlobalMaxPool3D,
    MaxPool1D,
    MaxPool2D,
    MaxPool3D,
)
from gluonish.gluon.nn.tensor import Extents, Tensor, as_extents, check_layout
from gluonish.gluon.parameter.parameter import Init

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


class Conv1D(ConvLayer):
    """Convolve over one spatial axis.

    Args:
        channels: Number C_out of output channels.
        kernel_size: Size of the kernel along each spatial axis, or one int for all.
        strides: Step of the kernel along each spatial axis, in elements of the input.
        padding: Number of zeros added to both ends of each spatial axis.
        dilation: Spacing between kernel elements; 1 for an ordinary (dense) kernel.
        groups: Number of groups that the channels are split into; each output channel uses the
            input channels of its group only.
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
        dilation: Spacing between kernel elements; 1 for an ordinary (dense) kernel.
        groups: Number of groups that the channels are split into; each output channel uses the
            input channels of its group only.
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
        dilation: Spacing between kernel elements; 1 for an ordinary (dense) kernel.
        groups: Number of groups that the channels are split into; each output channel uses the
            input channels of its group only.
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


class Conv1DTranspose(ConvLayer):
    """Transposed convolution over one spatial axis: swaps the input and output shape of `Conv1D`.

    Args:
        channels: Number C_out of output channels.
        kernel_size: Size of the kernel along each spatial axis, or one int for all.
        strides: Distance in the output between neighbouring positions of the kernel, along each
            spatial axis.
        padding: Number of elements cropped from both ends of each spatial axis of the output.
        output_padding: Elements added to the end of each spatial axis; must be below ``strides``.
        dilation: Spacing between kernel elements; 1 for an ordinary (dense) kernel.
        groups: Number of groups that the channels are split into; each output channel uses the
            input channels of its group only.
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
            (x - 1) * strides - 2 * padding + dilation * (kernel_size - 1) + 1 + output_padding.

    Raises:
        ArgumentError: ``layout`` is not supported, or a tuple has the wrong length.
    """

    def __init__(
        self,
        channels: int,
        kernel_size: Extents,
        strides: Extents = 1,
        padding: Extents = 0,
        output_padding: Extents = 0,
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
        check_layout(layout, ("NCW",), "Conv1DTranspose")
        super().__init__(
            channels,
            as_extents(kernel_size, 1, "Conv1DTranspose kernel_size"),
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
            op_name="Deconvolution",
            adj=output_padding,
            **kwargs,
        )
        self.outpad = self._kwargs["adj"]


class Conv2DTranspose(ConvLayer):
    """Transposed convolution over two spatial axes: swaps the input and output shape of `Conv2D`.

    Args:
        channels: Number C_out of output channels.
        kernel_size: Size of the kernel along each spatial axis, or one int for all.
        strides: Distance in the output between neighbouring positions of the kernel, along each
            spatial axis.
        padding: Number of elements cropped from both ends of each spatial axis of the output.
        output_padding: Elements added to the end of each spatial axis; must be below ``strides``.
        dilation: Spacing between kernel elements; 1 for an ordinary (dense) kernel.
        groups: Number of groups that the channels are split into; each output channel uses the
            input channels of its group only.
        layout: ``"NCHW"`` or ``"NHWC"``.
        activation: Function applied to the result, such as ``"relu"`` (see `Activation`), or None.
        use_bias: Whether to add a bias to each output channel.
        weight_initializer: Initializer of ``weight``; None uses the one passed to `initialize`.
        bias_initializer: Initializer of ``bias`` (C_out,).
        in_channels: Number C_in of input channels; 0 infers it from the first batch.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C_in, H, W), or (N, H, W, C_in) with the channels last.

    Outputs:
        y: (N, C_out, H_out, W_out), or the channels last, where a size x becomes
            (x - 1) * strides - 2 * padding + dilation * (kernel_size - 1) + 1 + output_padding.

    Raises:
        ArgumentError: ``layout`` is not supported, or a tuple has the wrong length.
    """

    def __init__(
        self,
        channels: int,
        kernel_size: Extents,
        strides: Extents = (1, 1),
        padding: Extents = (0, 0),
        output_padding: Extents = (0, 0),
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
        check_layout(layout, ("NCHW", "NHWC"), "Conv2DTranspose")
        super().__init__(
            channels,
            as_extents(kernel_size, 2, "Conv2DTranspose kernel_size"),
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
            op_name="Deconvolution",
            adj=output_padding,
            **kwargs,
        )
        self.outpad = self._kwargs["adj"]


class Conv3DTranspose(ConvLayer):
    """Transposed convolution over three spatial axes: swaps the input and output shape of `Conv3D`.

    Args:
        channels: Number C_out of output channels.
        kernel_size: Size of the kernel along each spatial axis, or one int for all.
        strides: Distance in the output between neighbouring positions of the kernel, along each
            spatial axis.
        padding: Number of elements cropped from both ends of each spatial axis of the output.
        output_padding: Elements added to the end of each spatial axis; must be below ``strides``.
        dilation: Spacing between kernel elements; 1 for an ordinary (dense) kernel.
        groups: Number of groups that the channels are split into; each output channel uses the
            input channels of its group only.
        layout: ``"NCDHW"`` or ``"NDHWC"``.
        activation: Function applied to the result, such as ``"relu"`` (see `Activation`), or None.
        use_bias: Whether to add a bias to each output channel.
        weight_initializer: Initializer of ``weight``; None uses the one passed to `initialize`.
        bias_initializer: Initializer of ``bias`` (C_out,).
        in_channels: Number C_in of input channels; 0 infers it from the first batch.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C_in, D, H, W), or (N, D, H, W, C_in) with the channels last.

    Outputs:
        y: (N, C_out, D_out, H_out, W_out), or the channels last, where a size x becomes
            (x - 1) * strides - 2 * padding + dilation * (kernel_size - 1) + 1 + output_padding.

    Raises:
        ArgumentError: ``layout`` is not supported, or a tuple has the wrong length.
    """

    def __init__(
        self,
        channels: int,
        kernel_size: Extents,
        strides: Extents = (1, 1, 1),
        padding: Extents = (0, 0, 0),
        output_padding: Extents = (0, 0, 0),
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
        check_layout(layout, ("NCDHW", "NDHWC"), "Conv3DTranspose")
        super().__init__(
            channels,
            as_extents(kernel_size, 3, "Conv3DTranspose kernel_size"),
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
            op_name="Deconvolution",
            adj=output_padding,
            **kwargs,
        )
        self.outpad = self._kwargs["adj"]


class ReflectionPad2D(HybridBlock):
    """Pad height and width by reflecting the image at its border.

    Args:
        padding: Number of elements added to each of the four sides; or 8 ints, the padding before
            and after each of the axes N, C, H and W, where the first 4 must be 0.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C, H, W), with H and W larger than the padding.

    Outputs:
        y: (N, C, H + 2 * padding, W + 2 * padding).

    Raises:
        ArgumentError: ``padding`` is neither an int nor 8 ints of this form.
    """

    def __init__(self, padding: Extents = 0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        widths = (0, 0, 0, 0, *[padding] * 4) if isinstance(padding, int) else tuple(padding)
        if len(widths) != 8:
            raise ArgumentError(f"ReflectionPad2D: expected an int or 8 ints, got {padding}")
        self._padding = widths

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Pad height and width by reflection.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, C, H, W), with H and W larger than the padding.
        """
        return F.pad(x, mode="reflect", pad_width=self._padding)
