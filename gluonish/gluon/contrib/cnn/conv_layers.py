"""Deformable convolutions, plain and modulated: an offset displaces each kernel element."""

from math import prod
from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.activations import activation_of
from gluonish.gluon.nn.tensor import Extents, Tensor, as_extents, check_layout
from gluonish.gluon.parameter import Parameter, ParameterDict
from gluonish.gluon.parameter.parameter import Init
from gluonish.ops.registry import find_operator

__all__ = ["DeformableConvolution", "ModulatedDeformableConvolution"]


class _Deformable(HybridBlock):
    """Base class of deformable convolutions: settings and parameters of the two convolutions.

    ``numbers`` is how many outputs the offset convolution has for each kernel element.
    """

    def __init__(
        self,
        numbers: int,
        channels: int,
        kernel_size: Extents,
        strides: Extents,
        padding: Extents,
        dilation: Extents,
        groups: int,
        num_deformable_group: int,
        layout: str,
        use_bias: bool,
        in_channels: int,
        activation: str | None,
        offset_use_bias: bool,
        op_name: str,
        adj: Extents | None,
        prefix: str | None,
        params: ParameterDict | None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        layer = type(self).__name__
        check_layout(layout, ("NCHW",), layer)
        if adj is not None:
            raise ArgumentError(
                f"{layer}: expected adj=None, as only transposed convolutions have adj, got {adj}"
            )
        find_operator(f"_contrib_{op_name}")
        self._channels = channels
        self._in_channels = in_channels
        self._op_name = op_name
        kernel = as_extents(kernel_size, 2, f"{layer} kernel_size")
        # Number of offsets among the outputs of the offset convolution.
        self.offset_split_index = num_deformable_group * 2 * prod(kernel)
        self._kwargs_offset: dict[str, Any] = {
            "kernel": kernel,
            "stride": as_extents(strides, 2, f"{layer} strides"),
            "dilate": as_extents(dilation, 2, f"{layer} dilation"),
            "pad": as_extents(padding, 2, f"{layer} padding"),
            "num_filter": num_deformable_group * numbers * prod(kernel),
            "num_group": groups,
            "no_bias": not offset_use_bias,
            "layout": layout,
        }
        self._kwargs_deformable_conv = {
            **self._kwargs_offset,
            "num_filter": channels,
            "num_deformable_group": num_deformable_group,
            "no_bias": not use_bias,
        }
        self.act = None
        if activation:
            with self.name_scope():
                self.act = activation_of(layer, activation)

    def _convolution(
        self, name: str, settings: dict[str, Any], weight: Init | None, bias: Init | None
    ) -> tuple[Parameter, Parameter | None]:
        """Declare the weight and the bias (or None) of one of the two convolutions."""
        filters = settings["num_filter"]
        inner = self._in_channels // settings["num_group"]
        shape = (filters, inner, *settings["kernel"])
        return (
            self.params._declare(f"{name}weight", shape, weight),
            None if settings["no_bias"] else self.params._declare(f"{name}bias", (filters,), bias),
        )

    def pre_infer_weight(self) -> tuple[int, ...]:
        """Return the shape of the weight before the first batch; 0 where it is not known yet."""
        return _shape_of(self, "deformable_conv_weight")

    def pre_infer_offset_weight(self) -> tuple[int, ...]:
        """Return the shape of the offset weight before the first batch; see `pre_infer_weight`."""
        return _shape_of(self, "offset_weight")


def _shape_of(block: HybridBlock, name: str) -> tuple[int, ...]:
    return tuple(block._reg_params[name].shape or ())


class DeformableConvolution(_Deformable):
    """Convolve over two spatial axes, with an offset for each kernel element.

    Another convolution computes the offsets, in elements of ``x``, for every position. ``x`` is
    interpolated bilinearly, and 0 outside.

    Args:
        channels: Number C_out of output channels.
        kernel_size: Size (Kh, Kw) of the kernel.
        strides: Step of the kernel along each spatial axis.
        padding: Number of zeros added to both ends of each spatial axis.
        dilation: Spacing between kernel elements.
        groups: Number of groups that the channels of both convolutions are split into.
        num_deformable_group: Number of groups of input channels; each has its own offsets.
        layout: ``"NCHW"``.
        use_bias: Whether there is a bias.
        in_channels: Number C_in of input channels; 0 infers it from the first batch.
        activation: Name of a function for `Activation`; None for no activation.
        weight_initializer: For ``deformable_conv_weight`` (C_out, C_in / groups, Kh, Kw).
        bias_initializer: For ``deformable_conv_bias`` (C_out,).
        offset_weight_initializer: For ``offset_weight``
            (num_deformable_group * 2 * Kh * Kw, C_in / groups, Kh, Kw).
        offset_bias_initializer: For ``offset_bias`` (num_deformable_group * 2 * Kh * Kw,).
        offset_use_bias: Whether the offsets have a bias.
        op_name: Name of the operator in ``F.contrib``.
        adj: Must be None.
        prefix: See `HybridBlock`.
        params: See `HybridBlock`.

    Inputs:
        x: (N, C_in, H, W).

    Outputs:
        y: (N, C_out, H_out, W_out), with the extents of `Conv2D`.

    Raises:
        ArgumentError: ``layout`` is not ``"NCHW"``, a size is not a pair, or ``adj`` is not None.
        OperatorError: ``op_name`` is unknown.

    References:
        J. Dai, H. Qi, Y. Xiong, Y. Li, G. Zhang, H. Hu, Y. Wei, Deformable Convolutional Networks,
        2017.
    """

    def __init__(
        self,
        channels: int,
        kernel_size: Extents = (1, 1),
        strides: Extents = (1, 1),
        padding: Extents = (0, 0),
        dilation: Extents = (1, 1),
        groups: int = 1,
        num_deformable_group: int = 1,
        layout: str = "NCHW",
        use_bias: bool = True,
        in_channels: int = 0,
        activation: str | None = None,
        weight_initializer: Init | None = None,
        bias_initializer: Init | None = "zeros",
        offset_weight_initializer: Init | None = "zeros",
        offset_bias_initializer: Init | None = "zeros",
        offset_use_bias: bool = True,
        op_name: str = "DeformableConvolution",
        adj: Extents | None = None,
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        super().__init__(
            2,
            channels,
            kernel_size,
            strides,
            padding,
            dilation,
            groups,
            num_deformable_group,
            layout,
            use_bias,
            in_channels,
            activation,
            offset_use_bias,
            op_name,
            adj,
            prefix,
            params,
        )
        self.offset_weight, self.offset_bias = self._convolution(
            "offset_", self._kwargs_offset, offset_weight_initializer, offset_bias_initializer
        )
        self.deformable_conv_weight, self.deformable_conv_bias = self._convolution(
            "deformable_conv_", self._kwargs_deformable_conv, weight_initializer, bias_initializer
        )

    def _alias(self) -> str:
        return "deformable_conv"

    def hybrid_forward(
        self,
        F: ModuleType,
        x: Tensor,
        offset_weight: Tensor,
        deformable_conv_weight: Tensor,
        offset_bias: Tensor | None = None,
        deformable_conv_bias: Tensor | None = None,
    ) -> Any:
        """Compute the offsets, convolve with them, then apply the activation."""
        offset = F.Convolution(x, offset_weight, offset_bias, **self._kwargs_offset)
        convolve = getattr(F.contrib, self._op_name)
        weights = (deformable_conv_weight, deformable_conv_bias)
        y = convolve(x, offset, *weights, name="fwd", **self._kwargs_deformable_conv)
        return y if self.act is None else self.act(y)

    def __repr__(self) -> str:
        settings, shape = self._kwargs_deformable_conv, self.deformable_conv_weight.shape
        parts = [
            f"{(shape[1] if shape else 0) or None} -> {self._channels}",
            f"kernel_size={settings['kernel']}",
            f"stride={settings['stride']}",
        ]
        if settings["pad"] != (0, 0):
            parts.append(f"padding={settings['pad']}")
        if settings["dilate"] != (1, 1):
            parts.append(f"dilation={settings['dilate']}")
        if settings["num_group"] != 1:
            parts.append(f"groups={settings['num_group']}")
        if self.deformable_conv_bias is None:
            parts.append("bias=False")
        if self.act is not None:
            parts.append(repr(self.act))
        return f"{type(self).__name__}({', '.join(parts)})"


class ModulatedDeformableConvolution(_Deformable):
    """Convolve over two spatial axes, with an offset and a weight for each kernel element.

    Like `DeformableConvolution`, but the convolution of the offsets also computes a mask: twice its
    sigmoid, between 0 and 2, multiplies the input of a kernel element.

    Args:
        channels: Number C_out of output channels.
        kernel_size: Size (Kh, Kw) of the kernel.
        strides: Step of the kernel along each spatial axis.
        padding: Number of zeros added to both ends of each spatial axis.
        dilation: Spacing between kernel elements.
        groups: Number of groups that the channels of both convolutions are split into.
        num_deformable_group: Number of groups of input channels; each has its own offsets and mask.
        layout: ``"NCHW"``.
        use_bias: Whether there is a bias.
        in_channels: Number C_in of input channels; 0 infers it from the first batch.
        activation: Name of a function for `Activation`; None for no activation.
        weight_initializer: For ``deformable_conv_weight`` (C_out, C_in / groups, Kh, Kw).
        bias_initializer: For ``deformable_conv_bias`` (C_out,).
        offset_weight_initializer: For ``offset_weight``
            (num_deformable_group * 3 * Kh * Kw, C_in / groups, Kh, Kw).
        offset_bias_initializer: For ``offset_bias`` (num_deformable_group * 3 * Kh * Kw,).
        offset_use_bias: Whether offsets and mask have a bias.
        op_name: Name of the operator in ``F.contrib``.
        adj: Must be None.
        prefix: See `HybridBlock`.
        params: See `HybridBlock`.

    Inputs:
        x: (N, C_in, H, W).

    Outputs:
        y: (N, C_out, H_out, W_out), with the extents of `Conv2D`.

    Raises:
        ArgumentError: ``layout`` is not ``"NCHW"``, a size is not a pair, or ``adj`` is not None.
        OperatorError: ``op_name`` is unknown.

    References:
        X. Zhu, H. Hu, S. Lin, J. Dai, Deformable ConvNets v2: More Deformable, Better Results,
        2019.
    """

    def __init__(
        self,
        channels: int,
        kernel_size: Extents = (1, 1),
        strides: Extents = (1, 1),
        padding: Extents = (0, 0),
        dilation: Extents = (1, 1),
        groups: int = 1,
        num_deformable_group: int = 1,
        layout: str = "NCHW",
        use_bias: bool = True,
        in_channels: int = 0,
        activation: str | None = None,
        weight_initializer: Init | None = None,
        bias_initializer: Init | None = "zeros",
        offset_weight_initializer: Init | None = "zeros",
        offset_bias_initializer: Init | None = "zeros",
        offset_use_bias: bool = True,
        op_name: str = "ModulatedDeformableConvolution",
        adj: Extents | None = None,
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        super().__init__(
            3,
            channels,
            kernel_size,
            strides,
            padding,
            dilation,
            groups,
            num_deformable_group,
            layout,
            use_bias,
            in_channels,
            activation,
            offset_use_bias,
            op_name,
            adj,
            prefix,
            params,
        )
        self.deformable_conv_weight, self.deformable_conv_bias = self._convolution(
            "deformable_conv_", self._kwargs_deformable_conv, weight_initializer, bias_initializer
        )
        self.offset_weight, self.offset_bias = self._convolution(
            "offset_", self._kwargs_offset, offset_weight_initializer, offset_bias_initializer
        )

    def _alias(self) -> str:
        return "modulated_deformable_conv"

    def hybrid_forward(
        self,
        F: ModuleType,
        x: Tensor,
        offset_weight: Tensor,
        deformable_conv_weight: Tensor,
        offset_bias: Tensor | None = None,
        deformable_conv_bias: Tensor | None = None,
    ) -> Any:
        """Compute offsets and mask, convolve with them, then apply the activation."""
        both = F.Convolution(x, offset_weight, offset_bias, **self._kwargs_offset)
        offset = F.slice_axis(both, axis=1, begin=0, end=self.offset_split_index)
        mask = F.slice_axis(both, axis=1, begin=self.offset_split_index, end=None)
        mask = F.sigmoid(mask) * 2
        convolve = getattr(F.contrib, self._op_name)
        weights = (deformable_conv_weight, deformable_conv_bias)
        y = convolve(x, offset, mask, *weights, name="fwd", **self._kwargs_deformable_conv)
        return y if self.act is None else self.act(y)
