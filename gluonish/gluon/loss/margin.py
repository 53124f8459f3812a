"""Margin losses: hinges, and distances between embeddings."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError, NotSupportedError
from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.gluon.loss.base import Loss
from gluonish.gluon.loss.regression import KLDivLoss
from gluonish.gluon.nn.tensor import Tensor, check_factors
from gluonish.ndarray import NDArray
from gluonish.numpy.array import as_np_ndarray, ndarray


class HingeLoss(Loss):
    """Hinge loss: ``max(0, margin - pred * label)``.

    Args:
        margin: Value of ``pred * label`` from which on the loss is 0.
        weight: Constant factor of the loss; None for 1.
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
        weight: Constant factor of the loss; None for 1.
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
        weight: Constant factor of the loss; None for 1.
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
        ArgumentError: ``label_format`` is neither ``"signed"`` nor ``"binary"``.
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
        loss = F.relu(pred) - pred * label + F.Activation(-F.abs(pred), act_type="softrelu")
        return self._mean(F, self._weighted(F, loss, sample_weight))


class TripletLoss(Loss):
    """Triplet loss: ``max(0, |pred - positive|^2 - |pred - negative|^2 + margin)``.

    Args:
        margin: Least difference between the squared distances of the negative and the positive
            sample from the anchor at which the loss is 0.
        weight: Constant factor of the loss; None for 1.
        batch_axis: Axis of the samples. Squared distances are summed over all other axes.
        **kwargs: ``prefix`` and ``params``, as for every Block.

    Inputs:
        pred: any shape, the anchors.
        positive: as many elements as ``pred``, samples of the anchors' classes.
        negative: as many elements as ``pred``, samples of other classes.

    Outputs:
        loss: (batch,).
    """

    def __init__(
        self, margin: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        check_factors(type(self).__name__, margin=margin)
        self._margin = margin

    def hybrid_forward(
        self, F: ModuleType, pred: Tensor, positive: Tensor, negative: Tensor
    ) -> Any:
        """Return the triplet loss of each sample.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            pred: Any shape, the anchors.
            positive: As many elements as ``pred``, of the same class.
            negative: As many elements as ``pred``, of other classes.
        """
        near = F.square(F.reshape_like(positive, pred) - pred)
        far = F.square(F.reshape_like(negative, pred) - pred)
        distance = F.sum(near - far, axis=self._batch_axis, exclude=True)
        return self._weighted(F, F.relu(distance + self._margin), None)


class CosineEmbeddingLoss(Loss):
    """Cosine distance: ``1 - cos`` for label 1, ``max(0, cos - margin)`` for label -1.

    Args:
        weight: Constant factor of the loss; None for 1.
        batch_axis: Accepted for compatibility; has no effect.
        margin: Cosine similarity, in [-1, 1], up to which a pair with label -1 has no loss.
        **kwargs: ``prefix`` and ``params``, as for every Block.

    Inputs:
        input1: (N, D), the first vector of each pair.
        input2: (N, D), the second vector of each pair.
        label: N elements: 1 for pairs that should be similar, -1 for others.
        sample_weight: optional weight of each pair, (N,) or (N, 1).

    Outputs:
        loss: (N, 1).
    """

    def __init__(
        self, weight: float | None = None, batch_axis: int = 0, margin: float = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        check_factors(type(self).__name__, margin=margin)
        self._margin = margin

    def hybrid_forward(
        self,
        F: ModuleType,
        input1: Tensor,
        input2: Tensor,
        label: Tensor,
        sample_weight: Tensor | None = None,
    ) -> Any:
        """Return the cosine embedding loss of each pair.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            input1: (N, D).
            input2: (N, D).
            label: N elements.
            sample_weight: Weight of each sample; None for 1.
        """
        input1 = F.reshape_like(input1, input2)
        label = F.reshape(label, shape=(-1, 1))
        product = F.reshape(F.sum(input1 * input2, axis=-1), shape=(-1, 1))
        norms = [F.reshape(F.norm(x, axis=-1), shape=(-1, 1)) for x in (input1, input2)]
        length = norms[0] * norms[1]
        cosine = product / (F.maximum(length, 1e-12) + (length == 0))  # 1e-12 is 0 in float16
        loss = (label == 1) * (1 - cosine) + F.relu((label == -1) * (cosine - self._margin))
        loss = self._weighted(F, loss, sample_weight, batch_axis=0)
        return F.reshape(loss, shape=(-1,)) if follows_mxnet2() else loss


class SDMLLoss(Loss):
    """Smoothed deep metric learning: each vector should be closest to its partner in the batch.

    The other vectors of the batch serve as negative samples. This loss cannot be hybridized.

    Args:
        smoothing_parameter: Probability mass, in [0, 1), that label smoothing spreads over the
            wrong partners.
        weight: Accepted for compatibility; has no effect, as in MXNet.
        batch_axis: Accepted for compatibility; has no effect.
        **kwargs: ``prefix`` and ``params``, as for every Block.

    Inputs:
        x1: (N, D).
        x2: (N, D); row i is the partner of row i of ``x1``.

    Outputs:
        loss: (N,).

    Raises:
        NotSupportedError: The inputs are Symbols, as in a hybridized block.
        ArgumentError: ``x1`` and ``x2`` are not of equal shape (N, D).

    References:
        D. Bonadiman, A. Kumar, A. Mittal, Large scale question paraphrase retrieval with smoothed
        deep metric learning, 2019.
    """

    def __init__(
        self,
        smoothing_parameter: float = 0.3,
        weight: float | None = 1.0,
        batch_axis: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self.kl_loss = KLDivLoss(from_logits=True)
        check_factors(type(self).__name__, smoothing_parameter=smoothing_parameter)
        self.smoothing_parameter = smoothing_parameter

    def hybrid_forward(self, F: ModuleType, x1: Tensor, x2: Tensor) -> Any:
        """Return the smoothed deep metric learning loss of each pair.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x1: (N, D).
            x2: (N, D), partners of ``x1`` row by row.
        """
        if not isinstance(x1, NDArray) or not isinstance(x2, NDArray):
            raise NotSupportedError(
                "SDMLLoss: expected NDArrays, because it needs the batch size, got a Symbol; "
                "do not hybridize it"
            )
        if x1.ndim != 2 or x1.shape != x2.shape:
            raise ArgumentError(
                f"SDMLLoss: expected x1 and x2 of equal shape (N, D), got {x1.shape} and {x2.shape}"
            )
        count = x1.shape[0]
        difference = F.broadcast_sub(F.expand_dims(x1, axis=1), F.expand_dims(x2, axis=0))
        log_probability = F.log_softmax(-F.sum(F.square(difference), axis=2), axis=1)
        partners = F.eye(count, ctx=x1.context, dtype=x1.dtype)
        noise = self.smoothing_parameter / max(1, count - 1)
        labels = partners * (1 - self.smoothing_parameter - noise) + noise
        if isinstance(x1, ndarray):
            labels = as_np_ndarray(labels)
        return self.kl_loss(log_probability, labels)
