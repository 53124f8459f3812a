"""Dropout: forget elements at random while training."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any, SupportsFloat

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.refusal import RefusedAtCall
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.tensor import Tensor

__all__ = ["Dropout"]


class Dropout(HybridBlock):
    """Zero elements with probability ``rate`` while training, and scale the rest by 1 / (1 - rate).

    Args:
        rate: Probability of zeroing, in [0, 1]; with 1 all elements are 0 while training, and below
            0 none is.
        axes: Axes that share one random decision: with ``(2, 3)`` whole channels of images are
            dropped; () decides for each element.
        **kwargs: See `HybridBlock`.

    Inputs:
        x: any shape, floating point.

    Outputs:
        y: shape of ``x``; equal to ``x`` outside training.

    Raises:
        ArgumentError: At the call: ``rate`` is above 1.

    References:
        N. Srivastava et al., Dropout: A Simple Way to Prevent Neural Networks from Overfitting,
        2014.

    Example:
        >>> import gluonish as mx
        >>> layer = mx.gluon.nn.Dropout(0.5)
        >>> layer(mx.nd.ones((3,))).tolist()  # not training
        [1.0, 1.0, 1.0]
    """

    def __init__(self, rate: float, axes: int | Sequence[int] = (), **kwargs: Any) -> None:
        if not isinstance(rate, SupportsFloat):
            raise ArgumentTypeError(f"Dropout: expected rate to be a number, got {rate!r}")
        super().__init__(**kwargs)
        with RefusedAtCall(self):
            if not rate <= 1:
                raise ArgumentError(f"Dropout: expected rate in [0, 1], got {rate}")
        self._rate = rate
        self._axes = (axes,) if isinstance(axes, int) else tuple(axes)

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Zero random elements in training mode; return the input otherwise.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Any shape, floating point.
        """
        if self._rate > 0:
            return F.Dropout(x, p=self._rate, axes=self._axes, name="fwd", cudnn_off=False)
        return F.identity(x)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p = {self._rate}, axes={self._axes})"
