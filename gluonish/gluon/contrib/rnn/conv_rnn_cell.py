"""Convolutional recurrent cells: Elman, LSTM and GRU, over one to three axes."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any, ClassVar

from gluonish.gluon.contrib.rnn.conv_cell import Conv1DCell, Conv2DCell, Conv3DCell, ConvCell
from gluonish.gluon.nn.tensor import Tensor
from gluonish.gluon.rnn.recurrent_cell import check_states

__all__ = [
    "Conv1DGRUCell",
    "Conv1DLSTMCell",
    "Conv1DRNNCell",
    "Conv2DGRUCell",
    "Conv2DLSTMCell",
    "Conv2DRNNCell",
    "Conv3DGRUCell",
    "Conv3DLSTMCell",
    "Conv3DRNNCell",
]


class _ConvElmanCell(ConvCell):
    """Base of cells with ``h' = activation(W_i * x + b_i + W_h * h + b_h)``; * is convolution."""

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
        """Compute one time step."""
        check_states(self.name, states, 1)
        parameters = (i2h_weight, h2h_weight, i2h_bias, h2h_bias)
        i2h, h2h = self._conv_forward(F, inputs, states, *parameters, f"t{self._counter}_")
        output = self._activate(F, i2h + h2h, name=f"t{self._counter}_out")
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
        ArgumentError: Sizes do not match, ``h2h_kernel`` is even, or the layout or activation is
            unknown.

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
        ArgumentError: Sizes do not match, ``h2h_kernel`` is even, or the layout or activation is
            unknown.

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
        ArgumentError: Sizes do not match, ``h2h_kernel`` is even, or the layout or activation is
            unknown.

    References:
        J. Elman, Finding Structure in Time, 1990.
    """


class _ConvGRUCell(ConvCell):
    """Base class of convolutional GRU cells; each convolution has three groups of channels."""

    _gate_names = ("_r", "_z", "_o")

    def _alias(self) -> str:
        return "conv_gru"

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
        """Compute one time step."""
        check_states(self.name, states, 1)
        t = f"t{self._counter}_"
        parameters = (i2h_weight, h2h_weight, i2h_bias, h2h_bias)
        i2h, h2h = self._conv_forward(F, inputs, states, *parameters, t)
        split = {"num_outputs": 3, "axis": self._channel_axis}
        i_r, i_z, i_n = F.SliceChannel(i2h, name=f"{t}i2h_slice", **split)
        h_r, h_z, h_n = F.SliceChannel(h2h, name=f"{t}h2h_slice", **split)
        r = F.Activation(i_r + h_r, act_type="sigmoid", name=f"{t}r_act")
        z = F.Activation(i_z + h_z, act_type="sigmoid", name=f"{t}z_act")
        new = self._activate(F, i_n + r * h_n, name=f"{t}h_act")
        added = (1.0 - z) * new
        output = F.elemwise_add(added, z * states[0], name=f"{t}out")
        return output, [output]


class Conv1DGRUCell(_ConvGRUCell, Conv1DCell):
    """Gated recurrent units with convolutions over one spatial axis.

    With s the sigmoid, * the convolution, ``a = W_i * x + b_i`` and ``b = W_h * h + b_h``, each
    split into three groups of channels::

        r = s(a_r + b_r)
        z = s(a_z + b_z)
        h' = (1 - z) activation(a_n + r b_n) + z h

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
        ArgumentError: Sizes do not match, ``h2h_kernel`` is even, or the layout or activation is
            unknown.

    References:
        N. Ballas et al., Delving Deeper into Convolutional Networks for Learning Video
        Representations, 2016; the reset gate here multiplies the recurrent product.
    """


class Conv2DGRUCell(_ConvGRUCell, Conv2DCell):
    """Gated recurrent units with convolutions over two spatial axes.

    With s the sigmoid, * the convolution, ``a = W_i * x + b_i`` and ``b = W_h * h + b_h``, each
    split into three groups of channels::

        r = s(a_r + b_r)
        z = s(a_z + b_z)
        h' = (1 - z) activation(a_n + r b_n) + z h

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
        ArgumentError: Sizes do not match, ``h2h_kernel`` is even, or the layout or activation is
            unknown.

    References:
        N. Ballas et al., Delving Deeper into Convolutional Networks for Learning Video
        Representations, 2016; the reset gate here multiplies the recurrent product.
    """


class Conv3DGRUCell(_ConvGRUCell, Conv3DCell):
    """Gated recurrent units with convolutions over three spatial axes.

    With s the sigmoid, * the convolution, ``a = W_i * x + b_i`` and ``b = W_h * h + b_h``, each
    split into three groups of channels::

        r = s(a_r + b_r)
        z = s(a_z + b_z)
        h' = (1 - z) activation(a_n + r b_n) + z h

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
        ArgumentError: Sizes do not match, ``h2h_kernel`` is even, or the layout or activation is
            unknown.

    References:
        N. Ballas et al., Delving Deeper into Convolutional Networks for Learning Video
        Representations, 2016; the reset gate here multiplies the recurrent product.
    """


class _ConvLSTMCell(ConvCell):
    """Base class of convolutional LSTM cells; each convolution has four groups of channels."""

    _gate_names = ("_i", "_f", "_c", "_o")
    _states: ClassVar[int] = 2

    def _alias(self) -> str:
        return "conv_lstm"

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
        """Compute one time step."""
        check_states(self.name, states, 2)
        t = f"t{self._counter}_"
        parameters = (i2h_weight, h2h_weight, i2h_bias, h2h_bias)
        i2h, h2h = self._conv_forward(F, inputs, states, *parameters, t)
        gates = list(
            F.SliceChannel(i2h + h2h, num_outputs=4, axis=self._channel_axis, name=f"{t}slice")
        )
        in_gate = F.Activation(gates[0], act_type="sigmoid", name=f"{t}i")
        forget_gate = F.Activation(gates[1], act_type="sigmoid", name=f"{t}f")
        new = self._activate(F, gates[2], name=f"{t}c")
        out_gate = F.Activation(gates[3], act_type="sigmoid", name=f"{t}o")
        old_cell = forget_gate * states[1]
        cell = F.elemwise_add(old_cell, in_gate * new, name=f"{t}state")
        output = F.elemwise_mul(out_gate, self._activate(F, cell), name=f"{t}out")
        return output, [output, cell]


class Conv1DLSTMCell(_ConvLSTMCell, Conv1DCell):
    """Long short-term memory with convolutions over one spatial axis.

    With s the sigmoid, * the convolution, and ``W_i * x + b_i + W_h * h + b_h`` split into four
    groups of channels i, f, g and o::

        c' = s(f) c + s(i) activation(g)
        h' = s(o) activation(c')

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
        states: list of h and c, (N, hidden_channels, ...) each in the layout.

    Outputs:
        output: h'.
        states: list of h' and c'.

    Raises:
        ArgumentError: Sizes do not match, ``h2h_kernel`` is even, or the layout or activation is
            unknown.

    References:
        X. Shi et al., Convolutional LSTM Network: A Machine Learning Approach for Precipitation
        Nowcasting, 2015; without its peepholes.
    """


class Conv2DLSTMCell(_ConvLSTMCell, Conv2DCell):
    """Long short-term memory with convolutions over two spatial axes.

    With s the sigmoid, * the convolution, and ``W_i * x + b_i + W_h * h + b_h`` split into four
    groups of channels i, f, g and o::

        c' = s(f) c + s(i) activation(g)
        h' = s(o) activation(c')

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
        states: list of h and c, (N, hidden_channels, ...) each in the layout.

    Outputs:
        output: h'.
        states: list of h' and c'.

    Raises:
        ArgumentError: Sizes do not match, ``h2h_kernel`` is even, or the layout or activation is
            unknown.

    References:
        X. Shi et al., Convolutional LSTM Network: A Machine Learning Approach for Precipitation
        Nowcasting, 2015; without its peepholes.
    """


class Conv3DLSTMCell(_ConvLSTMCell, Conv3DCell):
    """Long short-term memory with convolutions over three spatial axes.

    With s the sigmoid, * the convolution, and ``W_i * x + b_i + W_h * h + b_h`` split into four
    groups of channels i, f, g and o::

        c' = s(f) c + s(i) activation(g)
        h' = s(o) activation(c')

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
        states: list of h and c, (N, hidden_channels, ...) each in the layout.

    Outputs:
        output: h'.
        states: list of h' and c'.

    Raises:
        ArgumentError: Sizes do not match, ``h2h_kernel`` is even, or the layout or activation is
            unknown.

    References:
        X. Shi et al., Convolutional LSTM Network: A Machine Learning Approach for Precipitation
        Nowcasting, 2015; without its peepholes.
    """
