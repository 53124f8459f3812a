"""Losses of predicted numbers: L2Loss, L1Loss, HuberLoss."""

from types import ModuleType
from typing import Any

from gluonish.gluon.loss.base import Loss
from gluonish.gluon.nn.tensor import Tensor, check_factors

__all__ = ["HuberLoss", "L1Loss", "L2Loss"]


class L2Loss(Loss):
    """Half the squared difference: ``weight / 2 * (label - pred)^2``.

    Args:
        weight: Constant that the loss is multiplied by.
        batch_axis: Axis of the samples. The loss is averaged over all other axes.
        **kwargs: ``prefix`` and ``params``, as for every Block.

    Inputs:
        pred: any shape.
        label: as many elements as ``pred``.
        sample_weight: optional weight of each sample, (batch,), or of as many axes as ``pred``,
            broadcastable to it.

    Outputs:
        loss: (batch,), the mean over the other axes.

    Example:
        >>> import gluonish as mx
        >>> mx.gluon.loss.L2Loss()(mx.nd.array([[1], [4]]), mx.nd.array([[1], [2]])).tolist()
        [0.0, 2.0]
    """

    def __init__(self, weight: float = 1.0, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(
        self, F: ModuleType, pred: Tensor, label: Tensor, sample_weight: Tensor | None = None
    ) -> Any:
        """Return half the mean squared error of each sample.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            pred: Any shape.
            label: As many elements as ``pred``.
            sample_weight: Weight of each sample; None for 1.
        """
        loss = F.square(F.reshape_like(label, pred) - pred)
        half = None if self._weight is None else self._weight / 2
        return self._mean(F, self._weighted(F, loss, sample_weight, half))


class L1Loss(Loss):
    """The absolute difference: ``weight * |label - pred|``.

    Args:
        weight: Constant that the loss is multiplied by; None for 1.
        batch_axis: Axis of the samples. The loss is averaged over all other axes.
        **kwargs: ``prefix`` and ``params``, as for every Block.

    Inputs:
        pred: any shape.
        label: as many elements as ``pred``.
        sample_weight: optional weight of each sample, (batch,), or of as many axes as ``pred``,
            broadcastable to it.

    Outputs:
        loss: (batch,), the mean over the other axes.
    """

    def __init__(self, weight: float | None = None, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(
        self, F: ModuleType, pred: Tensor, label: Tensor, sample_weight: Tensor | None = None
    ) -> Any:
        """Return the mean absolute error of each sample.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            pred: Any shape.
            label: As many elements as ``pred``.
            sample_weight: Weight of each sample; None for 1.
        """
        loss = F.abs(F.reshape_like(label, pred) - pred)
        return self._mean(F, self._weighted(F, loss, sample_weight))


class HuberLoss(Loss):
    """Huber loss: absolute error for large differences, squared error for small ones.

    With ``d = |label - pred|``: ``d - rho / 2`` where ``d > rho``, else ``d^2 / (2 rho)``.

    Args:
        rho: Difference at which the squared part ends and the absolute part begins.
        weight: Constant that the loss is multiplied by; None for 1.
        batch_axis: Axis of the samples. The loss is averaged over all other axes.
        **kwargs: ``prefix`` and ``params``, as for every Block.

    Inputs:
        pred: any shape.
        label: as many elements as ``pred``.
        sample_weight: optional weight of each sample, (batch,), or of as many axes as ``pred``,
            broadcastable to it.

    Outputs:
        loss: (batch,), the mean over the other axes.
    """

    def __init__(
        self, rho: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        check_factors(type(self).__name__, rho=rho)
        self._rho = rho

    def hybrid_forward(
        self, F: ModuleType, pred: Tensor, label: Tensor, sample_weight: Tensor | None = None
    ) -> Any:
        """Return the mean Huber loss of each sample.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            pred: Any shape.
            label: As many elements as ``pred``.
            sample_weight: Weight of each sample; None for 1.
        """
        distance = F.abs(F.reshape_like(label, pred) - pred)
        loss = F.where(
            distance > self._rho,
            distance - 0.5 * self._rho,
            (0.5 / self._rho) * F.square(distance),
        )
        return self._mean(F, self._weighted(F, loss, sample_weight))
