"""GatedMLP: a feed-forward network whose hidden units are multiplied by gates."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.basic_layers import Dense, Dropout
from gluonish.gluon.nn.tensor import Tensor, check_positive, check_rate
from gluonish.gluon.parameter.parameter import Init

__all__ = ["GatedMLP"]

# Activations of gates, and the forms of GELU.
GATES = {"silu": "", "gelu": "erf", "gelu_tanh": "tanh", "gelu_sigmoid": "sigmoid"}


def check_gate(layer: str, activation: object) -> None:
    """Raise an error if there is no such activation of gates.

    Raises:
        ArgumentError: ``activation`` is not in `GATES`.
    """
    if activation not in GATES:
        raise ArgumentError(f"{layer}: expected activation {', '.join(GATES)}, got {activation!r}")


def gated(F: ModuleType, x: Any, activation: Any) -> Any:
    """Return activation(first half) * second half, of the last axis."""
    if activation == "silu":
        return F.swiglu(x)
    return F.geglu(x, approximation=GATES[activation])


class GatedMLP(HybridBlock):
    """Feed-forward network with gates: ``y = (activation(x G^T) * (x V^T)) W^T``.

    One product computes gates and values: the rows of ``gate_value.weight`` are those of G, then
    those of V.

    Args:
        units: Number of output features.
        hidden_units: Number of hidden units, and of gates.
        activation: Function of the gates: ``silu`` (SwiGLU, as in LLaMA), ``gelu`` (GEGLU),
            ``gelu_tanh`` (as in Gemma) or ``gelu_sigmoid``.
        use_bias: Whether the dense layers have a bias.
        dropout: Probability of dropping a hidden unit in training, in [0, 1).
        dtype: Element type of the parameters.
        weight_initializer: Initializer of weights; None uses the one passed to `initialize`.
        bias_initializer: Initializer of biases.
        in_units: Number of input features; 0 infers it from the first batch.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (..., in_units).

    Outputs:
        y: (..., units).

    Raises:
        ArgumentError: There is no such activation, or a number is out of range.
        ArgumentTypeError: A number is of another type.

    References:
        N. Shazeer, GLU Variants Improve Transformer, 2020.

    Example:
        >>> import gluonish as mx
        >>> layer = mx.gluon.nn.GatedMLP(units=8, hidden_units=32)
        >>> layer.initialize()
        >>> layer(mx.nd.ones((2, 5, 8))).shape
        (2, 5, 8)
    """

    def __init__(
        self,
        units: int,
        hidden_units: int,
        activation: str = "silu",
        use_bias: bool = False,
        dropout: float = 0.0,
        dtype: Any = "float32",
        weight_initializer: Init | None = None,
        bias_initializer: Init | None = "zeros",
        in_units: int = 0,
        **kwargs: Any,
    ) -> None:
        name = type(self).__name__
        super().__init__(**kwargs)
        check_positive(name, units=units, hidden_units=hidden_units)
        check_rate(name, "dropout", dropout)
        check_gate(name, activation)
        self._activation = activation
        options = {"dtype": dtype, "weight_initializer": weight_initializer}
        options |= {"bias_initializer": bias_initializer, "use_bias": use_bias}
        with self.name_scope():
            self.gate_value = Dense(
                2 * hidden_units, flatten=False, in_units=in_units, prefix="gate_value_", **options
            )
            self.dropout = Dropout(dropout) if dropout else None
            self.output = Dense(
                units, flatten=False, in_units=hidden_units, prefix="output_", **options
            )
        self._text = f"{units}, {hidden_units}, {activation}"

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Compute the network.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (..., in_units).
        """
        hidden = gated(F, self.gate_value(x), self._activation)
        return self.output(hidden if self.dropout is None else self.dropout(hidden))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._text})"
