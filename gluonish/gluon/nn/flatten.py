"""Flatten: all axes but the first become one."""

from types import ModuleType
from typing import Any

from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.tensor import Tensor

__all__ = ["Flatten"]


class Flatten(HybridBlock):
    """Flatten all axes but the first into one.

    Args:
        **kwargs: See `HybridBlock`.

    Inputs:
        x: (N, ...).

    Outputs:
        y: (N, product of the other sizes).
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Flatten all axes but the first into one.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (N, ...).
        """
        return F.Flatten(x)

    def __repr__(self) -> str:
        return type(self).__name__
