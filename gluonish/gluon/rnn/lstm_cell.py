"""LSTMCell: one step of long short-term memory."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from gluonish.gluon.nn.tensor import Tensor
from gluonish.gluon.parameter import ParameterDict
from gluonish.gluon.parameter.parameter import Init
from gluonish.gluon.rnn.cell_activation import CellActivation, activated, check_activation
from gluonish.gluon.rnn.dense_cell import DenseCell
from gluonish.gluon.rnn.recurrent_cell import check_states
from gluonish.ops.recurrent.cell_steps import LSTM_STEP

__all__ = ["LSTMCell"]


class LSTMCell(DenseCell):
    """Long short-term memory (LSTM).

    With s the recurrent activation, a the activation, and ``W_i x + b_i + W_h h + b_h`` in four
    parts i, f, g and o::

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
        recurrent_activation: The activation s, in the same forms.

    Inputs:
        inputs: (N, C).
        states: list of h (N, H) and c (N, H).

    Outputs:
        output: h', (N, H).
        states: list of h' and c'.

    Raises:
        ArgumentError: There is no such activation; at the call: a size is below 1.

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
        parts = list(F.SliceChannel(total, num_outputs=4, name=f"{t}slice"))
        in_gate = activated(F, parts[0], gate, name=f"{t}i")
        forget_gate = activated(F, parts[1], gate, name=f"{t}f")
        new = activated(F, parts[2], self._activation, name=f"{t}c")
        out_gate = activated(F, parts[3], gate, name=f"{t}o")
        kept = F.elemwise_mul(forget_gate, states[1], name=f"{t}mul0")
        added = F.elemwise_mul(in_gate, new, name=f"{t}mul1")
        cell = F.elemwise_add(kept, added, name=f"{t}state")
        seen = _shown(F, cell, self._activation, f"{t}activation0")
        output = F.elemwise_mul(out_gate, seen, name=f"{t}out")
        return output, [output, cell]


def _shown(F: ModuleType, cell: Any, activation: CellActivation, name: str) -> Any:
    """Return the activation of a cell; MXNet's graphs hold it as the operator Activation."""
    if isinstance(activation, str):
        return F.Activation(cell, act_type=activation, name=name)
    return activated(F, cell, activation)
