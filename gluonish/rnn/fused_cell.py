"""FusedRNNCell: recurrent layers computed by one operator, with packed weights."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import gluonish.ndarray as nd
import gluonish.symbol as sym
from gluonish.core.errors import ArgumentError, NotSupportedError
from gluonish.initializer import FusedRNN
from gluonish.ndarray import NDArray
from gluonish.rnn.base_cell import Arrays, BaseRNNCell, Info, RNNParams, States, normalized
from gluonish.rnn.gated_cells import GRUCell, LSTMCell, RNNCell
from gluonish.rnn.sequential_cell import BidirectionalCell, DropoutCell, SequentialRNNCell
from gluonish.symbol import Symbol

_GATES = {
    "rnn_relu": ("",),
    "rnn_tanh": ("",),
    "lstm": ("_i", "_f", "_c", "_o"),
    "gru": ("_r", "_z", "_o"),
}


class _PackedArray(NamedTuple):
    """Name and shape of one gate's weight or bias in the packed vector."""

    name: str
    shape: tuple[int, ...]


class FusedRNNCell(BaseRNNCell):
    """Recurrent layers computed for whole sequences by one `RNN` operator, not step by step.

    Args:
        num_hidden: Number of hidden features of each layer and direction.
        num_layers: Number of layers.
        mode: ``"lstm"``, ``"gru"``, ``"rnn_relu"`` or ``"rnn_tanh"``.
        bidirectional: Whether each layer runs in both directions.
        dropout: Dropout probability between layers, in training.
        get_next_state: Whether `unroll` returns the states after the last step.
        forget_bias: Initial bias of the forget gates of an LSTM.
        prefix: Prefix of the names of weights and outputs; by default made from the mode.
        params: Weights to share with other cells; None creates new ones.

    Raises:
        ArgumentError: ``mode`` is unknown.
    """

    def __init__(
        self,
        num_hidden: int,
        num_layers: int = 1,
        mode: str = "lstm",
        bidirectional: bool = False,
        dropout: float = 0.0,
        get_next_state: bool = False,
        forget_bias: float = 1.0,
        prefix: str | None = None,
        params: RNNParams | None = None,
    ) -> None:
        if mode not in _GATES:
            raise ArgumentError(f"FusedRNNCell: expected mode {', '.join(_GATES)}, got {mode!r}")
        super().__init__(f"{mode}_" if prefix is None else prefix, params)
        self._num_hidden = num_hidden
        self._num_layers = num_layers
        self._mode = mode
        self._bidirectional = bidirectional
        self._dropout = dropout
        self._get_next_state = get_next_state
        self._directions = ["l", "r"] if bidirectional else ["l"]
        init = FusedRNN(None, num_hidden, num_layers, mode, bidirectional, forget_bias)
        self._parameter = self.params.get("parameters", init=init)
        self._packed_name = f"{self.params._prefix}parameters"

    @property
    def state_info(self) -> list[Info]:
        """Shape and layout of each state, with 0 for the batch size."""
        layers = len(self._directions) * self._num_layers
        info = {"shape": (layers, 0, self._num_hidden), "__layout__": "LNC"}
        return [dict(info) for _ in range(2 if self._mode == "lstm" else 1)]

    @property
    def _gate_names(self) -> Sequence[str]:
        gates = _GATES[self._mode]
        return gates if gates == ("",) else list(gates)

    @property
    def _num_gates(self) -> int:
        return len(self._gate_names)

    def _packed_arrays(self, features: int) -> Iterator[_PackedArray]:
        """Yield the packed parameters in order: all weights, then all biases."""
        hidden = self._num_hidden
        layers = [(layer, side) for layer in range(self._num_layers) for side in self._directions]
        for kind in ("weight", "bias"):
            for layer, side in layers:
                inputs = hidden * len(self._directions) if layer else features
                for group, columns in (("i2h", inputs), ("h2h", hidden)):
                    shape = (hidden, columns) if kind == "weight" else (hidden,)
                    for gate in self._gate_names:
                        name = f"{self._prefix}{side}{layer}_{group}{gate}_{kind}"
                        yield _PackedArray(name, shape)

    def _slice_weights(self, arr: NDArray, li: int, lh: int) -> Arrays:
        """Return views of the packed parameters by name, for li input and lh hidden features."""
        found = {}
        begin = 0
        for packed in self._packed_arrays(li):
            size = math.prod(packed.shape)
            found[packed.name] = arr[begin : begin + size].reshape(packed.shape)
            begin += size
        if begin != arr.size or lh != self._num_hidden:
            raise ArgumentError(
                f"FusedRNNCell: expected {begin} packed parameters for {li} features of the input, "
                f"got {arr.size}"
            )
        return found

    def unpack_weights(self, args: Arrays) -> Arrays:
        """Split the packed vector into one array per gate, named as in the cells of `unfuse`.

        Args:
            args: Arrays by name, which are not changed.

        Raises:
            ArgumentError: The vector has the wrong size.
            KeyError: The vector is missing.
        """
        args = dict(args)
        packed = args.pop(self._packed_name)
        hidden, directions = self._num_hidden, len(self._directions)
        upper = (self._num_layers - 1) * (directions * hidden + hidden + 2)
        features = packed.size // (directions * hidden * self._num_gates) - upper - hidden - 2
        views = self._slice_weights(packed, features, hidden)
        args.update({name: view.copy() for name, view in views.items()})
        return args

    def pack_weights(self, args: Arrays) -> Arrays:
        """Join the arrays of all gates into the packed vector; undoes `unpack_weights`.

        Args:
            args: Arrays by name, which are not changed.

        Raises:
            KeyError: An array of this cell is missing.
        """
        args = dict(args)
        features = args[f"{self._prefix}l0_i2h{self._gate_names[0]}_weight"].shape[1]
        flat = [args.pop(x.name).reshape((-1,)) for x in self._packed_arrays(features)]
        args[self._packed_name] = nd.concatenate(flat)
        return args

    def __call__(self, inputs: Symbol, states: States) -> tuple[Symbol, States]:
        """Not supported: the operator computes all steps at once; use `unroll`.

        Raises:
            NotSupportedError: Always.
        """
        raise NotSupportedError("FusedRNNCell cannot be stepped. Please use unroll")

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: States | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Any, States]:
        """Unroll the cell over several time steps.

        Args:
            length: Number of steps.
            inputs: One Symbol (N, T, C), or a list of one Symbol (N, C) per step.
            begin_state: States before the first step; None for zeros.
            layout: Axes of a single Symbol: ``"NTC"`` or ``"TNC"``, in which the operator computes.
            merge_outputs: False returns the outputs as a list; otherwise they are one Symbol.

        Returns:
            The outputs of all steps, and the states after the last one; an empty list without
            ``get_next_state``.
        """
        self.reset()
        inputs, axis = normalized(length, inputs, layout, True)
        if axis == 1:
            inputs = sym.swapaxes(inputs, dim1=0, dim2=1)
        states = self.begin_state() if begin_state is None else begin_state
        names = ("state", "state_cell") if self._mode == "lstm" else ("state",)
        result = sym.RNN(
            data=inputs,
            parameters=self._parameter,
            state_size=self._num_hidden,
            num_layers=self._num_layers,
            bidirectional=self._bidirectional,
            p=self._dropout,
            state_outputs=self._get_next_state,
            mode=self._mode,
            name=f"{self._prefix}rnn",
            **dict(zip(names, states, strict=False)),
        )
        outputs, next_states = result, []
        if self._get_next_state:
            outputs, *next_states = [result[i] for i in range(len(names) + 1)]
            for state in next_states:
                state._set_attr(__layout__="LNC")
        if axis == 1:
            outputs = sym.swapaxes(outputs, dim1=0, dim2=1)
        outputs, _ = normalized(length, outputs, layout, merge_outputs)
        return outputs, next_states

    def unfuse(self) -> SequentialRNNCell:
        """Return the same network as a stack of cells that compute single steps.

        To convert weights, call `unpack_weights` of this cell, then `pack_weights` of the stack.
        The forget bias of an LSTM is 1, as in MXNet.
        """
        stack = SequentialRNNCell()
        for layer in range(self._num_layers):
            prefixes = [f"{self._prefix}{side}{layer}_" for side in self._directions]
            cells = [self._layer_cell(prefix) for prefix in prefixes]
            if self._bidirectional:
                name = f"{self._prefix}bi_l{layer}_"
                stack.add(BidirectionalCell(cells[0], cells[1], output_prefix=name))
            else:
                stack.add(cells[0])
            if self._dropout > 0 and layer != self._num_layers - 1:
                stack.add(DropoutCell(self._dropout, prefix=f"{self._prefix}_dropout{layer}_"))
        return stack

    def _layer_cell(self, prefix: str) -> BaseRNNCell:
        """Return a cell for one layer and direction."""
        if self._mode == "lstm":
            return LSTMCell(self._num_hidden, prefix=prefix)
        if self._mode == "gru":
            return GRUCell(self._num_hidden, prefix=prefix)
        return RNNCell(self._num_hidden, activation=self._mode[len("rnn_") :], prefix=prefix)
