"""FTML: Follow the Moving Leader."""

from collections.abc import Sequence
from typing import Any

from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.core.number_check import check_numbers
from gluonish.ndarray import NDArray
from gluonish.ops.updates.adaptive import FTML_STEPS
from gluonish.ops.updates.rules import Rule
from gluonish.ops.updates.rules2 import FTML2
from gluonish.optimizer.adam import bias_divisor
from gluonish.optimizer.arguments import ordered2
from gluonish.optimizer.base import Index, State, register, zeros_like
from gluonish.optimizer.rule_optimizer import RuleOptimizer
from gluonish.optimizer.weight_update import Column, each

__all__ = ["FTML"]


@register
class FTML(RuleOptimizer):
    """FTML: follow the moving leader, related to FTRL and Adam.

    With ``g = clip(rescale_grad * grad + wd * weight)`` and t the number of the update,
    ``v = beta2 * v + (1 - beta2) * g * g``,
    ``d' = (1 - beta1 ** t) / lr * (sqrt(v / (1 - beta2 ** t)) + epsilon)``,
    ``z = beta1 * z + (1 - beta1) * g - (d' - beta1 * d) * weight``, ``d = d'`` and
    ``weight = -z / d``. By the rules of MXNet 2.0 weight decay is added after clipping.

    The state is ``(d, v, z)``.

    Args:
        beta1: Decay rate of z.
        beta2: Decay rate of the running mean of squared gradients.
        epsilon: Small constant added to the denominator to avoid division by zero.
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.

    References:
        S. Zheng, J. Kwok, "Follow the Moving Leader in Deep Learning", 2017.
    """

    _default_rate2 = 0.0025

    @ordered2("learning_rate", "beta1", "beta2", "epsilon", "use_fused_step")
    def __init__(
        self, beta1: float = 0.6, beta2: float = 0.999, epsilon: float = 1e-8, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        check_numbers(type(self).__name__, beta1=beta1, beta2=beta2, epsilon=epsilon)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon

    def create_state(self, index: Index, weight: NDArray) -> State:
        """Return zeros for d, v and z.

        Args:
            index: Index or name of the weight.
            weight: The weight.
        """
        return tuple(zeros_like(weight, dense=True) for _ in range(3))

    def _rule(self) -> Rule:
        return FTML2 if follows_mxnet2() else FTML_STEPS

    def _scalars(self) -> dict[str, float]:
        return {"beta1": self.beta1, "beta2": self.beta2, "epsilon": self.epsilon}

    def _columns(
        self, indices: Sequence[Index], lrs: Column, wds: Column, counts: Column
    ) -> tuple[Column, ...]:
        def rate(lr: float, t: float) -> float:
            divisor: float = 1.0 - self.beta1**t
            return divisor / lr if lr else float("inf")

        return each(rate, lrs, counts), wds, bias_divisor(self.beta2, counts)
