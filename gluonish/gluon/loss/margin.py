"""Losses of two classes told by sign: HingeLoss, SquaredHingeLoss, LogisticLoss."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.gluon.loss.base import Loss
from gluonish.gluon.nn.tensor import Tensor, check_factors

__all__ = ["HingeLoss", "LogisticLoss", "SquaredHingeLoss"]


class HingeLoss(Loss):
    """Hinge loss: ``max(0, margin - pred * label)``.

    Args:
        margin: Value of ``pred * label`` from which on the loss is 0.
        weight: Constant that the loss is multiplied by; None for 1.
        batch_axis: Axis of the samples. The loss is averaged over all other axes.
        **kwargs: ``prefix`` and ``params``, as for every Block.

    Inputs:
        pred: any shape.
        label: as many elements as ``pred``, -1 or 1.
        sample_weight: optional weight of each sample, (batch,), or of as many axes as ``pred``,
            broadcastable to it.

    Outputs:
        loss: (batch,), the mean over the other axes.
    """

    def __init__(
        self, margin: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        check_factors(type(self).__name__, margin=margin)
        self._margin = margin

    def hybrid_forward(
        self, F: ModuleType, pred: Tensor, label: Tensor, sample_weight: Tensor | None = None
    ) -> Any:
        """Return the hinge loss of each sample.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            pred: Any shape.
            label: As many elements as ``pred``, -1 or 1.
            sample_weight: Weight of each sample; None for 1.
        """
        loss = F.relu(self._margin - pred * F.reshape_like(label, pred))
        return self._mean(F, self._weighted(F, loss, sample_weight))


class SquaredHingeLoss(Loss):
    """Squared hinge loss: ``max(0, margin - pred * label)^2``.

    Args:
        margin: Value of ``pred * label`` from which on the loss is 0.
        weight: Constant that the loss is multiplied by; None for 1.
        batch_axis: Axis of the samples. The loss is averaged over all other axes.
        **kwargs: ``prefix`` and ``params``, as for every Block.

    Inputs:
        pred: any shape.
        label: as many elements as ``pred``, -1 or 1.
        sample_weight: optional weight of each sample, (batch,), or of as many axes as ``pred``,
            broadcastable to it.

    Outputs:
        loss: (batch,), the mean over the other axes.
    """

    def __init__(
        self, margin: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        check_factors(type(self).__name__, margin=margin)
        self._margin = margin

    def hybrid_forward(
        self, F: ModuleType, pred: Tensor, label: Tensor, sample_weight: Tensor | None = None
    ) -> Any:
        """Return the squared hinge loss of each sample.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            pred: Any shape.
            label: As many elements as ``pred``, -1 or 1.
            sample_weight: Weight of each sample; None for 1.
        """
        loss = F.square(F.relu(self._margin - pred * F.reshape_like(label, pred)))
        return self._mean(F, self._weighted(F, loss, sample_weight))


class LogisticLoss(Loss):
    """Logistic loss: ``log(1 + exp(-pred * label))``.

    Args:
        weight: Constant that the loss is multiplied by; None for 1.
        batch_axis: Axis of the samples. The loss is averaged over all other axes.
        label_format: ``"signed"``: labels are -1 or 1; ``"binary"``: 0 or 1.
        **kwargs: ``prefix`` and ``params``, as for every Block.

    Inputs:
        pred: any shape.
        label: as many elements as ``pred``.
        sample_weight: optional weight of each sample, (batch,), or of as many axes as ``pred``,
            broadcastable to it.

    Outputs:
        loss: (batch,), the mean over the other axes.

    Raises:
        ArgumentError: ``label_format`` is neither of these.
    """

    def __init__(
        self,
        weight: float | None = None,
        batch_axis: int = 0,
        label_format: str = "signed",
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        if label_format not in ("signed", "binary"):
            raise ArgumentError(
                f"LogisticLoss: expected label_format 'signed' or 'binary', got {label_format!r}"
            )
        self._label_format = label_format

    def hybrid_forward(
        self, F: ModuleType, pred: Tensor, label: Tensor, sample_weight: Tensor | None = None
    ) -> Any:
        """Return the logistic loss of each sample.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            pred: Any shape.
            label: As many elements as ``pred``.
            sample_weight: Weight of each sample; None for 1.
        """
        label = F.reshape_like(label, pred)
        if self._label_format == "signed":
            label = (label + 1.0) / 2.0
        rest = F.Activation(-F.abs(pred), act_type="softrelu")
        loss = F.relu(pred) - pred * label + rest
        return self._mean(F, self._weighted(F, loss, sample_weight))
