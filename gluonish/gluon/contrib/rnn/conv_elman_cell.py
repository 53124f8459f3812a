"""Convolutional cells of Elman's kind, for one, two and three spatial axes."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from gluonish.gluon.contrib.rnn.conv_cell import Conv1DCell, Conv2DCell, Conv3DCell, ConvCell
from gluonish.gluon.nn.tensor import Tensor
from gluonish.gluon.rnn.recurrent_cell import check_states

__all__ = ["Conv1DRNNCell", "Conv2DRNNCell", "Conv3DRNNCell"]


class _ConvElmanCell(ConvCell):
    """Take a step with ``h' = activation(W_i * x + b_i + W_h * h + b_h)``, * a convolution."""

    def _alias(self) -> str:
        return "conv_rnn"

    def hybrid_forward(
        self,
        F: ModuleType,
        inputs: Tensor,
        states: Sequence[Tensor],
        i2h_weight: Tensor,
        h2h_weight: Tensor,
        i2h_bias: Tensor,
        h2h_bias: Tensor,
    ) -> tuple[Any, list[Any]]:
        """Take one step."""
        check_states(self.name, states, 1)
        parameters = (i2h_weight, h2h_weight, i2h_bias, h2h_bias)
        i2h, h2h = self._conv_forward(F, inputs, states, *parameters, f"t{self._counter}_")
        output = self._activated(F, i2h + h2h, name=f"t{self._counter}_out")
        return output, [output]


class Conv1DRNNCell(_ConvElmanCell, Conv1DCell):
    """Elman (simple) recurrent cell with convolutions over one spatial axis.

    With * the convolution::

        h' = activation(W_i * x + b_i + W_h * h + b_h)

    Args:
        input_shape: Shape of an input without N, in the layout.
        hidden_channels: Number of channels of a state.
        i2h_kernel: Size of the kernel on the input.
        h2h_kernel: Size of the kernel on the state, odd; the state is padded to keep its size.
        i2h_pad: Number of zeros added before and after each spatial axis of the input.
        i2h_dilate: Dilation of the kernel on the input.
        h2h_dilate: Dilation of the kernel on the state.
        i2h_weight_initializer: Initializer of the kernel on the input.
        h2h_weight_initializer: Initializer of the kernel on the state.
        i2h_bias_initializer: Initializer of the input's bias.
        h2h_bias_initializer: Initializer of the state's bias.
        conv_layout: ``"NCW"`` or ``"NWC"``.
        activation: ``"relu"``, ``"sigmoid"``, ``"softrelu"``, ``"softsign"`` or ``"tanh"``; a
            Block; or a function.
        prefix: See `HybridBlock`.
        params: See `HybridBlock`.

    Inputs:
        inputs: (N, *input_shape).
        states: list of h (N, hidden_channels, ...) in the layout.

    Outputs:
        output: h'.
        states: list of the new h'.

    Raises:
        ArgumentError: Extents do not fit, ``h2h_kernel`` is even, or for another layout or
            activation.

    References:
        J. Elman, Finding Structure in Time, 1990.
    """


class Conv2DRNNCell(_ConvElmanCell, Conv2DCell):
    """Elman (simple) recurrent cell with convolutions over two spatial axes.

    With * the convolution::

        h' = activation(W_i * x + b_i + W_h * h + b_h)

    Args:
        input_shape: Shape of an input without N, in the layout.
        hidden_channels: Number of channels of a state.
        i2h_kernel: Size of the kernel on the input.
        h2h_kernel: Size of the kernel on the state, odd; the state is padded to keep its size.
        i2h_pad: Number of zeros added before and after each spatial axis of the input.
        i2h_dilate: Dilation of the kernel on the input.
        h2h_dilate: Dilation of the kernel on the state.
        i2h_weight_initializer: Initializer of the kernel on the input.
        h2h_weight_initializer: Initializer of the kernel on the state.
        i2h_bias_initializer: Initializer of the input's bias.
        h2h_bias_initializer: Initializer of the state's bias.
        conv_layout: ``"NCHW"`` or ``"NHWC"``.
        activation: ``"relu"``, ``"sigmoid"``, ``"softrelu"``, ``"softsign"`` or ``"tanh"``; a
            Block; or a function.
        prefix: See `HybridBlock`.
        params: See `HybridBlock`.

    Inputs:
        inputs: (N, *input_shape).
        states: list of h (N, hidden_channels, ...) in the layout.

    Outputs:
        output: h'.
        states: list of the new h'.

    Raises:
        ArgumentError: Extents do not fit, ``h2h_kernel`` is even, or for another layout or
            activation.

    References:
        J. Elman, Finding Structure in Time, 1990.
    """


class Conv3DRNNCell(_ConvElmanCell, Conv3DCell):
    """Elman (simple) recurrent cell with convolutions over three spatial axes.

    With * the convolution::

        h' = activation(W_i * x + b_i + W_h * h + b_h)

    Args:
        input_shape: Shape of an input without N, in the layout.
        hidden_channels: Number of channels of a state.
        i2h_kernel: Size of the kernel on the input.
        h2h_kernel: Size of the kernel on the state, odd; the state is padded to keep its size.
        i2h_pad: Number of zeros added before and after each spatial axis of the input.
        i2h_dilate: Dilation of the kernel on the input.
        h2h_dilate: Dilation of the kernel on the state.
        i2h_weight_initializer: Initializer of the kernel on the input.
        h2h_weight_initializer: Initializer of the kernel on the state.
        i2h_bias_initializer: Initializer of the input's bias.
        h2h_bias_initializer: Initializer of the state's bias.
        conv_layout: ``"NCDHW"`` or ``"NDHWC"``.
        activation: ``"relu"``, ``"sigmoid"``, ``"softrelu"``, ``"softsign"`` or ``"tanh"``; a
            Block; or a function.
        prefix: See `HybridBlock`.
        params: See `HybridBlock`.

    Inputs:
        inputs: (N, *input_shape).
        states: list of h (N, hidden_channels, ...) in the layout.

    Outputs:
        output: h'.
        states: list of the new h'.

    Raises:
        ArgumentError: Extents do not fit, ``h2h_kernel`` is even, or for another layout or
            activation.

    References:
        J. Elman, Finding Structure in Time, 1990.
    """
