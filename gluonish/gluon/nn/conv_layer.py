"""ConvLayer: the base class of convolutions and transposed convolutions of any rank."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.core.number_check import DeferErrorToCall
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.activations import activation_of
from gluonish.gluon.nn.tensor import Extents, Tensor, as_extents, check_ints
from gluonish.gluon.parameter import ParameterDict
from gluonish.gluon.parameter.parameter import Init


def _check_groups(layer: str, channels: int, in_channels: int, groups: int) -> None:
    if channels < 1 or groups < 1:
        raise ArgumentError(
            f"{layer}: expected channels and groups of 1 or more, got {channels} and {groups}"
        )
    if channels % groups or in_channels % groups:
        raise ArgumentError(
            f"{layer}: expected channels and in_channels that groups={groups} divides, "
            f"got {channels} and {in_channels}"
        )


class ConvLayer(HybridBlock):
    """A convolution or transposed convolution of any rank; base of `Conv2D` and the others.

    Args:
        channels: Number C_out of output channels.
        kernel_size: Size of the kernel along each spatial axis.
        strides: Step of the kernel along each spatial axis, in elements of the input.
        padding: Number of zeros added to both ends of each spatial axis.
        dilation: Spacing between kernel elements; 1 for an ordinary (dense) kernel.
        groups: Number of groups that the channels are split into; each output channel depends on
            the input channels of its group only.
        layout: Order of the axes of input, output and weight.
        in_channels: Number of input channels; 0 infers it from the first batch.
        activation: Function applied to the result, such as ``"relu"`` (see `Activation`), or None.
        use_bias: Whether to add a bias to each output channel.
        weight_initializer: Initializer of ``weight`` (C_out, C_in / groups, *kernel_size), or
            (C_in, C_out / groups, *kernel_size) if transposed; with channels last, the second axis
            is last, too.
        bias_initializer: Initializer of ``bias`` (C_out,).
        op_name: ``"Convolution"``, or ``"Deconvolution"`` for its transpose.
        adj: Elements added to the end of each spatial axis of the output of a transposed
            convolution; None for a convolution.
        prefix: See `HybridBlock`.
        params: See `HybridBlock`.
    """

    def __init__(
        self,
        channels: int,
        kernel_size: tuple[int, ...],
        strides: Extents,
        padding: Extents,
        dilation: Extents,
        groups: int,
        layout: str,
        in_channels: int = 0,
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Init | None = None,
        bias_initializer: Init | None = "zeros",
        op_name: str = "Convolution",
        adj: Extents | None = None,
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        rank, layer = len(kernel_size), type(self).__name__
        check_ints(layer, channels=channels, in_channels=in_channels, groups=groups)
        with DeferErrorToCall(self):
            if channels < 0:
                raise ArgumentError(f"{layer}: expected channels of 1 or more, got {channels}")
        if channels >= 0 or groups < 1:
            _check_groups(layer, channels, in_channels, groups)
        self._channels = channels
        self._in_channels = in_channels
        self._op_name = op_name
        self._kwargs: dict[str, Any] = {
            "kernel": kernel_size,
            "stride": as_extents(strides, rank, f"{layer} strides", 1),
            "dilate": as_extents(dilation, rank, f"{layer} dilation", 1),
            "pad": as_extents(padding, rank, f"{layer} padding", 0),
            "num_filter": channels,
            "num_group": groups,
            "no_bias": not use_bias,
            "layout": layout,
        }
        outer, inner = channels, in_channels // groups
        self._transposed = op_name == "Deconvolution"
        if adj is not None:
            self._kwargs["adj"] = as_extents(adj, rank, f"{layer} output_padding")
        if self._transposed:
            outer, inner = in_channels, channels // groups
        # The weight has the channels of a group at the layout's channel axis.
        shape = [outer, *kernel_size]
        self._in_axis = layout.index("C")
        shape.insert(self._in_axis, inner)
        with self.name_scope():
            declare = self.params._declare
            self.weight = declare("weight", tuple(shape), weight_initializer)
            self.bias = declare("bias", (channels,), bias_initializer) if use_bias else None
            self.act = activation_of(layer, activation)

    def pre_infer(self) -> tuple[int, ...]:
        """Return the shape of the weight before the first batch; 0 where it is not known yet."""
        return tuple(self.weight.shape or ())

    def _alias(self) -> str:
        return "conv"

    def hybrid_forward(
        self, F: ModuleType, x: Tensor, weight: Tensor, bias: Tensor | None = None
    ) -> Any:
        """Convolve the input, then apply the activation.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Input, with its axes in the order of ``layout``.
            weight: The parameter ``weight``.
            bias: The parameter ``bias``; None with ``use_bias=False``.
        """
        y = getattr(F, self._op_name)(x, weight, bias, name="fwd", **self._kwargs)
        return y if self.act is None else self.act(y)

    def __repr__(self) -> str:
        settings, shape = self._kwargs, self.weight.shape
        in_channels = (shape[self._in_axis] if shape else 0) or None
        channels = f"{in_channels} -> {self._channels}"
        if self._transposed and shape:
            ends = shape[:2] if follows_mxnet2() else shape[1::-1]  # 1.9 prints them reversed
            channels = f"{ends[0]} -> {ends[1]}"
        fields = [
            channels,
            f"kernel_size={settings['kernel']}",
            f"stride={settings['stride']}",
        ]
        rank = len(self._kwargs["kernel"])
        if settings["pad"] != (0,) * rank:
            fields.append(f"padding={settings['pad']}")
        if settings["dilate"] != (1,) * rank:
            fields.append(f"dilation={settings['dilate']}")
        if settings["num_group"] != 1:
            fields.append(f"groups={settings['num_group']}")
        if self.bias is None:
            fields.append("bias=False")
        if self.act is not None:
            fields.append(repr(self.act))
        return f"{type(self).__name__}({', '.join(fields)})"
