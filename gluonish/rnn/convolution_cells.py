"""ConvRNNCell, ConvLSTMCell and ConvGRUCell: convolutional recurrent cells."""

import functools
from collections.abc import Sequence
from typing import Any, ClassVar

import gluonish.symbol as sym
from gluonish.core.errors import ArgumentError
from gluonish.rnn.base_cell import BaseRNNCell, Info, RNNParams, States
from gluonish.rnn.gated_cells import gru_step, lstm_step
from gluonish.symbol import Symbol

Pair = tuple[int, int]

_LEAKY = functools.partial(sym.LeakyReLU, act_type="leaky", slope=0.2)


class BaseConvRNNCell(BaseRNNCell):
    """Base class of the convolutional cells.

    Args:
        input_shape: Shape of a step's input, in ``conv_layout``; the batch size is ignored.
        num_hidden: Number of output channels.
        h2h_kernel: Size of the kernel on the state, odd.
        h2h_dilate: Dilation of the kernel on the state.
        i2h_kernel: Size of the kernel on the input.
        i2h_stride: Strides of the kernel on the input.
        i2h_pad: Zero padding of the input.
        i2h_dilate: Dilation of the kernel on the input.
        i2h_weight_initializer: Initializer of the input's weight; None for the model's.
        h2h_weight_initializer: Initializer of the state's weight.
        i2h_bias_initializer: Initializer of the input's bias.
        h2h_bias_initializer: Initializer of the state's bias.
        activation: Name of an activation, or a function of a Symbol.
        prefix: Prefix of the names of weights and outputs; None for the class's name.
        params: Weights to share with other cells; None creates new ones.
        conv_layout: ``"NCHW"`` or ``"NHWC"``.

    Raises:
        ArgumentError: ``h2h_kernel`` has an even extent.
    """

    _default_prefix: ClassVar[str] = ""

    def __init__(
        self,
        input_shape: tuple[int, ...],
        num_hidden: int,
        h2h_kernel: Pair = (3, 3),
        h2h_dilate: Pair = (1, 1),
        i2h_kernel: Pair = (3, 3),
        i2h_stride: Pair = (1, 1),
        i2h_pad: Pair = (1, 1),
        i2h_dilate: Pair = (1, 1),
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        activation: Any = _LEAKY,
        prefix: str | None = None,
        params: RNNParams | None = None,
        conv_layout: str = "NCHW",
    ) -> None:
        super().__init__(self._default_prefix if prefix is None else prefix, params)
        if any(extent % 2 == 0 for extent in h2h_kernel):
            raise ArgumentError(
                f"{type(self).__name__}: Only support odd number, get h2h_kernel= {h2h_kernel}"
            )
        self._num_hidden = num_hidden
        self._input_shape = input_shape
        self._conv_layout = conv_layout
        self._activation = activation
        self._h2h_kernel = h2h_kernel
        self._h2h_dilate = h2h_dilate
        self._h2h_pad = tuple(d * (k - 1) // 2 for d, k in zip(h2h_dilate, h2h_kernel, strict=True))
        self._i2h_kernel = i2h_kernel
        self._i2h_stride = i2h_stride
        self._i2h_pad = i2h_pad
        self._i2h_dilate = i2h_dilate
        self._iW = self.params.get("i2h_weight", init=i2h_weight_initializer)
        self._hW = self.params.get("h2h_weight", init=h2h_weight_initializer)
        self._iB = self.params.get("i2h_bias", init=i2h_bias_initializer)
        self._hB = self.params.get("h2h_bias", init=h2h_bias_initializer)
        with sym.NameManager():
            output = self._convolved(sym.Variable("data"), num_hidden)
        shape = output.infer_shape(data=tuple(input_shape))[1][0]
        self._state_shape = (0, *shape[1:])

    def _convolved(self, inputs: Symbol, filters: int, **options: Any) -> Symbol:
        """Return the convolution of a step's input."""
        found: Symbol = sym.Convolution(
            inputs,
            num_filter=filters,
            kernel=self._i2h_kernel,
            stride=self._i2h_stride,
            pad=self._i2h_pad,
            dilate=self._i2h_dilate,
            layout=self._conv_layout,
            **options,
        )
        return found

    @property
    def _num_gates(self) -> int:
        return len(self._gate_names)

    @property
    def state_info(self) -> list[Info]:
        """Shape and layout of each state, with 0 for the batch size."""
        return [{"shape": self._state_shape, "__layout__": self._conv_layout}]

    def _conv_forward(self, inputs: Symbol, states: States, name: str) -> tuple[Symbol, Symbol]:
        """Return the convolution of the input and that of the state, for all gates."""
        filters = self._num_hidden * self._num_gates
        i2h = self._convolved(inputs, filters, weight=self._iW, bias=self._iB, name=f"{name}i2h")
        h2h = sym.Convolution(
            states[0],
            self._hW,
            self._hB,
            num_filter=filters,
            kernel=self._h2h_kernel,
            stride=(1, 1),
            pad=self._h2h_pad,
            dilate=self._h2h_dilate,
            layout=self._conv_layout,
            name=f"{name}h2h",
        )
        return i2h, h2h


class ConvRNNCell(BaseConvRNNCell):
    """``activation(conv(x) + conv(h))``; the arguments are those of `BaseConvRNNCell`."""

    _default_prefix = "ConvRNN_"

    @property
    def _gate_names(self) -> Sequence[str]:
        return ("",)

    def __call__(self, inputs: Symbol, states: States) -> tuple[Symbol, States]:
        """Compute one time step; see `BaseRNNCell`."""
        name = self._next_name()
        i2h, h2h = self._conv_forward(inputs, states, name)
        output = self._get_activation(i2h + h2h, self._activation, name=f"{name}out")
        return output, [output]


class ConvLSTMCell(BaseConvRNNCell):
    """Convolutional LSTM; the arguments are those of `BaseConvRNNCell`."""

    _default_prefix = "ConvLSTM_"

    @property
    def state_info(self) -> list[Info]:
        """Shape and layout of each state, with 0 for the batch size."""
        return super().state_info * 2

    @property
    def _gate_names(self) -> Sequence[str]:
        return ["_i", "_f", "_c", "_o"]

    def __call__(self, inputs: Symbol, states: States) -> tuple[Symbol, States]:
        """Compute one time step; see `BaseRNNCell`."""
        name = self._next_name()
        i2h, h2h = self._conv_forward(inputs, states, name)
        axis = self._conv_layout.find("C")
        gates = sym.SliceChannel(i2h + h2h, num_outputs=4, axis=axis, name=f"{name}slice")
        return lstm_step(self, gates, states, self._activation, name)


class ConvGRUCell(BaseConvRNNCell):
    """Convolutional GRU; the arguments are those of `BaseConvRNNCell`."""

    _default_prefix = "ConvGRU_"

    @property
    def _gate_names(self) -> Sequence[str]:
        return ["_r", "_z", "_o"]

    def __call__(self, inputs: Symbol, states: States) -> tuple[Symbol, States]:
        """Compute one time step; see `BaseRNNCell`."""
        name = self._next_name()
        i2h, h2h = self._conv_forward(inputs, states, name)
        axis = self._conv_layout.find("C")
        # MXNet omits the axis, which is correct if it is 1.
        options: dict[str, Any] = {} if axis == 1 else {"axis": axis}
        i2h = sym.SliceChannel(i2h, num_outputs=3, name=f"{name}_i2h_slice", **options)
        h2h = sym.SliceChannel(h2h, num_outputs=3, name=f"{name}_h2h_slice", **options)
        return gru_step(self, i2h, h2h, states[0], self._activation, name)
