"""LSTMPCell: one step of long short-term memory with a projected output."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from gluonish.gluon.nn.tensor import Tensor
from gluonish.gluon.parameter import ParameterDict
from gluonish.gluon.parameter.parameter import Init
from gluonish.gluon.rnn.dense_cell import DenseCell
from gluonish.gluon.rnn.recurrent_cell import check_states
from gluonish.ops.recurrent.cell_steps import LSTM_STEP

__all__ = ["LSTMPCell"]


class LSTMPCell(DenseCell):
    """Long short-term memory whose output is projected to fewer features.

    With s the sigmoid, and ``W_i x + b_i + W_h r + b_h`` in four parts i, f, g and o::

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
        ArgumentError: At the call: a size is below 1.

    References:
        H. Sak, A. Senior, F. Beaufays, Long Short-Term Memory Based Recurrent Neural Network
        Architectures, 2014; without its peepholes.
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
            i2h_weight: The parameter, as the others.
            h2h_weight: The parameter.
            h2r_weight: The parameter.
            i2h_bias: The parameter.
            h2h_bias: The parameter.
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
        """Return the state before its projection, and the cells, from the summed products."""
        parts = list(F.SliceChannel(total, num_outputs=4, name=f"{t}slice"))
        in_gate = F.Activation(parts[0], act_type="sigmoid", name=f"{t}i")
        forget_gate = F.Activation(parts[1], act_type="sigmoid", name=f"{t}f")
        new = F.Activation(parts[2], act_type="tanh", name=f"{t}c")
        out_gate = F.Activation(parts[3], act_type="sigmoid", name=f"{t}o")
        kept = forget_gate * state
        cell = F.elemwise_add(kept, in_gate * new, name=f"{t}state")
        seen = F.Activation(cell, act_type="tanh")
        hidden = F.elemwise_mul(out_gate, seen, name=f"{t}hidden")
        return hidden, cell

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._sizes()} -> {self._projection_size})"
