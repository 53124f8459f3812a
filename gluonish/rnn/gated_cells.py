"""RNNCell, LSTMCell and GRUCell; convolutional cells share their gates."""

from collections.abc import Sequence
from typing import Any

import gluonish.symbol as sym
from gluonish.initializer import LSTMBias
from gluonish.rnn.base_cell import BaseRNNCell, Info, RNNParams, States
from gluonish.symbol import Symbol


def lstm_step(
    cell: BaseRNNCell, gates: Symbol | Sequence[Symbol], states: States, activation: Any, name: str
) -> tuple[Symbol, States]:
    """Return the output and states of an LSTM.

    Args:
        cell: The cell.
        gates: Input gate, forget gate, new value and output gate, before activation.
        states: The output and memory of the previous step.
        activation: Activation function for the new value and the memory.
        name: Prefix of the nodes' names.
    """
    in_gate = sym.Activation(gates[0], act_type="sigmoid", name=f"{name}i")
    forget_gate = sym.Activation(gates[1], act_type="sigmoid", name=f"{name}f")
    new = cell._get_activation(gates[2], activation, name=f"{name}c")
    out_gate = sym.Activation(gates[3], act_type="sigmoid", name=f"{name}o")
    memory = sym._internal._plus(forget_gate * states[1], in_gate * new, name=f"{name}state")
    shown = cell._get_activation(memory, activation)
    output = sym._internal._mul(out_gate, shown, name=f"{name}out")
    return output, [output, memory]


def gru_step(
    cell: BaseRNNCell,
    i2h: Symbol | Sequence[Symbol],
    h2h: Symbol | Sequence[Symbol],
    state: Symbol,
    activation: Any,
    name: str,
) -> tuple[Symbol, States]:
    """Return the output and states of a GRU whose reset gate acts after the recurrent product.

    Args:
        cell: The cell.
        i2h: Products of the input for reset gate, update gate and new value.
        h2h: Products of the state for the same three.
        state: The output of the previous step.
        activation: Activation function for the new value.
        name: Prefix of the nodes' names.
    """
    reset = sym.Activation(i2h[0] + h2h[0], act_type="sigmoid", name=f"{name}_r_act")
    update = sym.Activation(i2h[1] + h2h[1], act_type="sigmoid", name=f"{name}_z_act")
    new = cell._get_activation(i2h[2] + reset * h2h[2], activation, name=f"{name}_h_act")
    output = sym._internal._plus((1.0 - update) * new, update * state, name=f"{name}out")
    return output, [output]


class _DenseCell(BaseRNNCell):
    """Base class of cells with dense layers; ``i2h_bias`` is the input bias's initializer."""

    def __init__(
        self,
        num_hidden: int,
        prefix: str,
        params: RNNParams | None,
        i2h_bias: LSTMBias | None = None,
    ) -> None:
        super().__init__(prefix, params)
        self._num_hidden = num_hidden
        self._iW = self.params.get("i2h_weight")
        self._hW = self.params.get("h2h_weight")
        bias = {} if i2h_bias is None else {"init": i2h_bias}
        self._iB = self.params.get("i2h_bias", **bias)
        self._hB = self.params.get("h2h_bias")

    @property
    def state_info(self) -> list[Info]:
        """Shape and layout of each state, with 0 for the batch size."""
        return [{"shape": (0, self._num_hidden), "__layout__": "NC"}]

    def _products(self, inputs: Symbol, state: Symbol, name: str) -> tuple[Symbol, Symbol]:
        """Return the dense layer of the input and that of the state, for all gates."""
        rows = self._num_hidden * len(self._gate_names)
        i2h = sym.FullyConnected(inputs, self._iW, self._iB, num_hidden=rows, name=f"{name}i2h")
        h2h = sym.FullyConnected(state, self._hW, self._hB, num_hidden=rows, name=f"{name}h2h")
        return i2h, h2h


class RNNCell(_DenseCell):
    """Elman (simple) recurrent cell: ``h' = activation(W_i x + b_i + W_h h + b_h)``.

    Args:
        num_hidden: Number of hidden features.
        activation: Name of an activation, or a function of a Symbol.
        prefix: Prefix of the names of weights and outputs.
        params: Weights to share with other cells; None creates new ones.
    """

    def __init__(
        self,
        num_hidden: int,
        activation: Any = "tanh",
        prefix: str = "rnn_",
        params: RNNParams | None = None,
    ) -> None:
        super().__init__(num_hidden, prefix, params)
        self._activation = activation

    @property
    def _gate_names(self) -> Sequence[str]:
        return ("",)

    def __call__(self, inputs: Symbol, states: States) -> tuple[Symbol, States]:
        """Compute one time step; see `BaseRNNCell`."""
        name = self._next_name()
        i2h, h2h = self._products(inputs, states[0], name)
        output = self._get_activation(i2h + h2h, self._activation, name=f"{name}out")
        return output, [output]


class LSTMCell(_DenseCell):
    """Long short-term memory (LSTM) cell; its states are the output h and the memory c.

    Args:
        num_hidden: Number of hidden features.
        prefix: Prefix of the names of weights and outputs.
        params: Weights to share with other cells; None creates new ones.
        forget_bias: Initial bias of the forget gate.
    """

    def __init__(
        self,
        num_hidden: int,
        prefix: str = "lstm_",
        params: RNNParams | None = None,
        forget_bias: float = 1.0,
    ) -> None:
        super().__init__(num_hidden, prefix, params, LSTMBias(forget_bias=forget_bias))

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
        i2h, h2h = self._products(inputs, states[0], name)
        gates = sym.SliceChannel(i2h + h2h, num_outputs=4, name=f"{name}slice")
        return lstm_step(self, gates, states, "tanh", name)


class GRUCell(_DenseCell):
    """Gated recurrent unit (GRU) cell; the reset gate acts on the recurrent product.

    Args:
        num_hidden: Number of hidden features.
        prefix: Prefix of the names of weights and outputs.
        params: Weights to share with other cells; None creates new ones.
    """

    def __init__(
        self, num_hidden: int, prefix: str = "gru_", params: RNNParams | None = None
    ) -> None:
        super().__init__(num_hidden, prefix, params)

    @property
    def _gate_names(self) -> Sequence[str]:
        return ["_r", "_z", "_o"]

    def __call__(self, inputs: Symbol, states: States) -> tuple[Symbol, States]:
        """Compute one time step; see `BaseRNNCell`."""
        name = self._next_name()
        i2h, h2h = self._products(inputs, states[0], f"{name}_")
        i2h = sym.SliceChannel(i2h, num_outputs=3, name=f"{name}_i2h_slice")
        h2h = sym.SliceChannel(h2h, num_outputs=3, name=f"{name}_h2h_slice")
        return gru_step(self, i2h, h2h, states[0], "tanh", name)
