"""GRUCell: one step of gated recurrent units."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from gluonish.gluon.nn.tensor import Tensor
from gluonish.gluon.parameter import ParameterDict
from gluonish.gluon.parameter.parameter import Init
from gluonish.gluon.rnn.cell_activation import CellActivation, activated, check_activation
from gluonish.gluon.rnn.dense_cell import DenseCell
from gluonish.gluon.rnn.recurrent_cell import check_states
from gluonish.ops.recurrent.cell_steps import GRU_STEP

__all__ = ["GRUCell"]


class GRUCell(DenseCell):
    """Gated recurrent unit (GRU).

    With s the recurrent activation, ``a = W_i x + b_i`` and ``b = W_h h + b_h``, in three parts
    each::

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
        activation: Activation of the new state: a name, as for `RNNCell`, a Block, or a function.
            From MXNet 2.0, like the next one.
        recurrent_activation: The activation s, in the same forms.

    Inputs:
        inputs: (N, C).
        states: list of h (N, H).

    Outputs:
        output: h', (N, H).
        states: list of h'.

    Raises:
        ArgumentError: There is no such activation; at the call: a size is below 1.

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
        share = F.elemwise_sub(ones, z, name=f"{t}minus0")
        added = F.elemwise_mul(share, new, name=f"{t}mul1")
        kept = F.elemwise_mul(z, states[0], name=f"{t}mul20")
        output = F.elemwise_add(added, kept, name=f"{t}out")
        return output, [output]


def _gate(F: ModuleType, x: Any, activation: CellActivation, name: str) -> Any:
    """Return an activation, which MXNet's graphs hold as the operator Activation."""
    if isinstance(activation, str):
        return F.Activation(x, act_type=activation, name=name)
    return activated(F, x, activation)
