"""What every loss shares: weighting, and the mean over all axes but the batch's."""

from numbers import Number
from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentTypeError
from gluonish.hybrid_block import HybridBlock
from gluonish.nn.tensor import Tensor

__all__ = ["Loss"]


class Loss(HybridBlock):
    """Base of losses.

    Args:
        weight: Factor on the loss; None for 1.
        batch_axis: Axis of the samples, which the mean leaves.
        **kwargs: ``prefix`` and ``params``, as for every Block.

    Raises:
        ArgumentTypeError: ``weight`` is neither None nor a number.
    """

    def __init__(self, weight: float | None, batch_axis: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if weight is not None and not isinstance(weight, Number):
            raise ArgumentTypeError(
                f"{type(self).__name__}: expected weight to be a number or None, got {weight!r}"
            )
        self._weight = weight
        self._batch_axis = batch_axis

    def __repr__(self) -> str:
        return f"{type(self).__name__}(batch_axis={self._batch_axis}, w={self._weight})"

    def _weighted(
        self, F: ModuleType, loss: Tensor, sample_weight: Tensor | None, weight: float | None = None
    ) -> Any:
        """Return the loss times ``sample_weight``, which broadcasts to it, and times the weight.

        Args:
            F: `gluonish.ndarray` or `gluonish.symbol`.
            loss: The loss of each element.
            sample_weight: Factors, or None.
            weight: Used instead of the loss's own weight if not None.
        """
        if sample_weight is not None:
            loss = F.broadcast_mul(loss, sample_weight)
        weight = self._weight if weight is None else weight
        return loss if weight is None else loss * weight

    def _mean(self, F: ModuleType, loss: Tensor) -> Any:
        """Return the mean over all axes but the batch's."""
        mean: Tensor = F.mean(loss, axis=self._batch_axis, exclude=True)
        return mean
