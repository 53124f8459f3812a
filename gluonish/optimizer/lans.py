"""LANS: LAMB with Nesterov momentum and normalized gradients."""

from collections.abc import Sequence
from typing import Any

from gluonish.core.number_check import check_optional
from gluonish.ops.updates.layerwise import LANS as RULE
from gluonish.ops.updates.rules import Rule
from gluonish.optimizer.adam import MomentsOptimizer, bias_divisor
from gluonish.optimizer.arguments import check_aggregate_num
from gluonish.optimizer.base import Index, register
from gluonish.optimizer.weight_update import Column

__all__ = ["LANS"]


@register
class LANS(MomentsOptimizer):
    """LANS: layer-wise adaptive steps for large batches, with Nesterov momentum, as in MXNet 2.0.

    With ``g = clip(grad / norm(grad))``, and t the number of the update,
    ``m = beta1 * m + (1 - beta1) * g``, ``v = beta2 * v + (1 - beta2) * g * g``,
    ``r = sqrt(v / (1 - beta2 ** t)) + epsilon``,
    ``a = m / (1 - beta1 ** t) / r + wd * weight``, ``b = g / r + wd * weight`` and
    ``weight -= lr * norm(weight) * (beta1 * a / norm(a) + (1 - beta1) * b / norm(b))``. If one of
    two norms is 0, their ratio is 1.

    The state is ``(m, v)``.

    Args:
        learning_rate: Learning rate; with a scheduler, it replaces the scheduler's ``base_lr``.
        beta1: Decay rate of the running mean of gradients.
        beta2: Decay rate of the running mean of squared gradients.
        epsilon: Small constant added to the denominator to avoid division by zero.
        lower_bound: Lower bound on the weight norm in the trust ratio; None for no bound.
        upper_bound: Upper bound on the weight norm in the trust ratio; None for no bound.
        aggregate_num: Stored in the attribute for programs of MXNet 2.0; the number of weights in
            one operation is limited by ``MXNET_OPTIMIZER_AGGREGATION_SIZE`` only.
        use_fused_step: See `Optimizer`.
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.

    References:
        S. Zheng, H. Lin, S. Zha, M. Li, "Accelerated Large Batch Optimization of BERT Pretraining
        in 54 minutes", 2020.
    """

    calls_update = False

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        lower_bound: float | None = None,
        upper_bound: float | None = None,
        aggregate_num: int = 4,
        use_fused_step: bool = True,
        **kwargs: Any,
    ) -> None:
        kwargs |= {"learning_rate": learning_rate, "use_fused_step": use_fused_step}
        super().__init__(beta1, beta2, epsilon, **kwargs)
        check_optional(type(self).__name__, lower_bound=lower_bound, upper_bound=upper_bound)
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        check_aggregate_num("LANS", aggregate_num)
        self.aggregate_num = aggregate_num

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
        return lrs, wds, bias_divisor(self.beta1, counts), bias_divisor(self.beta2, counts)
