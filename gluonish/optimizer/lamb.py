"""LAMB: Adam's direction with steps in proportion to the weight's norm."""

from collections.abc import Sequence
from typing import Any

from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.core.number_check import check_optional
from gluonish.ops.updates.rules import LAMB as RULE
from gluonish.ops.updates.rules import Rule
from gluonish.optimizer.adam import MomentsOptimizer, bias_divisor
from gluonish.optimizer.base import Index, register
from gluonish.optimizer.weight_update import Column

__all__ = ["LAMB"]

# MXNet's limit, as states files contain the attribute.
_MOST_AGGREGATED = 45


@register
class LAMB(MomentsOptimizer):
    """LAMB: layer-wise adaptive moments, for large batches.

    With ``g = clip(rescale_grad * grad)`` and t the number of the update,
    ``m = beta1 * m + (1 - beta1) * g``, ``v = beta2 * v + (1 - beta2) * g * g``,
    ``u = m' / (sqrt(v') + epsilon) + wd * weight`` with ``m' = m / (1 - beta1 ** t)`` and
    ``v' = v / (1 - beta2 ** t)``, or m and v themselves without ``bias_correction``, and
    ``weight -= lr * norm(weight) / norm(u) * u``. If one of the norms is 0, their ratio is 1.

    The state is ``(m, v)``.

    Args:
        learning_rate: Learning rate; with a scheduler, it replaces the scheduler's ``base_lr``.
        beta1: Decay rate of the running mean of gradients.
        beta2: Decay rate of the running mean of squared gradients.
        epsilon: Small constant added to the denominator to avoid division by zero.
        lower_bound: Lower bound on the weight norm in the trust ratio; None for no bound.
        upper_bound: Upper bound on the weight norm in the trust ratio; None for no bound.
        bias_correction: Whether to apply bias correction, since the running means start at 0.
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.

    References:
        Y. You et al., "Large Batch Optimization for Deep Learning: Training BERT in 76 minutes",
        2020.
    """

    calls_update = False
    _default_aggregate2 = 4

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        lower_bound: float | None = None,
        upper_bound: float | None = None,
        bias_correction: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(beta1, beta2, epsilon, learning_rate=learning_rate, **kwargs)
        check_optional(type(self).__name__, lower_bound=lower_bound, upper_bound=upper_bound)
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        self.bias_correction = bias_correction
        if not follows_mxnet2():
            self.aggregate_num = min(_MOST_AGGREGATED, self.group_limit or _MOST_AGGREGATED)

    def _rule(self) -> Rule:
        return RULE

    def _scalars(self) -> dict[str, float]:
        return {
            **super()._scalars(),
            "lower_bound": -1.0 if self.lower_bound is None else self.lower_bound,
            "upper_bound": -1.0 if self.upper_bound is None else self.upper_bound,
        }

    def _columns(
        self, indices: Sequence[Index], lrs: Column, wds: Column, counts: Column
    ) -> tuple[Column, ...]:
        if not self.bias_correction:
            return lrs, wds, 1.0, 1.0
        return lrs, wds, bias_divisor(self.beta1, counts), bias_divisor(self.beta2, counts)
