"""RNNCell: one step of Elman's recurrent network."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from gluonish.gluon.nn.tensor import Tensor
from gluonish.gluon.parameter import ParameterDict
from gluonish.gluon.parameter.parameter import Init
from gluonish.gluon.rnn.cell_activation import CellActivation, activated, check_activation
from gluonish.gluon.rnn.dense_cell import DenseCell
from gluonish.gluon.rnn.recurrent_cell import check_states

__all__ = ["RNNCell"]


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
        ArgumentError: There is no such activation; at the call: a size is below 1.

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
