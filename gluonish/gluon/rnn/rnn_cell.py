"""RNNCell, GRUCell, LSTMCell and LSTMPCell: single time steps of recurrent layers."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from gluonish.gluon.nn.tensor import Tensor
from gluonish.gluon.parameter import ParameterDict
from gluonish.gluon.parameter.parameter import Init
from gluonish.gluon.rnn.dense_cell import DenseCell
from gluonish.gluon.rnn.modifier_cell import ModifierCell, ResidualCell, ZoneoutCell
from gluonish.gluon.rnn.recurrent_cell import (
    CellActivation,
    HybridRecurrentCell,
    RecurrentCell,
    activated,
    check_activation,
    check_states,
)
from gluonish.gluon.rnn.sequential_cell import (
    BidirectionalCell,
    DropoutCell,
    HybridSequentialRNNCell,
    SequentialRNNCell,
)
from gluonish.ops.recurrent.cell_steps import GRU_STEP, LSTM_STEP

__all__ = [
    "BidirectionalCell",
    "DropoutCell",
    "GRUCell",
    "HybridRecurrentCell",
    "HybridSequentialRNNCell",
    "LSTMCell",
    "LSTMPCell",
    "ModifierCell",
    "RNNCell",
    "RecurrentCell",
    "ResidualCell",
    "SequentialRNNCell",
    "ZoneoutCell",
]


class RNNCell(DenseCell):
    """Elman (simple) recurrent cell: ``h' = activation(W_i x + b_i + W_h h + b_h)``.

    Args:
        hidden_size: Number H of features of h.
        activation: ``"relu"``, ``"sigmoid"``, ``"softrelu"``, ``"softsign"`` or ``"tanh"``; a
            Block; or a function.
        i2h_weight_initializer: Initializer of the input weight (H, C).
        h2h_weight_initializer: Initializer of the recurrent weight (H, H).
        i2h_bias_initializer: Initializer of the input bias (H,).
        h2h_bias_initializer: Initializer of the recurrent bias (H,).
        input_size: Number C of input features; 0 infers it from the first step.
        prefix: See `HybridBlock`.
        params: See `HybridBlock`.

    Inputs:
        inputs: (N, C).
        states: list of h (N, H).

    Outputs:
        output: h', (N, H).
        states: list of h'.

    Raises:
        ArgumentError: There is no such activation; in the call, if a size is below 1.

    References:
        J. Elman, Finding Structure in Time, 1990.
    """

    def __init__(
        self,
        hidden_size: int,
        activation: CellActivation = "tanh",
        i2h_weight_initializer: Init | None = None,
        h2h_weight_initializer: Init | None = None,
        i2h_bias_initializer: Init | None = "zeros",
        h2h_bias_initializer: Init | None = "zeros",
        input_size: int = 0,
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        check_activation(activation, "RNNCell")
        weights = (i2h_weight_initializer, h2h_weight_initializer)
        biases = (i2h_bias_initializer, h2h_bias_initializer)
        super().__init__(
            hidden_size, 1, input_size, (*weights, *biases), prefix=prefix, params=params
        )
        self._activation = activation

    def _alias(self) -> str:
        return "rnn"

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Return shape and layout of h."""
        return self._width_info(batch_size, self._hidden_size)

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
        """Compute one time step.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            inputs: (N, C).
            states: List of h (N, H).
            i2h_weight: Input weight, a parameter.
            h2h_weight: Recurrent weight, a parameter.
            i2h_bias: Input bias, a parameter.
            h2h_bias: Recurrent bias, a parameter.
        """
        check_states(self.name, states, 1)
        step = f"t{self._counter}_"
        i2h, h2h = self._products(
            F, inputs, states[0], (i2h_weight, h2h_weight), (i2h_bias, h2h_bias)
        )
        total = F.elemwise_add(i2h, h2h, name=f"{step}plus0")
        output = activated(F, total, self._activation, name=f"{step}out")
        return output, [output]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._sizes()}, {self._activation})"


class GRUCell(DenseCell):
    """Gated recurrent unit (GRU).

    With s the recurrent activation, ``a = W_i x + b_i`` and ``b = W_h h + b_h``, each split into
    three gates r, z and n::

        r = s(a_r + b_r)
        z = s(a_z + b_z)
        h' = (1 - z) * activation(a_n + r * b_n) + z * h

    The reset gate r multiplies the recurrent product, as in cuDNN, not h.

    Args:
        hidden_size: Number H of features of h.
        i2h_weight_initializer: Initializer of the input weight (3 H, C).
        h2h_weight_initializer: Initializer of the recurrent weight (3 H, H).
        i2h_bias_initializer: Initializer of the input bias (3 H,).
        h2h_bias_initializer: Initializer of the recurrent bias (3 H,).
        input_size: Number C of input features; 0 infers it from the first step.
        prefix: See `HybridBlock`.
        params: See `HybridBlock`.
        activation: Activation of the new state: a name, as for `RNNCell`, a Block, or a function
            (MXNet 2.0).
        recurrent_activation: The activation s, likewise.

    Inputs:
        inputs: (N, C).
        states: list of h (N, H).

    Outputs:
        output: h', (N, H).
        states: list of h'.

    Raises:
        ArgumentError: There is no such activation; in the call, if a size is below 1.

    References:
        K. Cho et al., Learning Phrase Representations using RNN Encoder-Decoder, 2014.
    """

    def __init__(
        self,
        hidden_size: int,
        i2h_weight_initializer: Init | None = None,
        h2h_weight_initializer: Init | None = None,
        i2h_bias_initializer: Init | None = "zeros",
        h2h_bias_initializer: Init | None = "zeros",
        input_size: int = 0,
        prefix: str | None = None,
        params: ParameterDict | None = None,
        activation: CellActivation = "tanh",
        recurrent_activation: CellActivation = "sigmoid",
    ) -> None:
        check_activation(activation, "GRUCell")
        check_activation(recurrent_activation, "GRUCell")
        weights = (i2h_weight_initializer, h2h_weight_initializer)
        biases = (i2h_bias_initializer, h2h_bias_initializer)
        super().__init__(
            hidden_size, 3, input_size, (*weights, *biases), prefix=prefix, params=params
        )
        self._activation = activation
        self._recurrent_activation = recurrent_activation

    def _alias(self) -> str:
        return "gru"

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Return shape and layout of h."""
        return self._width_info(batch_size, self._hidden_size)

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
        """Compute one time step.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            inputs: (N, C).
            states: List of h (N, H).
            i2h_weight: Input weight, a parameter.
            h2h_weight: Recurrent weight, a parameter.
            i2h_bias: Input bias, a parameter.
            h2h_bias: Recurrent bias, a parameter.
        """
        check_states(self.name, states, 1)
        t, gate = f"t{self._counter}_", self._recurrent_activation
        i2h, h2h = self._products(
            F, inputs, states[0], (i2h_weight, h2h_weight), (i2h_bias, h2h_bias)
        )
        if gate == "sigmoid" and self._activation == "tanh":
            found = self._step(GRU_STEP, i2h, h2h, states[0])
            if found is not None:
                return found, [found]
        i_r, i_z, i_n = F.SliceChannel(i2h, num_outputs=3, name=f"{t}i2h_slice")
        h_r, h_z, h_n = F.SliceChannel(h2h, num_outputs=3, name=f"{t}h2h_slice")
        r = _gate(F, F.elemwise_add(i_r, h_r, name=f"{t}plus0"), gate, f"{t}r_act")
        z = _gate(F, F.elemwise_add(i_z, h_z, name=f"{t}plus1"), gate, f"{t}z_act")
        reset = F.elemwise_mul(r, h_n, name=f"{t}mul0")
        total = F.elemwise_add(i_n, reset, name=f"{t}plus2")
        new = _gate(F, total, self._activation, f"{t}h_act")
        ones = F.ones_like(z, name=f"{t}ones_like0")
        complement = F.elemwise_sub(ones, z, name=f"{t}minus0")
        added = F.elemwise_mul(complement, new, name=f"{t}mul1")
        carried = F.elemwise_mul(z, states[0], name=f"{t}mul20")
        output = F.elemwise_add(added, carried, name=f"{t}out")
        return output, [output]


def _gate(F: ModuleType, x: Any, activation: CellActivation, name: str) -> Any:
    """Apply an activation; names use the operator Activation, as in MXNet's graphs."""
    if isinstance(activation, str):
        return F.Activation(x, act_type=activation, name=name)
    return activated(F, x, activation)


class LSTMCell(DenseCell):
    """Long short-term memory (LSTM).

    With s the recurrent activation, a the activation, and ``W_i x + b_i + W_h h + b_h`` split into
    four gates i, f, g and o::

        c' = s(f) * c + s(i) * a(g)
        h' = s(o) * a(c')

    Args:
        hidden_size: Number H of features of h and c.
        i2h_weight_initializer: Initializer of the input weight (4 H, C).
        h2h_weight_initializer: Initializer of the recurrent weight (4 H, H).
        i2h_bias_initializer: Initializer of the input bias (4 H,).
        h2h_bias_initializer: Initializer of the recurrent bias (4 H,).
        input_size: Number C of input features; 0 infers it from the first step.
        prefix: See `HybridBlock`.
        params: See `HybridBlock`.
        activation: The activation a: a name, as for `RNNCell`, a Block, or a function.
        recurrent_activation: The activation s, likewise.

    Inputs:
        inputs: (N, C).
        states: list of h (N, H) and c (N, H).

    Outputs:
        output: h', (N, H).
        states: list of h' and c'.

    Raises:
        ArgumentError: There is no such activation; in the call, if a size is below 1.

    References:
        S. Hochreiter, J. Schmidhuber, Long Short-Term Memory, 1997.
    """

    def __init__(
        self,
        hidden_size: int,
        i2h_weight_initializer: Init | None = None,
        h2h_weight_initializer: Init | None = None,
        i2h_bias_initializer: Init | None = "zeros",
        h2h_bias_initializer: Init | None = "zeros",
        input_size: int = 0,
        prefix: str | None = None,
        params: ParameterDict | None = None,
        activation: CellActivation = "tanh",
        recurrent_activation: CellActivation = "sigmoid",
    ) -> None:
        check_activation(activation, "LSTMCell")
        check_activation(recurrent_activation, "LSTMCell")
        weights = (i2h_weight_initializer, h2h_weight_initializer)
        biases = (i2h_bias_initializer, h2h_bias_initializer)
        super().__init__(
            hidden_size, 4, input_size, (*weights, *biases), prefix=prefix, params=params
        )
        self._activation = activation
        self._recurrent_activation = recurrent_activation

    def _alias(self) -> str:
        return "lstm"

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Return shape and layout of h and c."""
        return self._width_info(batch_size, self._hidden_size, self._hidden_size)

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
        """Compute one time step.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            inputs: (N, C).
            states: List of h (N, H) and c (N, H).
            i2h_weight: Input weight, a parameter.
            h2h_weight: Recurrent weight, a parameter.
            i2h_bias: Input bias, a parameter.
            h2h_bias: Recurrent bias, a parameter.
        """
        check_states(self.name, states, 2)
        t, gate = f"t{self._counter}_", self._recurrent_activation
        i2h, h2h = self._products(
            F, inputs, states[0], (i2h_weight, h2h_weight), (i2h_bias, h2h_bias)
        )
        if gate == "sigmoid" and self._activation == "tanh":
            found = self._step(LSTM_STEP, i2h, h2h, states[1])
            if found is not None:
                return found[0], found
        total = F.elemwise_add(i2h, h2h, name=f"{t}plus0")
        gates = list(F.SliceChannel(total, num_outputs=4, name=f"{t}slice"))
        in_gate = activated(F, gates[0], gate, name=f"{t}i")
        forget_gate = activated(F, gates[1], gate, name=f"{t}f")
        new = activated(F, gates[2], self._activation, name=f"{t}c")
        out_gate = activated(F, gates[3], gate, name=f"{t}o")
        carried = F.elemwise_mul(forget_gate, states[1], name=f"{t}mul0")
        added = F.elemwise_mul(in_gate, new, name=f"{t}mul1")
        cell = F.elemwise_add(carried, added, name=f"{t}state")
        squashed = _gate(F, cell, self._activation, f"{t}activation0")
        output = F.elemwise_mul(out_gate, squashed, name=f"{t}out")
        return output, [output, cell]


class LSTMPCell(DenseCell):
    """Long short-term memory whose output is projected to fewer features.

    With s the sigmoid, and ``W_i x + b_i + W_h r + b_h`` split into four gates i, f, g and o::

        c' = s(f) * c + s(i) * tanh(g)
        r' = W_r (s(o) * tanh(c'))

    Args:
        hidden_size: Number H of features of c.
        projection_size: Number R of features of r.
        i2h_weight_initializer: Initializer of the input weight (4 H, C).
        h2h_weight_initializer: Initializer of the recurrent weight (4 H, R).
        h2r_weight_initializer: Initializer of the projection (R, H).
        i2h_bias_initializer: Initializer of the input bias (4 H,).
        h2h_bias_initializer: Initializer of the recurrent bias (4 H,).
        input_size: Number C of input features; 0 infers it from the first step.
        prefix: See `HybridBlock`.
        params: See `HybridBlock`.

    Inputs:
        inputs: (N, C).
        states: list of r (N, R) and c (N, H).

    Outputs:
        output: r', (N, R).
        states: list of r' and c'.

    Raises:
        ArgumentError: In the call, if a size is below 1.

    References:
        H. Sak, A. Senior, F. Beaufays, Long Short-Term Memory Based Recurrent Neural Network
        Architectures, 2014; here without peepholes.
    """

    def __init__(
        self,
        hidden_size: int,
        projection_size: int,
        i2h_weight_initializer: Init | None = None,
        h2h_weight_initializer: Init | None = None,
        h2r_weight_initializer: Init | None = None,
        i2h_bias_initializer: Init | None = "zeros",
        h2h_bias_initializer: Init | None = "zeros",
        input_size: int = 0,
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        weights = (i2h_weight_initializer, h2h_weight_initializer, h2r_weight_initializer)
        biases = (i2h_bias_initializer, h2h_bias_initializer)
        sizes = (hidden_size, 4, input_size)
        super().__init__(*sizes, (*weights, *biases), projection_size, prefix, params)
        self._projection_size = projection_size

    def _alias(self) -> str:
        return "lstmp"

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Return shape and layout of r and c."""
        return self._width_info(batch_size, self._projection_size, self._hidden_size)

    def hybrid_forward(
        self,
        F: ModuleType,
        inputs: Tensor,
        states: Sequence[Tensor],
        i2h_weight: Tensor,
        h2h_weight: Tensor,
        h2r_weight: Tensor,
        i2h_bias: Tensor,
        h2h_bias: Tensor,
    ) -> tuple[Any, list[Any]]:
        """Compute one time step.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            inputs: (N, C).
            states: List of r (N, R) and c (N, H).
            i2h_weight: Input weight, a parameter.
            h2h_weight: Recurrent weight, a parameter.
            h2r_weight: Projection, a parameter.
            i2h_bias: Input bias, a parameter.
            h2h_bias: Recurrent bias, a parameter.
        """
        check_states(self.name, states, 2)
        t = f"t{self._counter}_"
        i2h, h2h = self._products(
            F, inputs, states[0], (i2h_weight, h2h_weight), (i2h_bias, h2h_bias)
        )
        found = self._step(LSTM_STEP, i2h, h2h, states[1])
        hidden, cell = found or self._gated(F, i2h + h2h, states[1], t)
        output = F.FullyConnected(
            hidden, h2r_weight, no_bias=True, num_hidden=self._projection_size, name=f"{t}out"
        )
        return output, [output, cell]

    def _gated(self, F: ModuleType, total: Any, state: Any, t: str) -> tuple[Any, Any]:
        """Return the unprojected hidden state and the cell state from the summed products."""
        gates = list(F.SliceChannel(total, num_outputs=4, name=f"{t}slice"))
        in_gate = F.Activation(gates[0], act_type="sigmoid", name=f"{t}i")
        forget_gate = F.Activation(gates[1], act_type="sigmoid", name=f"{t}f")
        new = F.Activation(gates[2], act_type="tanh", name=f"{t}c")
        out_gate = F.Activation(gates[3], act_type="sigmoid", name=f"{t}o")
        carried = forget_gate * state
        cell = F.elemwise_add(carried, in_gate * new, name=f"{t}state")
        squashed = F.Activation(cell, act_type="tanh")
        hidden = F.elemwise_mul(out_gate, squashed, name=f"{t}hidden")
        return hidden, cell

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._sizes()} -> {self._projection_size})"
