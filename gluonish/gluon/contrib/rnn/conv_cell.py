"""Base classes of the convolutional cells: parameters, states and the convolutions."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any, ClassVar

from gluonish.core.errors import ArgumentError
from gluonish.core.number_check import DeferErrorToCall
from gluonish.gluon.nn.tensor import Extents, Tensor, as_extents, check_layout
from gluonish.gluon.parameter import ParameterDict
from gluonish.gluon.parameter.parameter import Init
from gluonish.gluon.rnn.recurrent_cell import CellActivation, HybridRecurrentCell, check_activation

_LAYOUTS = {1: ("NCW", "NWC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


def conv_extents(
    dimensions: Sequence[int],
    kernels: Sequence[int],
    paddings: Sequence[int],
    dilations: Sequence[int],
) -> tuple[int, ...]:
    """Return the spatial sizes of a convolution's output with stride 1; 0 is an unknown size.

    Args:
        dimensions: Spatial sizes of the input.
        kernels: Spatial sizes of the kernel.
        paddings: Number of zeros added to both ends of each spatial axis.
        dilations: Spacing between kernel elements along each spatial axis.
    """
    settings = zip(dimensions, kernels, paddings, dilations, strict=True)
    return tuple(x and x + 2 * pad - dilate * (k - 1) for x, k, pad, dilate in settings)


class ConvCell(HybridRecurrentCell):
    """Base class of cells that convolve the input and the state.

    The convolution of the state is padded so that the state keeps its size.

    Args:
        input_shape: Shape of one input without N; 0 channels are inferred from the first input.
        hidden_channels: Number of channels of the state.
        i2h_kernel: Size of the kernel on the input.
        h2h_kernel: Size of the kernel on the state, odd.
        i2h_pad: Number of zeros added to both ends of each spatial axis of the input.
        i2h_dilate: Dilation of the kernel on the input.
        h2h_dilate: Dilation of the kernel on the state.
        i2h_weight_initializer: Initializer of the kernel on the input.
        h2h_weight_initializer: Initializer of the kernel on the state.
        i2h_bias_initializer: Initializer of the input's bias.
        h2h_bias_initializer: Initializer of the state's bias.
        dims: Number of spatial axes.
        conv_layout: Layout of inputs, states and weights.
        activation: Name of an activation, a Block, or a function.
        prefix: See `HybridBlock`.
        params: See `HybridBlock`.

    Raises:
        ArgumentError: Sizes do not match, ``h2h_kernel`` is even, or the layout or activation is
            unknown.
    """

    # Suffixes of the gates' names; a subclass may define a property.
    _gate_names: Sequence[str] = ("",)
    _states: ClassVar[int] = 1

    def __init__(
        self,
        input_shape: Sequence[int],
        hidden_channels: int,
        i2h_kernel: Extents,
        h2h_kernel: Extents,
        i2h_pad: Extents,
        i2h_dilate: Extents,
        h2h_dilate: Extents,
        i2h_weight_initializer: Init | None,
        h2h_weight_initializer: Init | None,
        i2h_bias_initializer: Init | None,
        h2h_bias_initializer: Init | None,
        dims: int,
        conv_layout: str,
        activation: CellActivation,
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        name = type(self).__name__
        check_layout(conv_layout, _LAYOUTS[dims], name)
        check_activation(activation, name)
        super().__init__(prefix=prefix, params=params)
        self._conv_layout = conv_layout
        self._activation = activation
        self._hidden_channels = hidden_channels
        self._input_shape = as_extents(input_shape, dims + 1, f"{name} input_shape")
        self._channel_axis = conv_layout.index("C")
        self._i2h_kernel = as_extents(i2h_kernel, dims, f"{name} i2h_kernel")
        self._h2h_kernel = as_extents(h2h_kernel, dims, f"{name} h2h_kernel")
        self._i2h_pad = as_extents(i2h_pad, dims, f"{name} i2h_pad")
        self._i2h_dilate = as_extents(i2h_dilate, dims, f"{name} i2h_dilate")
        self._h2h_dilate = as_extents(h2h_dilate, dims, f"{name} h2h_dilate")
        if not all(extent % 2 for extent in self._h2h_kernel):
            raise ArgumentError(f"{name}: expected odd sizes in h2h_kernel, got {h2h_kernel}")
        self._h2h_pad = tuple(
            dilate * (extent - 1) // 2
            for extent, dilate in zip(self._h2h_kernel, self._h2h_dilate, strict=True)
        )
        self._state_shape = (0,) * (dims + 1)
        with DeferErrorToCall(self):
            self._state_shape = self._infer_state_shape(name)
        weights = (i2h_weight_initializer, h2h_weight_initializer)
        self._add_parameters((*weights, i2h_bias_initializer, h2h_bias_initializer))

    @property
    def _num_gates(self) -> int:
        return len(self._gate_names)

    def _infer_state_shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a state without N: the output shape of the input convolution."""
        extents = list(self._input_shape)
        channels = extents.pop(self._channel_axis - 1)
        if channels < 0 or self._hidden_channels < 1:  # 0: inferred from the first input
            raise ArgumentError(
                f"{name}: expected 1 channel or more, got {channels} of the input and "
                f"{self._hidden_channels} of the state"
            )
        found = conv_extents(extents, self._i2h_kernel, self._i2h_pad, self._i2h_dilate)
        if min(found) < 1:
            raise ArgumentError(
                f"{name}: expected an input of at least the size of i2h_kernel "
                f"{self._i2h_kernel}, got input_shape {self._input_shape}"
            )
        return self._with_channels(self._hidden_channels, found)

    def _with_channels(self, channels: int, extents: Sequence[int]) -> tuple[int, ...]:
        at = self._channel_axis - 1
        return (*extents[:at], channels, *extents[at:])

    def _add_parameters(self, initializers: tuple[Init | None, ...]) -> None:
        rows = self._num_gates * self._hidden_channels
        in_channels = self._input_shape[self._channel_axis - 1]
        shapes = {
            "i2h_weight": (rows, *self._with_channels(in_channels, self._i2h_kernel)),
            "h2h_weight": (rows, *self._with_channels(self._hidden_channels, self._h2h_kernel)),
            "i2h_bias": (rows,),
            "h2h_bias": (rows,),
        }
        for (name, shape), init in zip(shapes.items(), initializers, strict=True):
            setattr(self, name, self.params._declare(name, shape, init))

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Return shape and layout of every state.

        Args:
            batch_size: Number N of sequences; 0 if unknown.
        """
        info = {"shape": (batch_size, *self._state_shape), "__layout__": self._conv_layout}
        return [dict(info) for _ in range(self._states)]

    def _conv_forward(
        self,
        F: ModuleType,
        inputs: Tensor,
        states: Sequence[Tensor],
        i2h_weight: Tensor,
        h2h_weight: Tensor,
        i2h_bias: Tensor,
        h2h_bias: Tensor,
        prefix: str,
    ) -> tuple[Any, Any]:
        """Return the convolutions of the input and of the first state."""
        fixed = {
            "num_filter": self._num_gates * self._hidden_channels,
            "stride": (1,) * len(self._i2h_kernel),
            "layout": self._conv_layout,
        }
        i2h = F.Convolution(
            *(inputs, i2h_weight, i2h_bias),
            kernel=self._i2h_kernel,
            pad=self._i2h_pad,
            dilate=self._i2h_dilate,
            name=f"{prefix}i2h",
            **fixed,
        )
        h2h = F.Convolution(
            *(states[0], h2h_weight, h2h_bias),
            kernel=self._h2h_kernel,
            pad=self._h2h_pad,
            dilate=self._h2h_dilate,
            name=f"{prefix}h2h",
            **fixed,
        )
        return i2h, h2h

    def _activate(self, F: ModuleType, x: Any, **kwargs: Any) -> Any:
        return self._get_activation(F, x, self._activation, **kwargs)

    def __repr__(self) -> str:
        in_channels = self._input_shape[self._channel_axis - 1]
        sizes = f"{in_channels} -> {self._num_gates * self._hidden_channels}"
        return f"{type(self).__name__}({sizes}, {self._activation}, {self._conv_layout})"


class Conv1DCell(ConvCell):
    """Base class of cells that convolve over one spatial axis; see `ConvCell` for arguments."""

    def __init__(
        self,
        input_shape: Sequence[int],
        hidden_channels: int,
        i2h_kernel: Extents,
        h2h_kernel: Extents,
        i2h_pad: Extents = (0,),
        i2h_dilate: Extents = (1,),
        h2h_dilate: Extents = (1,),
        i2h_weight_initializer: Init | None = None,
        h2h_weight_initializer: Init | None = None,
        i2h_bias_initializer: Init | None = "zeros",
        h2h_bias_initializer: Init | None = "zeros",
        conv_layout: str = "NCW",
        activation: CellActivation = "tanh",
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        super().__init__(
            input_shape,
            hidden_channels,
            i2h_kernel,
            h2h_kernel,
            i2h_pad,
            i2h_dilate,
            h2h_dilate,
            i2h_weight_initializer,
            h2h_weight_initializer,
            i2h_bias_initializer,
            h2h_bias_initializer,
            1,
            conv_layout,
            activation,
            prefix,
            params,
        )


class Conv2DCell(ConvCell):
    """Base class of cells that convolve over two spatial axes; see `ConvCell` for arguments."""

    def __init__(
        self,
        input_shape: Sequence[int],
        hidden_channels: int,
        i2h_kernel: Extents,
        h2h_kernel: Extents,
        i2h_pad: Extents = (0, 0),
        i2h_dilate: Extents = (1, 1),
        h2h_dilate: Extents = (1, 1),
        i2h_weight_initializer: Init | None = None,
        h2h_weight_initializer: Init | None = None,
        i2h_bias_initializer: Init | None = "zeros",
        h2h_bias_initializer: Init | None = "zeros",
        conv_layout: str = "NCHW",
        activation: CellActivation = "tanh",
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        super().__init__(
            input_shape,
            hidden_channels,
            i2h_kernel,
            h2h_kernel,
            i2h_pad,
            i2h_dilate,
            h2h_dilate,
            i2h_weight_initializer,
            h2h_weight_initializer,
            i2h_bias_initializer,
            h2h_bias_initializer,
            2,
            conv_layout,
            activation,
            prefix,
            params,
        )


class Conv3DCell(ConvCell):
    """Base class of cells that convolve over three spatial axes; see `ConvCell` for arguments."""

    def __init__(
        self,
        input_shape: Sequence[int],
        hidden_channels: int,
        i2h_kernel: Extents,
        h2h_kernel: Extents,
        i2h_pad: Extents = (0, 0, 0),
        i2h_dilate: Extents = (1, 1, 1),
        h2h_dilate: Extents = (1, 1, 1),
        i2h_weight_initializer: Init | None = None,
        h2h_weight_initializer: Init | None = None,
        i2h_bias_initializer: Init | None = "zeros",
        h2h_bias_initializer: Init | None = "zeros",
        conv_layout: str = "NCDHW",
        activation: CellActivation = "tanh",
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        super().__init__(
            input_shape,
            hidden_channels,
            i2h_kernel,
            h2h_kernel,
            i2h_pad,
            i2h_dilate,
            h2h_dilate,
            i2h_weight_initializer,
            h2h_weight_initializer,
            i2h_bias_initializer,
            h2h_bias_initializer,
            3,
            conv_layout,
            activation,
            prefix,
            params,
        )
