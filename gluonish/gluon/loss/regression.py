"""Regression losses: distances, Huber loss, and likelihoods of distributions."""

import math
from types import ModuleType
from typing import Any

from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.gluon.loss.base import Loss, finite_log
from gluonish.gluon.nn.tensor import Tensor, check_factors


class L2Loss(Loss):
    """Half the squared difference: ``weight / 2 * (label - pred)^2``.

    Args:
        weight: Constant factor of the loss.
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
        weight = None if self._weight is None else self._weight / 2
        return self._mean(F, self._weighted(F, loss, sample_weight, weight))


class L1Loss(Loss):
    """The absolute difference: ``weight * |label - pred|``.

    Args:
        weight: Constant factor of the loss; None for 1.
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
        rho: Difference at which the loss changes from squared to absolute.
        weight: Constant factor of the loss; None for 1.
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


class KLDivLoss(Loss):
    """Kullback-Leibler divergence: the sum of ``label * (log label - pred)``.

    Args:
        from_logits: Whether ``pred`` already holds log-probabilities; if False, log-softmax is
            applied.
        axis: Axis of the classes, along which log-softmax is computed.
        weight: Constant factor of the loss; None for 1.
        batch_axis: Axis of the samples. The loss is summed over all other axes.
        **kwargs: ``prefix`` and ``params``, as for every Block.

    Inputs:
        pred: any shape: log-probabilities, or scores with ``from_logits=False``.
        label: the shape of ``pred``, probabilities.
        sample_weight: optional weight of each sample, (batch,), or of as many axes as ``pred``,
            broadcastable to it.

    Outputs:
        loss: (batch,), the sum over the other axes.
    """

    def __init__(
        self,
        from_logits: bool = True,
        axis: int = -1,
        weight: float | None = None,
        batch_axis: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits = from_logits
        self._axis = axis

    def hybrid_forward(
        self, F: ModuleType, pred: Tensor, label: Tensor, sample_weight: Tensor | None = None
    ) -> Any:
        """Return the Kullback-Leibler divergence of each sample.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            pred: Any shape.
            label: The shape of ``pred``, probabilities.
            sample_weight: Weight of each sample; None for 1.
        """
        if not self._from_logits:
            pred = F.log_softmax(pred, self._axis)
        loss = label * (finite_log(F, label, 1e-12) - pred)
        weighted = self._weighted(F, loss, sample_weight)
        reduce = F.mean if follows_mxnet2() else F.sum
        return reduce(weighted, axis=self._batch_axis, exclude=True)


class PoissonNLLLoss(Loss):
    """Negative log-likelihood of counts under a Poisson distribution, without its constant term.

    The formula is ``exp(pred) - target * pred`` with ``from_logits``, and ``pred - target *
    log(pred + epsilon)`` without. Unlike other losses it is averaged over the batch, too.

    Args:
        weight: Constant factor of the loss; None for 1.
        from_logits: Whether ``pred`` is the logarithm of the expected count.
        batch_axis: Axis of the samples, for a one-dimensional ``sample_weight``.
        compute_full: Whether to add Stirling's approximation of the constant term, for targets
            above 1.
        **kwargs: ``prefix`` and ``params``, as for every Block.

    Inputs:
        pred: any shape: expected counts, or their logarithms.
        target: as many elements as ``pred``, the observed counts.
        sample_weight: optional weight of each sample, (batch,), or of as many axes as ``pred``,
            broadcastable to it.
        epsilon: small number added inside the logarithm to keep it finite.

    Outputs:
        loss: (1,), the mean over all elements.
    """

    def __init__(
        self,
        weight: float | None = None,
        from_logits: bool = True,
        batch_axis: int = 0,
        compute_full: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits = from_logits
        self._compute_full = compute_full

    def hybrid_forward(
        self,
        F: ModuleType,
        pred: Tensor,
        target: Tensor,
        sample_weight: Tensor | None = None,
        epsilon: float = 1e-08,
    ) -> Any:
        """Return the mean Poisson negative log-likelihood.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            pred: Any shape.
            target: As many elements as ``pred``, counts.
            sample_weight: Weight of each sample; None for 1.
            epsilon: Added inside the logarithm to keep it finite.
        """
        target = F.reshape_like(target, pred)
        if self._from_logits:
            loss = F.exp(pred) - target * pred
        else:
            loss = pred - target * finite_log(F, pred, epsilon)
        if self._compute_full:
            n = F.where(target > 1, target, F.ones_like(target))
            stirling = n * F.log(n) - n + 0.5 * F.log(2 * math.pi * n)
            loss = loss + (target > 1) * stirling
        weighted = self._weighted(F, loss, sample_weight)
        return self._mean(F, weighted) if follows_mxnet2() else F.mean(weighted)
