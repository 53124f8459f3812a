"""Dense: the fully connected layer."""

from functools import partial
from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.core.refusal import RefusedAtCall
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.activation import Activation
from gluonish.gluon.nn.tensor import Tensor, check_ints
from gluonish.gluon.parameter.parameter import Init

__all__ = ["Dense"]


class Dense(HybridBlock):
    """A fully connected layer: ``y = activation(x W^T + b)``.

    Args:
        units: Number of output features.
        activation: Function applied to the result, such as ``"relu"`` (see `Activation`), or None.
        use_bias: Whether to add the bias ``b``.
        flatten: Whether to flatten all axes but the first before the product; if not, only the last
            axis is transformed.
        dtype: Element type of the parameters.
        weight_initializer: Initializer of ``weight`` (units, in_units); None for the one that
            `initialize` is given.
        bias_initializer: Initializer of ``bias`` (units,).
        in_units: Number of input features; 0 infers it from the first batch.
        **kwargs: See `HybridBlock`.

    Raises:
        ArgumentError: At the call: ``units`` is below 1.
        ArgumentTypeError: ``units`` or ``in_units`` is not an int.

    Inputs:
        x: (N, ..., in_units); with ``flatten`` the axes after N have in_units elements together.

    Outputs:
        y: (N, units) with ``flatten``, else (N, ..., units).

    Example:
        >>> import gluonish as mx
        >>> layer = mx.gluon.nn.Dense(3, activation="relu")
        >>> layer.initialize()
        >>> layer(mx.nd.ones((2, 5))).shape
        (2, 3)
        >>> layer.weight.shape  # in_units was inferred
        (3, 5)
    """

    def __init__(
        self,
        units: int,
        activation: str | None = None,
        use_bias: bool = True,
        flatten: bool = True,
        dtype: Any = "float32",
        weight_initializer: Init | None = None,
        bias_initializer: Init | None = "zeros",
        in_units: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_ints("Dense", units=units, in_units=in_units)
        with RefusedAtCall(self):
            if units < 1:
                raise ArgumentError(f"Dense: expected units of 1 or more, got {units}")
        self._units = units
        self._in_units = in_units
        self._flatten = flatten
        with self.name_scope():
            declare = partial(self.params._declare, dtype=dtype)
            self.weight = declare("weight", (units, in_units), weight_initializer)
            self.bias = declare("bias", (units,), bias_initializer) if use_bias else None
            self.act = None
            if activation is not None:
                self.act = Activation(activation, prefix=activation + "_")

    def hybrid_forward(
        self, F: ModuleType, x: Tensor, weight: Tensor, bias: Tensor | None = None
    ) -> Any:
        """Compute ``x W^T + b``, then apply the activation.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, ..., in_units); with ``flatten`` the axes after N have in_units elements
                together.
            weight: The parameter ``weight``.
            bias: The parameter ``bias``; None with ``use_bias=False``.
        """
        y = F.FullyConnected(
            x,
            weight,
            bias,
            no_bias=bias is None,
            num_hidden=self._units,
            flatten=self._flatten,
            name="fwd",
        )
        return y if self.act is None else self.act(y)

    def __repr__(self) -> str:
        shape = self.weight.shape
        in_units = (shape[1] if shape else 0) or None
        return f"{type(self).__name__}({in_units} -> {self._units}, {self.act or 'linear'})"
