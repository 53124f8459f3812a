"""Convolutions over one, two and three spatial axes."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.hybrid_block import HybridBlock
from gluonish.nn.activation import Activation
from gluonish.nn.tensor import Extents, Tensor, as_extents, check_layout
from gluonish.parameter import ParameterDict
from gluonish.parameter.parameter import Init

__all__ = ["Conv1D", "Conv2D", "Conv3D"]


class _Conv(HybridBlock):
    """A convolution of any rank; the public classes give the rank's defaults.

    Args:
        channels: Number C_out of output channels.
        kernel_size: Extents of the kernel, one for each spatial axis.
        strides: Steps between positions of the kernel.
        padding: Zeros put before and after each spatial axis.
        dilation: Distance between neighbouring elements of the kernel.
        groups: Number of groups that the channels are split into.
        layout: Order of the axes of input, output and weight.
        in_channels: Number of input channels; 0 for what the first batch has.
        activation: Name of a function for `Activation`; None for none.
        use_bias: Whether there is a bias.
        weight_initializer: For ``weight`` (C_out, C_in / groups, *kernel_size), or with the
            channels last, as the layout has them.
        bias_initializer: For ``bias`` (C_out,).
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
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        rank, layer = len(kernel_size), type(self).__name__
        if channels < 1 or groups < 1:
            raise ArgumentError(
                f"{layer}: expected channels and groups of 1 or more, got {channels} and {groups}"
            )
        if channels % groups or in_channels % groups:
            raise ArgumentError(
                f"{layer}: expected channels and in_channels that groups={groups} divides, "
                f"got {channels} and {in_channels}"
            )
        self._channels = channels
        self._in_channels = in_channels
        self._kwargs: dict[str, Any] = {
            "kernel": kernel_size,
            "stride": as_extents(strides, rank, f"{layer} strides"),
            "dilate": as_extents(dilation, rank, f"{layer} dilation"),
            "pad": as_extents(padding, rank, f"{layer} padding"),
            "num_filter": channels,
            "num_group": groups,
            "no_bias": not use_bias,
            "layout": layout,
        }
        # Where the layout has channels, the weight has the input channels of a group.
        shape = [channels, *kernel_size]
        self._in_axis = layout.index("C")
        shape.insert(self._in_axis, in_channels // groups)
        with self.name_scope():
            self.weight = self.params.get(
                "weight", shape=tuple(shape), init=weight_initializer, allow_deferred_init=True
            )
            self.bias = None
            if use_bias:
                self.bias = self.params.get(
                    "bias", shape=(channels,), init=bias_initializer, allow_deferred_init=True
                )
            self.act = None
            if activation is not None:
                self.act = Activation(activation, prefix=activation + "_")

    def _alias(self) -> str:
        return "conv"

    def hybrid_forward(
        self, F: ModuleType, x: Tensor, weight: Tensor, bias: Tensor | None = None
    ) -> Any:
        """Convolve, then apply the activation."""
        y = F.Convolution(x, weight, bias, name="fwd", **self._kwargs)
        return y if self.act is None else self.act(y)

    def __repr__(self) -> str:
        settings, shape = self._kwargs, self.weight.shape
        in_channels = (shape[self._in_axis] if shape else 0) or None
        parts = [
            f"{in_channels} -> {self._channels}",
            f"kernel_size={settings['kernel']}",
            f"stride={settings['stride']}",
        ]
        rank = len(self._kwargs["kernel"])
        if settings["pad"] != (0,) * rank:
            parts.append(f"padding={settings['pad']}")
        if settings["dilate"] != (1,) * rank:
            parts.append(f"dilation={settings['dilate']}")
        if settings["num_group"] != 1:
            parts.append(f"groups={settings['num_group']}")
        if self.bias is None:
            parts.append("bias=False")
        if self.act is not None:
            parts.append(repr(self.act))
        return f"{type(self).__name__}({', '.join(parts)})"


class Conv1D(_Conv):
    """Convolve over one spatial axis.

    Args:
        channels: Number C_out of output channels.
        kernel_size: Extents of the kernel.
        strides: Steps between positions of the kernel.
        padding: Zeros put before and after each spatial axis.
        dilation: Distance between neighbouring elements of the kernel.
        groups: Number of groups that the channels are split into.
        layout: ``"NCW"``.
        activation: Name of a function for `Activation`; None for none.
        use_bias: Whether there is a bias.
        weight_initializer: For ``weight``; None for what `initialize` is given.
        bias_initializer: For ``bias`` (C_out,).
        in_channels: Number C_in of input channels; 0 for what the first batch has.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C_in, W).

    Outputs:
        y: (N, C_out, W_out), where an extent becomes
            floor((x + 2 * padding - dilation * (kernel_size - 1) - 1) / strides) + 1.

    Raises:
        ArgumentError: for another layout, or a wrong number of extents.
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


class Conv2D(_Conv):
    """Convolve over two spatial axes.

    Args:
        channels: Number C_out of output channels.
        kernel_size: Extents of the kernel.
        strides: Steps between positions of the kernel.
        padding: Zeros put before and after each spatial axis.
        dilation: Distance between neighbouring elements of the kernel.
        groups: Number of groups that the channels are split into.
        layout: ``"NCHW"`` or ``"NHWC"``.
        activation: Name of a function for `Activation`; None for none.
        use_bias: Whether there is a bias.
        weight_initializer: For ``weight``; None for what `initialize` is given.
        bias_initializer: For ``bias`` (C_out,).
        in_channels: Number C_in of input channels; 0 for what the first batch has.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C_in, H, W), or with ``layout`` NHWC the channels last.

    Outputs:
        y: (N, C_out, H_out, W_out), where an extent becomes
            floor((x + 2 * padding - dilation * (kernel_size - 1) - 1) / strides) + 1.

    Raises:
        ArgumentError: for another layout, or a wrong number of extents.
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


class Conv3D(_Conv):
    """Convolve over three spatial axes.

    Args:
        channels: Number C_out of output channels.
        kernel_size: Extents of the kernel.
        strides: Steps between positions of the kernel.
        padding: Zeros put before and after each spatial axis.
        dilation: Distance between neighbouring elements of the kernel.
        groups: Number of groups that the channels are split into.
        layout: ``"NCDHW"`` or ``"NDHWC"``.
        activation: Name of a function for `Activation`; None for none.
        use_bias: Whether there is a bias.
        weight_initializer: For ``weight``; None for what `initialize` is given.
        bias_initializer: For ``bias`` (C_out,).
        in_channels: Number C_in of input channels; 0 for what the first batch has.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, C_in, D, H, W), or with ``layout`` NDHWC the channels last.

    Outputs:
        y: (N, C_out, D_out, H_out, W_out), where an extent becomes
            floor((x + 2 * padding - dilation * (kernel_size - 1) - 1) / strides) + 1.

    Raises:
        ArgumentError: for another layout, or a wrong number of extents.
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
