"""Activation: an elementwise function chosen by name."""

from types import ModuleType
from typing import Any

from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.tensor import Tensor

__all__ = ["Activation"]


class Activation(HybridBlock):
    """Apply ``relu``, ``sigmoid``, ``tanh``, ``softrelu`` or ``softsign`` to each element.

    Args:
        activation: Name of the function.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: any shape.

    Outputs:
        y: shape of ``x``.

    Raises:
        OperatorError: There is no such function; raised when the layer is called.
    """

    def __init__(self, activation: str, **kwargs: Any) -> None:
        self._act_type = activation
        super().__init__(**kwargs)

    def _alias(self) -> str:
        return self._act_type

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Apply the activation function.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Any shape.
        """
        return F.Activation(x, act_type=self._act_type, name="fwd")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._act_type})"
