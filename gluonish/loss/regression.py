"""Losses of predicted numbers: L2Loss, L1Loss, HuberLoss."""

from types import ModuleType
from typing import Any

from gluonish.loss.base import Loss
from gluonish.nn.tensor import Tensor

__all__ = ["HuberLoss", "L1Loss", "L2Loss"]


class L2Loss(Loss):
    """Half the squared difference: ``weight / 2 * (label - pred)^2``.

    Args:
        weight: Factor by which the loss is multiplied.
        batch_axis: Axis of the samples, over which the loss is not averaged.
        **kwargs: ``prefix`` and ``params``, as for every Block.

    Inputs:
        pred: any shape.
        label: as many elements as ``pred``.
        sample_weight: factor for each sample, which broadcasts to ``pred``; optional.

    Outputs:
        loss: (batch,), the mean over the other axes.
    """

    def __init__(self, weight: float = 1.0, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(
        self, F: ModuleType, pred: Tensor, label: Tensor, sample_weight: Tensor | None = None
    ) -> Any:
        """Compute the loss with the functions of ``F``."""
        loss = F.square(F.reshape_like(label, pred) - pred)
        half = None if self._weight is None else self._weight / 2
        return self._mean(F, self._weighted(F, loss, sample_weight, half))


class L1Loss(Loss):
    """The absolute difference: ``weight * |label - pred|``.

    Args:
        weight: Factor by which the loss is multiplied; None for 1.
        batch_axis: Axis of the samples, over which the loss is not averaged.
        **kwargs: ``prefix`` and ``params``, as for every Block.

    Inputs:
        pred: any shape.
        label: as many elements as ``pred``.
        sample_weight: factor for each sample, which broadcasts to ``pred``; optional.

    Outputs:
        loss: (batch,), the mean over the other axes.
    """

    def __init__(self, weight: float | None = None, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(
        self, F: ModuleType, pred: Tensor, label: Tensor, sample_weight: Tensor | None = None
    ) -> Any:
        """Compute the loss with the functions of ``F``."""
        loss = F.abs(F.reshape_like(label, pred) - pred)
        return self._mean(F, self._weighted(F, loss, sample_weight))


class HuberLoss(Loss):
    """Huber loss: absolute error for large differences, squared error for small ones.

    With ``d = |label - pred|``: ``d - rho / 2`` where ``d > rho``, else ``d^2 / (2 rho)``.

    Args:
        rho: Difference at which the squared part ends and the absolute part begins.
        weight: Factor by which the loss is multiplied; None for 1.
        batch_axis: Axis of the samples, over which the loss is not averaged.
        **kwargs: ``prefix`` and ``params``, as for every Block.

    Inputs:
        pred: any shape.
        label: as many elements as ``pred``.
        sample_weight: factor for each sample, which broadcasts to ``pred``; optional.

    Outputs:
        loss: (batch,), the mean over the other axes.
    """

    def __init__(
        self, rho: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._rho = rho

    def hybrid_forward(
        self, F: ModuleType, pred: Tensor, label: Tensor, sample_weight: Tensor | None = None
    ) -> Any:
        """Compute the loss with the functions of ``F``."""
        distance = F.abs(F.reshape_like(label, pred) - pred)
        loss = F.where(
            distance > self._rho,
            distance - 0.5 * self._rho,
            (0.5 / self._rho) * F.square(distance),
        )
        return self._mean(F, self._weighted(F, loss, sample_weight))
