"""Adamax: Adam with the maximum absolute gradient instead of the mean square."""

from collections.abc import Sequence
from typing import Any

from gluonish.core.number_check import check_numbers
from gluonish.ndarray import NDArray
from gluonish.ops.updates.adaptive import ADAMAX
from gluonish.ops.updates.rules import Rule
from gluonish.optimizer.base import Index, State, register, zeros_like
from gluonish.optimizer.rule_optimizer import RuleOptimizer
from gluonish.optimizer.weight_update import Column, each

__all__ = ["Adamax"]


@register
class Adamax(RuleOptimizer):
    """Adamax: Adam with the infinity norm, a decaying maximum of absolute gradients.

    With ``g = clip(rescale_grad * grad + wd * weight)`` and t the number of the update,
    ``m = beta1 * m + (1 - beta1) * g``, ``u = max(beta2 * u, abs(g))`` and
    ``weight -= lr / (1 - beta1 ** t) * m / u``. Elements whose gradients were all 0 so far are
    unchanged, where MXNet 1.9 divides 0 by 0.

    The state is ``(m, u)``.

    Args:
        learning_rate: Learning rate; with a scheduler, it replaces the scheduler's ``base_lr``.
        beta1: Decay rate of the running mean of gradients.
        beta2: Decay rate of the maximum.
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.

    References:
        D. P. Kingma, J. Ba, "Adam: A Method for Stochastic Optimization", 2015, section 7.
    """

    def __init__(
        self,
        learning_rate: float = 0.002,
        beta1: float = 0.9,
        beta2: float = 0.999,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        check_numbers(type(self).__name__, beta1=beta1, beta2=beta2)
        self.beta1 = beta1
        self.beta2 = beta2

    def create_state(self, index: Index, weight: NDArray) -> State:
        """Return zeros for the running mean of the gradient and its decaying maximum.

        Args:
            index: Index or name of the weight.
            weight: The weight.
        """
        return tuple(zeros_like(weight, dense=True) for _ in range(2))

    def _rule(self) -> Rule:
        return ADAMAX

    def _scalars(self) -> dict[str, float]:
        return {"beta1": self.beta1, "beta2": self.beta2}

    def _columns(
        self, indices: Sequence[Index], lrs: Column, wds: Column, counts: Column
    ) -> tuple[Column, ...]:
        return each(lambda lr, t: lr / (1.0 - self.beta1**t), lrs, counts), wds
