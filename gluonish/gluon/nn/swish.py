"""Swish and SiLU: an element weighed by its own sigmoid."""

from types import ModuleType
from typing import Any

from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.tensor import Tensor, check_factors

__all__ = ["SiLU", "Swish"]


class Swish(HybridBlock):
    """Swish: ``y = x * sigmoid(beta * x)``.

    Args:
        beta: Steepness of the sigmoid; large values approach ReLU.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: any shape.

    Outputs:
        y: shape of ``x``.

    References:
        P. Ramachandran, B. Zoph, Q. V. Le, Searching for Activation Functions, 2017.
    """

    def __init__(self, beta: float = 1.0, **kwargs: Any) -> None:
        check_factors("Swish", beta=beta)
        super().__init__(**kwargs)
        self._beta = beta

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Multiply each element by the sigmoid of ``beta`` times itself.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Any shape.
        """
        return x * F.sigmoid(self._beta * x, name="fwd")


class SiLU(HybridBlock):
    """Sigmoid linear unit: ``y = x * sigmoid(x)``, which is `Swish` with ``beta`` 1.

    Args:
        **kwargs: See `HybridBlock`.

    Inputs:
        x: any shape.

    Outputs:
        y: shape of ``x``.

    References:
        D. Hendrycks, K. Gimpel, Gaussian Error Linear Units, 2016.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Multiply each element by its sigmoid.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Any shape.
        """
        return x * F.sigmoid(x, name="fwd")
