"""Dice loss: one minus the overlap of predicted and true regions, for segmentation."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.core.number_check import as_float, as_int
from gluonish.gluon.loss.base import Loss
from gluonish.gluon.nn.tensor import Tensor


class DiceLoss(Loss):
    """Dice loss: ``1 - (2 sum p y + smooth) / (sum p^2 + sum y^2 + smooth)``.

    p are probabilities, y the labels, and the sums are over all elements of a sample. With
    ``num_classes`` it is the mean over the classes, whose sums are over the other axes.

    Args:
        smooth: Number that is added to numerator and denominator, 0 or more: a sample with neither
            predicted nor true elements has a loss of 0 if it is positive, and NaN if it is 0.
        num_classes: Number of exclusive classes: p is the softmax along ``axis``, and labels are
            class indices. None for one region: p is the sigmoid, and labels are in 0..1.
        axis: Axis of the classes in ``pred``, with ``num_classes``.
        from_probabilities: Whether ``pred`` already holds the probabilities p.
        weight: Constant factor of the loss; None for 1.
        batch_axis: Axis of the samples.
        **kwargs: ``prefix`` and ``params``, as for every Block.

    Inputs:
        pred: any shape, scores, such as (N, 1, H, W), or (N, classes, H, W) with ``num_classes``.
        label: as many elements as ``pred``; with ``num_classes`` the shape of ``pred`` without
            ``axis``, where indices out of range are of no class.
        sample_weight: optional weight of each sample, (batch,).

    Outputs:
        loss: (batch,).

    Raises:
        ArgumentError: ``smooth`` is negative, ``num_classes`` below 1, or ``axis`` the axis of
            samples.

    References:
        F. Milletari et al., V-Net: Fully Convolutional Neural Networks for Volumetric Medical Image
        Segmentation, 2016, whose loss has no ``smooth``.

    Example:
        >>> import gluonish as mx
        >>> loss_function = mx.gluon.loss.DiceLoss(from_probabilities=True)
        >>> mask = mx.nd.array([[1, 1, 0, 0]])
        >>> loss_function(mx.nd.array([[1, 0, 0, 0]]), mask).asnumpy()
        array([0.25], dtype=float32)
    """

    def __init__(
        self,
        smooth: float = 1.0,
        num_classes: int | None = None,
        axis: int = 1,
        from_probabilities: bool = False,
        weight: float | None = None,
        batch_axis: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        name = type(self).__name__
        self._smooth = as_float(name, "smooth", smooth)
        if not 0 <= self._smooth < float("inf"):
            raise ArgumentError(f"{name}: expected smooth of at least 0, got {smooth}")
        self._num_classes = num_classes
        if num_classes is not None:
            self._num_classes = as_int(name, "num_classes", num_classes, 1)
            if axis == batch_axis:
                raise ArgumentError(
                    f"{name}: expected axis other than batch_axis, got {axis} for both"
                )
        self._axis = axis
        self._from_probabilities = from_probabilities

    def hybrid_forward(
        self, F: ModuleType, pred: Tensor, label: Tensor, sample_weight: Tensor | None = None
    ) -> Any:
        """Return the dice loss of each sample.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            pred: Any shape, scores.
            label: As many elements as ``pred``, or class indices without the axis of classes.
            sample_weight: Weight of each sample; None for 1.
        """
        kept: Any = self._batch_axis
        if self._num_classes is None:
            label = F.reshape_like(label, pred)
        else:
            kept = (self._batch_axis, self._axis)
            is_class = F.reshape_like(self._one_hot(F, label), pred)
            label = F.where(is_class, F.ones_like(pred), F.zeros_like(pred))  # of pred's dtype
        if not self._from_probabilities:
            of_classes = self._num_classes is not None
            pred = F.softmax(pred, axis=self._axis) if of_classes else F.sigmoid(pred)
        over: dict[str, Any] = {"axis": kept, "exclude": True, "keepdims": True}
        overlap = 2 * F.sum(pred * label, **over) + self._smooth
        sizes = F.sum(pred * pred, **over) + F.sum(label * label, **over) + self._smooth
        return self._mean(F, self._weighted(F, 1 - overlap / sizes, sample_weight))

    def _one_hot(self, F: ModuleType, label: Tensor) -> Any:
        """Return labels with an axis of classes, and a last axis of one element."""
        axis = self._axis
        hot = F.one_hot(F.expand_dims(label, axis=axis), depth=self._num_classes)
        return F.swapaxes(hot, dim1=axis if axis >= 0 else axis - 1, dim2=-1)
