"""Focal losses: cross-entropies with less weight on samples that are already right."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.core.number_check import as_float
from gluonish.gluon.loss.base import Loss
from gluonish.gluon.nn.tensor import Tensor

_LEAST = 6e-8  # a power below 1 has no finite gradient at 0


def _checked_gamma(name: str, gamma: float) -> float:
    value = as_float(name, "gamma", gamma)
    if not 0 <= value < float("inf"):
        raise ArgumentError(f"{name}: expected gamma of at least 0, got {gamma}")
    return value


def _modulated(F: ModuleType, loss: Tensor, miss: Tensor, gamma: float) -> Any:
    """Return ``miss^gamma loss``."""
    if not gamma:
        return loss
    if gamma < 1:
        miss = F.maximum(miss, _LEAST)
    return loss * miss**gamma


class FocalLoss(Loss):
    """Focal loss of independent classes: ``-alpha_t (1 - p_t)^gamma log p_t``.

    p is the sigmoid of ``pred``. For a label y of 1, p_t is p and alpha_t is alpha; for 0, they are
    1 - p and 1 - alpha. The easy samples of a frequent class thus count little. With ``gamma=0``
    and ``alpha=None`` it is `SigmoidBinaryCrossEntropyLoss`.

    Args:
        gamma: Exponent of the factor of easy samples, 0 or more.
        alpha: Weight of positive labels, in [0, 1]; negative ones have ``1 - alpha``. None for 1 of
            both.
        weight: Constant factor of the loss; None for 1.
        batch_axis: Axis of the samples. The loss is averaged over all other axes.
        **kwargs: ``prefix`` and ``params``, as for every Block.

    Inputs:
        pred: any shape, scores before the sigmoid.
        label: as many elements as ``pred``, in 0..1; between 0 and 1, p_t and alpha_t are
            interpolated.
        sample_weight: optional weight of each sample, (batch,), or of as many axes as ``pred``,
            broadcastable to it.

    Outputs:
        loss: (batch,), the mean over the other axes. The paper divides the sum by the number of
            positive anchors instead.

    Raises:
        ArgumentError: ``gamma`` is negative, or ``alpha`` outside [0, 1].

    References:
        T.-Y. Lin et al., Focal Loss for Dense Object Detection, 2017.

    Example:
        >>> import gluonish as mx
        >>> loss_function = mx.gluon.loss.FocalLoss()
        >>> scores = mx.nd.array([[0.0], [4.0]])
        >>> loss_function(scores, mx.nd.array([[1], [1]])).asnumpy().round(4)
        array([0.0433, 0.    ], dtype=float32)
    """

    def __init__(
        self,
        gamma: float = 2.0,
        alpha: float | None = 0.25,
        weight: float | None = None,
        batch_axis: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        name = type(self).__name__
        self._gamma = _checked_gamma(name, gamma)
        self._alpha = None if alpha is None else as_float(name, "alpha", alpha)
        if self._alpha is not None and not 0 <= self._alpha <= 1:
            raise ArgumentError(f"{name}: expected alpha in [0, 1] or None, got {alpha}")

    def hybrid_forward(
        self, F: ModuleType, pred: Tensor, label: Tensor, sample_weight: Tensor | None = None
    ) -> Any:
        """Return the focal loss of each sample.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            pred: Any shape, scores before the sigmoid.
            label: As many elements as ``pred``, in 0..1.
            sample_weight: Weight of each sample; None for 1.
        """
        label = F.reshape_like(label, pred)
        log1p_exp = F.Activation(-F.abs(pred), act_type="softrelu")
        loss = F.relu(pred) - pred * label + log1p_exp
        # 1 - p_t as a sum of positive terms, which loses no digits where p_t is near 1.
        miss = F.sigmoid(pred) * (1 - label) + F.sigmoid(-pred) * label
        loss = _modulated(F, loss, miss, self._gamma)
        if self._alpha is not None:
            loss = loss * (label * (2 * self._alpha - 1) + (1 - self._alpha))
        return self._mean(F, self._weighted(F, loss, sample_weight))


class SoftmaxFocalLoss(Loss):
    """Focal loss of exclusive classes: ``-(1 - p)^gamma log p``, p the softmax at the label.

    With labels that are probabilities it is the sum over classes, each term times its probability.
    With ``gamma=0`` it is `SoftmaxCrossEntropyLoss`.

    Args:
        axis: Axis of the classes in ``pred``.
        sparse_label: Whether labels are class indices; if False, they are probabilities of all
            classes.
        gamma: Exponent of the factor of easy samples, 0 or more.
        weight: Constant factor of the loss; None for 1.
        batch_axis: Axis of the samples. The loss is averaged over all other axes.
        **kwargs: ``prefix`` and ``params``, as for every Block.

    Inputs:
        pred: any shape, unnormalized scores (logits).
        label: the shape of ``pred`` without ``axis``; with ``sparse_label=False`` as many elements
            as ``pred``.
        sample_weight: optional weight of each sample, (batch,), or of as many axes as ``pred``,
            broadcastable to it with size 1 along ``axis``.

    Outputs:
        loss: (batch,), the mean over the other axes.

    Raises:
        ArgumentError: ``gamma`` is negative.

    References:
        T.-Y. Lin et al., Focal Loss for Dense Object Detection, 2017.
    """

    def __init__(
        self,
        axis: int = -1,
        sparse_label: bool = True,
        gamma: float = 2.0,
        weight: float | None = None,
        batch_axis: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._axis = axis
        self._sparse_label = sparse_label
        self._gamma = _checked_gamma(type(self).__name__, gamma)

    def hybrid_forward(
        self, F: ModuleType, pred: Tensor, label: Tensor, sample_weight: Tensor | None = None
    ) -> Any:
        """Return the focal loss of each sample.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            pred: Any shape, unnormalized scores (logits).
            label: The shape of ``pred`` without ``axis``; with ``sparse_label=False`` as many
                elements as ``pred``.
            sample_weight: Weight of each sample; None for 1.
        """
        along = {"axis": self._axis, "keepdims": True}
        log_p = F.log_softmax(pred, axis=self._axis)
        if self._sparse_label:
            log_p = F.pick(log_p, label, **along)
        loss = _modulated(F, -log_p, -F.expm1(log_p), self._gamma)
        if not self._sparse_label:
            loss = F.sum(loss * F.reshape_like(label, pred), **along)
        return self._mean(F, self._weighted(F, loss, sample_weight))
