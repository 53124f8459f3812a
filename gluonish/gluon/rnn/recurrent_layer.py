"""RecurrentLayer: the base class of recurrent layers."""

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

import gluonish.ndarray as nd
import gluonish.symbol as sym
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.core.number_check import DeferErrorToCall, check_numbers
from gluonish.core.numpy_mode import is_np_array
from gluonish.core.tracebacks import shorten
from gluonish.gluon.block.arguments import check_one_kind
from gluonish.gluon.block.block_errors import described_block, input_error
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.tensor import Tensor, check_ints, check_layout
from gluonish.gluon.parameter import Parameter
from gluonish.gluon.parameter.parameter import Init
from gluonish.gluon.rnn.new_state import new_state
from gluonish.gluon.rnn.packed import fit_arrays, packed_size
from gluonish.gluon.rnn.rnn_cell import GRUCell, LSTMCell, LSTMPCell, RNNCell
from gluonish.gluon.rnn.sequential_cell import (
    BidirectionalCell,
    DropoutCell,
    HybridSequentialRNNCell,
)
from gluonish.initializer import RNNFused
from gluonish.ndarray import NDArray
from gluonish.ops.recurrent.layout import GATES
from gluonish.symbol import Symbol

_SIDES = "lr"  # prefixes of names in the forward and the backward direction


class RecurrentLayer(HybridBlock):
    """Base class of the recurrent layers.

    A layer of index n has the parameters ``l{n}_i2h_weight``, ``l{n}_h2h_weight``,
    ``l{n}_i2h_bias`` and ``l{n}_h2h_bias``, with ``r`` for ``l`` in the backward direction, and
    ``l{n}_h2r_weight`` with a projection. By the rules of MXNet 2.0 it has one vector of all
    parameters, ``rnn_param``.

    Args:
        hidden_size: Number of features of a cell.
        num_layers: Number of layers.
        layout: ``"TNC"`` or ``"NTC"``.
        dropout: Dropout rate between layers.
        bidirectional: Whether to run in both directions and concatenate the outputs.
        input_size: Number of input features; 0 infers it from the first batch.
        i2h_weight_initializer: Initializer of the input weights.
        h2h_weight_initializer: Initializer of the recurrent weights.
        i2h_bias_initializer: Initializer of the input biases.
        h2h_bias_initializer: Initializer of the recurrent biases.
        mode: Type of cell, a key of `GATES`.
        projection_size: Number of features of an LSTM's projected output; None for no projection.
        h2r_weight_initializer: Initializer of the projections.
        lstm_state_clip_min: Lower bound of an LSTM's cell state c; needs the upper bound, too.
        lstm_state_clip_max: Upper bound of c.
        lstm_state_clip_nan: Whether NaN in c is replaced by the lower bound.
        dtype: Element type of the parameters and the states.
        use_sequence_length: Whether calls pass the length of each sequence.
        **kwargs: See `HybridBlock`.
    """

    def __init__(
        self,
        hidden_size: int,
        num_layers: int,
        layout: str,
        dropout: float,
        bidirectional: bool,
        input_size: int,
        i2h_weight_initializer: Init | None,
        h2h_weight_initializer: Init | None,
        i2h_bias_initializer: Init | None,
        h2h_bias_initializer: Init | None,
        mode: str,
        projection_size: int | None = None,
        h2r_weight_initializer: Init | None = None,
        lstm_state_clip_min: float | None = None,
        lstm_state_clip_max: float | None = None,
        lstm_state_clip_nan: bool | None = False,
        dtype: Any = "float32",
        use_sequence_length: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        what = type(self).__name__
        check_layout(layout, ("TNC", "NTC"), what)
        with DeferErrorToCall(self):
            _check_sizes(what, hidden_size, num_layers, input_size, projection_size, dropout)
        if mode != "lstm":
            clip = (lstm_state_clip_min, lstm_state_clip_max, lstm_state_clip_nan or None)
            _refuse_lstm_options(what, projection_size, h2r_weight_initializer, *clip)
        self._hidden_size = hidden_size
        self._projection_size = projection_size
        self._num_layers = num_layers
        self._mode = mode
        self._layout = layout
        self._dropout = dropout
        self._dir = 2 if bidirectional else 1
        self._input_size = input_size
        self._lstm_state_clip_min = lstm_state_clip_min
        self._lstm_state_clip_max = lstm_state_clip_max
        self._lstm_state_clip_nan = bool(lstm_state_clip_nan)
        self._dtype = dtype
        self._use_sequence_length = bool(use_sequence_length)
        self._i2h_weight_initializer = i2h_weight_initializer
        self._h2h_weight_initializer = h2h_weight_initializer
        self._i2h_bias_initializer = i2h_bias_initializer
        self._h2h_bias_initializer = h2h_bias_initializer
        self._h2r_weight_initializer = h2r_weight_initializer
        self._gates = GATES[mode]
        self._is_packed = follows_mxnet2()
        if self._is_packed:
            self._declare_packed()
        else:
            self._declare_arrays(dtype)

    def _declare_packed(self) -> None:
        """Declare one vector of all parameters, as in MXNet 2.0."""
        init = RNNFused(
            self._mode,
            self._num_layers,
            self._hidden_size,
            self._dir == 2,
            self._projection_size,
            self._i2h_weight_initializer,
            self._h2h_weight_initializer,
            self._i2h_bias_initializer,
            self._h2h_bias_initializer,
            self._h2r_weight_initializer,
        )
        size = packed_size(self, self._input_size) if self._input_size else 0
        self._register_param("rnn_param", shape=(size,), init=init, dtype=self._dtype)

    def _declare_arrays(self, dtype: Any) -> None:
        """Declare the weights and biases of all layers and directions."""
        input_size, hidden_size = self._input_size, self._hidden_size
        projection_size = self._projection_size
        rows, width = self._gates * hidden_size, projection_size or hidden_size
        for layer in range(self._num_layers):
            for side in _SIDES[: self._dir]:
                declarations: list[tuple[str, tuple[int, ...], Init | None]] = [
                    ("i2h_weight", (rows, input_size), self._i2h_weight_initializer),
                    ("h2h_weight", (rows, width), self._h2h_weight_initializer),
                    ("i2h_bias", (rows,), self._i2h_bias_initializer),
                    ("h2h_bias", (rows,), self._h2h_bias_initializer),
                ]
                if projection_size is not None:
                    projection = ("h2r_weight", (width, hidden_size), self._h2r_weight_initializer)
                    declarations.append(projection)
                for name, shape, init in declarations:
                    self._register_param(
                        f"{side}{layer}_{name}", shape=shape, init=init, dtype=dtype
                    )
            input_size = width * self._dir

    def _register_param(
        self, name: str, shape: tuple[int, ...], init: Init | None, dtype: Any
    ) -> Parameter:
        """Declare a parameter as an attribute of the layer; subclasses may override this.

        Args:
            name: Name of the parameter in the layer.
            shape: Shape; 0 infers an extent in the first call.
            init: Initializer of the parameter.
            dtype: Element type of the parameter.
        """
        parameter = self.params._declare(name, shape, init, dtype=dtype)
        setattr(self, name, parameter)
        return parameter

    def _runs(self) -> Iterator[tuple[int, str]]:
        """Yield layer index and direction of every run, in the order of the packed parameters."""
        return ((i, side) for i in range(self._num_layers) for side in _SIDES[: self._dir])

    def __repr__(self) -> str:
        if self._is_packed:
            inputs = self._input_size
        else:
            _, inputs = self._reg_params["l0_i2h_weight"].shape or (0, 0)
        fields = [f"{inputs or None} -> {self._hidden_size}", self._layout]
        if self._num_layers != 1:
            fields.append(f"num_layers={self._num_layers}")
        if self._dropout != 0:
            fields.append(f"dropout={self._dropout}")
        if self._dir == 2:
            fields.append("bidirectional")
        return f"{type(self).__name__}({', '.join(fields)})"

    def _fit_arrays(self, start: str, loaded: dict[str, NDArray]) -> None:
        """Convert arrays of a file between one vector and separate weights, as the layer has."""
        fit_arrays(self, start, loaded)

    def _collect_params_with_prefix(self, prefix: str = "") -> dict[str, Parameter]:
        """Return parameters by the names of the layer's cells, which files use."""
        if self._is_packed:
            return super()._collect_params_with_prefix(prefix)
        start = f"{prefix}." if prefix else ""
        found = {}
        for name, parameter in self._reg_params.items():
            side, layer, local_name = name[0], *name[1:].split("_", 1)
            cell = f"{layer}.{side}_cell" if self._dir == 2 else layer
            found[f"{start}_unfused.{cell}.{local_name}"] = parameter
        return found

    def cast(self, dtype: Any) -> None:
        """Convert all parameters to a dtype, in which the layer then computes."""
        super().cast(dtype)
        self._dtype = dtype

    def unfuse(self) -> HybridSequentialRNNCell:
        """Return a stack of cells that share this layer's parameters, to compute single steps.

        Its ``unroll`` computes the same as the layer; with ``dropout`` there are `DropoutCell`s
        between the cells.

        Raises:
            ArgumentError: The layer clips its cell states.
            NotSupportedError: The layer has one vector of parameters, by the rules of MXNet 2.0.
        """
        return _unfused(self)

    _unfuse = unfuse

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Return shape, layout and dtype of every state.

        Args:
            batch_size: Number N of sequences; 0 if unknown.
        """
        runs = self._num_layers * self._dir
        widths = [self._projection_size or self._hidden_size]
        if self._mode == "lstm":
            widths.append(self._hidden_size)
        return [
            {"shape": (runs, batch_size, width), "__layout__": "LNC", "dtype": self._dtype}
            for width in widths
        ]

    def begin_state(
        self, batch_size: int = 0, func: Callable[..., Any] = nd.zeros, **kwargs: Any
    ) -> list[Any]:
        """Return initial states, by default zeros.

        Args:
            batch_size: Number N of sequences.
            func: Function that creates each state: `nd.zeros`, `nd.ones` or another function of
                shape, dtype and name; `sym.zeros` or `sym.var` for Symbols.
            **kwargs: Further arguments of ``func``; they override shape, dtype, layout and name.
        """
        states = [
            new_state(func, f"{self.prefix}h0_{i}", {**info, **kwargs})
            for i, info in enumerate(self.state_info(batch_size))
        ]
        if func is nd.zeros and is_np_array():
            return [state.as_np_ndarray() for state in states]
        return states

    def __call__(  # pyright: ignore[reportIncompatibleMethodOverride]  # MXNet's names
        self, inputs: Any, states: Any = None, sequence_length: Any = None, *others: Any
    ) -> Any:
        """Compute the outputs; without states, begin with zeros and return only the output.

        Args:
            inputs: See the class.
            states: A list of states, or the only state; None for zeros.
            sequence_length: (N,), the length of each sequence; with ``use_sequence_length``.
            *others: Passed on to `HybridBlock.__call__`.

        Raises:
            ArgumentError: The lengths are missing.
        """
        try:
            if not isinstance(inputs, NDArray | Symbol):
                raise input_error(self, inputs)
            check_one_kind(self, inputs, (states, sequence_length))
            if self._use_sequence_length is (sequence_length is None):
                self._report_lengths()
            lengths = (sequence_length,) if self._use_sequence_length else ()
            if states is None:
                # A tuple marks calls that return no states, so that they have their own graph.
                begin: Any = tuple(self._zero_states(inputs))
            else:
                begin = [states] if isinstance(states, NDArray | Symbol) else list(states)
            return super().__call__(inputs, begin, *lengths, *others)
        except Exception as error:
            shorten(error, sys._getframe(1))
            raise

    def _report_lengths(self) -> None:
        if self._use_sequence_length:
            raise ArgumentError(
                f"{self.name}: expected sequence_length with use_sequence_length=True, got None"
            )
        warnings.warn(
            f"{self.name}: sequence_length has no effect without use_sequence_length=True",
            UserWarning,
            stacklevel=3,
        )

    def _zero_states(self, inputs: Any) -> list[Any]:
        if isinstance(inputs, Symbol):
            return self.begin_state(0, func=sym.zeros)
        options: dict[str, Any] = {"ctx": inputs.context} if isinstance(inputs, NDArray) else {}
        if getattr(inputs, "is_traced", False):
            return self._zeros_like(inputs)
        batch_size = inputs.shape[self._layout.index("N")]
        return self.begin_state(batch_size, dtype=inputs.dtype, **options)

    def _zeros_like(self, inputs: Any) -> list[Any]:
        """Return zero states computed from the inputs, so that graphs have no arrays inside."""
        ends = (1, None, 1) if self._layout == "TNC" else (None, 1, 1)
        zeros = nd.zeros_like(nd.slice(inputs, begin=(0, 0, 0), end=ends))
        if self._layout == "NTC":
            zeros = nd.swapaxes(zeros, dim1=0, dim2=1)
        return [
            nd.broadcast_axis(zeros, axis=(0, 2), size=(info["shape"][0], info["shape"][2]))
            for info in self.state_info(0)
        ]

    def hybrid_forward(  # type: ignore[override]  # `x` has the name that MXNet gives it
        self,
        F: ModuleType,
        inputs: Tensor,
        states: Sequence[Tensor],
        sequence_length: Tensor | None = None,
        **kwargs: Tensor,
    ) -> Any:
        """Run the operator `RNN` on the concatenated parameters.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            inputs: The input.
            states: Hidden states and, for an LSTM, cell states; a tuple if the final ones are not
                returned.
            sequence_length: Length of each sequence, or None.
            **kwargs: The parameters.

        Raises:
            ArgumentError: The shape of a state does not match the inputs.
        """
        output, last = self._forward_kernel(F, inputs, states, sequence_length, **kwargs)
        return output if isinstance(states, tuple) else (output, last)

    def _forward_kernel(
        self,
        F: ModuleType,
        inputs: Tensor,
        states: Sequence[Tensor],
        sequence_length: Tensor | None = None,
        **kwargs: Tensor,
    ) -> tuple[Any, list[Any]]:
        """Run the operator, and return the output and the last states."""
        self._check_states(inputs, states)
        if self._layout == "NTC":
            inputs = F.swapaxes(inputs, dim1=0, dim2=1)
        names = [
            f"{side}{i}_{product}_{kind}"
            for kind, products in (("weight", ("i2h", "h2h", "h2r")), ("bias", ("i2h", "h2h")))
            for i, side in self._runs()
            for product in products
        ]
        if self._is_packed:
            parameters = kwargs["rnn_param"]
        else:
            flat = [F.reshape(kwargs[name], shape=-1) for name in names if name in kwargs]
            parameters = F._rnn_param_concat(*flat, dim=0)
        lengths = () if sequence_length is None else (sequence_length,)
        output, *last = F.RNN(
            inputs, parameters, *states, **self._named(lengths), **self._attributes()
        )
        if self._layout == "NTC":
            output = F.swapaxes(output, dim1=0, dim2=1)
        return output, last

    def _named(self, lengths: Sequence[Tensor]) -> dict[str, Tensor]:
        return {"sequence_length": lengths[0]} if lengths else {}

    def _attributes(self) -> dict[str, Any]:
        """Return the operator's attributes; None becomes ``"None"``, as in MXNet's files."""
        attributes = {
            "use_sequence_length": self._use_sequence_length,
            "state_size": self._hidden_size,
            "projection_size": self._projection_size,
            "num_layers": self._num_layers,
            "bidirectional": self._dir == 2,
            "p": self._dropout,
            "state_outputs": True,
            "mode": self._mode,
            "lstm_state_clip_min": self._lstm_state_clip_min,
            "lstm_state_clip_max": self._lstm_state_clip_max,
            "lstm_state_clip_nan": self._lstm_state_clip_nan,
        }
        return {name: "None" if value is None else value for name, value in attributes.items()}

    def _check_states(self, inputs: Any, states: Sequence[Any]) -> None:
        infos = self.state_info(0)
        if len(states) != len(infos):
            raise ArgumentError(
                f"{described_block(self)}: expected {len(infos)} states, got {len(states)}; pass "
                "layer.begin_state(batch_size), or none for zeros"
            )
        if isinstance(inputs, Symbol) or len(inputs.shape) != 3:
            return
        batch_size = inputs.shape[self._layout.index("N")]
        for info, state in zip(self.state_info(batch_size), states, strict=True):
            if state.shape != info["shape"]:
                raise ArgumentError(
                    f"{described_block(self)}: expected a recurrent state of shape "
                    f"{info['shape']}, got {state.shape}; this batch has {batch_size} samples"
                )


def _refuse_lstm_options(what: str, *options: object) -> None:
    if any(option is not None for option in options):
        raise ArgumentTypeError(
            f"{what}: expected no projection and no state clipping, which only LSTM supports, got "
            f"{options}"
        )


def _check_sizes(
    what: str,
    hidden_size: int,
    num_layers: int,
    input_size: int,
    projection_size: int | None,
    dropout: float,
) -> None:
    check_ints(what, hidden_size=hidden_size, num_layers=num_layers, input_size=input_size)
    if projection_size is not None:
        check_ints(what, projection_size=projection_size)
    width = hidden_size if projection_size is None else projection_size
    if min(hidden_size, num_layers, width) < 1 or input_size < 0:
        raise ArgumentError(
            f"{what}: expected sizes of 1 or more, got hidden_size {hidden_size}, num_layers "
            f"{num_layers}, input_size {input_size}, projection_size {projection_size}"
        )
    check_numbers(what, dropout=dropout)
    if not 0 <= dropout <= 1:
        raise ArgumentError(f"{what}: expected dropout in [0, 1], got {dropout}")


def _unfused(layer: RecurrentLayer) -> HybridSequentialRNNCell:
    """Return a stack of cells with a layer's parameters; see `RecurrentLayer.unfuse`."""
    if layer._is_packed:
        raise NotSupportedError(
            f"{layer.name}.unfuse: expected a layer with separate weights, got one with a vector "
            "of all parameters, as in MXNet 2.0, whose layers lack unfuse"
        )
    if layer._lstm_state_clip_min is not None or layer._lstm_state_clip_nan:
        raise ArgumentError(
            f"{layer.name}.unfuse: expected a layer without state clipping, which cells do not "
            "support, got one with it"
        )
    stack = HybridSequentialRNNCell(prefix=layer.prefix, params=layer.params)
    width = layer._projection_size or layer._hidden_size
    with stack.name_scope():
        for i in range(layer._num_layers):
            inputs = width * layer._dir if i else layer._input_size
            cells = [_cell(layer, inputs, f"{side}{i}_") for side in "lr"[: layer._dir]]
            stack.add(cells[0] if len(cells) == 1 else BidirectionalCell(*cells))
            if layer._dropout > 0 and i + 1 < layer._num_layers:
                stack.add(DropoutCell(layer._dropout))
    return stack


def _cell(layer: RecurrentLayer, input_size: int, prefix: str) -> Any:
    options: dict[str, Any] = {
        f"{name}_initializer": getattr(layer, f"_{name}_initializer")
        for name in ("i2h_weight", "h2h_weight", "i2h_bias", "h2h_bias")
    }
    options |= {"input_size": input_size, "prefix": prefix}
    if layer._mode == "gru":
        return GRUCell(layer._hidden_size, **options)
    if layer._mode != "lstm":
        return RNNCell(layer._hidden_size, layer._mode.removeprefix("rnn_"), **options)
    if layer._projection_size is None:
        return LSTMCell(layer._hidden_size, **options)
    options["h2r_weight_initializer"] = layer._h2r_weight_initializer
    return LSTMPCell(layer._hidden_size, layer._projection_size, **options)
