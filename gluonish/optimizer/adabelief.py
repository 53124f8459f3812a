"""AdaBelief: steps scaled by how much gradients deviate from their running mean."""

from collections.abc import Sequence
from typing import Any

from gluonish.ops.updates.adaptive import ADABELIEF
from gluonish.ops.updates.rules import Rule
from gluonish.optimizer.adam import MomentsOptimizer
from gluonish.optimizer.base import Index, register
from gluonish.optimizer.weight_update import Column

__all__ = ["AdaBelief"]


@register
class AdaBelief(MomentsOptimizer):
    """AdaBelief: Adam with the variance around the running mean, as in MXNet 2.0.

    With ``g = clip(rescale_grad * grad + wd * weight)`` and t the number of the update,
    ``m = beta1 * m + (1 - beta1) * g``,
    ``s = beta2 * s + (1 - beta2) * (g - m) ** 2 + epsilon``,
    ``r = lr * sqrt(1 - beta2 ** t) / (1 - beta1 ** t)``, or ``r = lr`` without ``correct_bias``,
    and ``weight -= r * m / (sqrt(s) + epsilon)``.

    The state is ``(m, s)``.

    Args:
        learning_rate: Learning rate; with a scheduler, it replaces the scheduler's ``base_lr``.
        beta1: Decay rate of the running mean of gradients.
        beta2: Decay rate of the running mean of squared deviations.
        epsilon: Small constant added to the squared deviations and to the denominator.
        correct_bias: Whether to apply bias correction, since the running means start at 0.
        use_fused_step: See `Optimizer`.
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.

    References:
        J. Zhuang et al., "AdaBelief Optimizer: Adapting Stepsizes by the Belief in Observed
        Gradients", 2020.
    """

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        correct_bias: bool = True,
        use_fused_step: bool = True,
        **kwargs: Any,
    ) -> None:
        kwargs |= {"learning_rate": learning_rate, "use_fused_step": use_fused_step}
        super().__init__(beta1, beta2, epsilon, **kwargs)
        self.correct_bias = correct_bias

    _default_aggregate2 = 4

    def _rule(self) -> Rule:
        return ADABELIEF

    def _columns(
        self, indices: Sequence[Index], lrs: Column, wds: Column, counts: Column
    ) -> tuple[Column, ...]:
        return self._corrected(lrs, counts) if self.correct_bias else lrs, wds
