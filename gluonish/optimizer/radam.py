"""RAdam: Adam whose first steps are rectified."""

from collections.abc import Sequence
from math import sqrt
from typing import Any

from gluonish.ops.updates.adaptive import RADAM
from gluonish.ops.updates.rules import Rule
from gluonish.optimizer.adam import MomentsOptimizer
from gluonish.optimizer.base import Index, register
from gluonish.optimizer.weight_update import Column, each

__all__ = ["RAdam"]


@register
class RAdam(MomentsOptimizer):
    """RAdam: rectified Adam, which needs no warm-up of the learning rate; as in PyTorch.

    With ``g = clip(rescale_grad * grad) + wd * weight``, t the number of the update and
    ``rho = 2 / (1 - beta2) - 1``: ``m = beta1 * m + (1 - beta1) * g``,
    ``v = beta2 * v + (1 - beta2) * g * g``, and
    ``p = rho - 2 * t * beta2 ** t / (1 - beta2 ** t)``.
    If ``p > 5``, ``r = sqrt((p - 4) * (p - 2) * rho / ((rho - 4) * (rho - 2) * p))`` and
    ``weight -= lr * r * m / (1 - beta1 ** t) * sqrt(1 - beta2 ** t) / (sqrt(v) + epsilon)``;
    otherwise ``weight -= lr * m / (1 - beta1 ** t)``.

    The state is ``(m, v)``.

    Args:
        learning_rate: Learning rate; with a scheduler, it replaces the scheduler's ``base_lr``.
        beta1: Decay rate of the running mean of gradients.
        beta2: Decay rate of the running mean of squared gradients.
        epsilon: Small constant added to the denominator to avoid division by zero.
        decoupled_weight_decay: Whether to multiply the weight by ``1 - lr * wd``, instead of adding
            ``wd * weight`` to the gradient.
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.

    References:
        L. Liu et al., "On the Variance of the Adaptive Learning Rate and Beyond", 2020.
    """

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        decoupled_weight_decay: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(beta1, beta2, epsilon, learning_rate=learning_rate, **kwargs)
        self.decoupled_weight_decay = decoupled_weight_decay

    def _rule(self) -> Rule:
        return RADAM

    def _columns(
        self, indices: Sequence[Index], lrs: Column, wds: Column, counts: Column
    ) -> tuple[Column, ...]:
        def rate(lr: float, t: float) -> float:
            divisor: float = 1.0 - self.beta1**t
            return lr * (self._rectification(t) or 1.0) / divisor

        def adaptive(t: float) -> float:
            return float(self._rectification(t) > 0)

        rates = each(rate, lrs, counts), each(adaptive, counts)
        if self.decoupled_weight_decay:
            kept = each(lambda lr, wd: 1.0 - lr * wd, lrs, wds)
            return rates[0], 0.0, rates[1], kept
        return rates[0], wds, rates[1], 1.0

    def _rectification(self, t: float) -> float:
        """Return the factor of an adaptive step; 0 for a step without the second moment."""
        longest = 2.0 / (1.0 - self.beta2) - 1.0
        power: float = self.beta2**t
        length = longest - 2.0 * t * power / (1.0 - power)
        if length <= 5.0:
            return 0.0
        ratio = (length - 4.0) * (length - 2.0) * longest
        ratio /= (longest - 4.0) * (longest - 2.0) * length
        return sqrt(ratio) * sqrt(1.0 - power)
