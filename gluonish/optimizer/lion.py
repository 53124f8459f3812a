"""Lion: steps by the sign of a blend of momentum and gradient."""

from collections.abc import Sequence
from typing import Any

from gluonish.core.number_check import check_numbers
from gluonish.ndarray import NDArray
from gluonish.ops.updates.rules import Rule
from gluonish.ops.updates.sign import LION
from gluonish.optimizer.base import Index, State, register, zeros_like
from gluonish.optimizer.rule_optimizer import RuleOptimizer
from gluonish.optimizer.weight_update import Column, each

__all__ = ["Lion"]


@register
class Lion(RuleOptimizer):
    """Lion: evolved sign momentum; steps of equal size, with one state for each weight.

    With ``g = clip(rescale_grad * grad)``:
    ``weight = (1 - lr * wd) * weight - lr * sign(beta1 * m + (1 - beta1) * g)``, then
    ``m = beta2 * m + (1 - beta2) * g``.

    The state is m. Learning rates are 3 to 10 times smaller than those of AdamW, and ``wd``
    larger by the same factor, as the authors recommend.

    Args:
        learning_rate: Learning rate; with a scheduler, it replaces the scheduler's ``base_lr``.
        beta1: Share of the running mean in the step.
        beta2: Decay rate of the running mean of gradients.
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.

    References:
        X. Chen et al., "Symbolic Discovery of Optimization Algorithms", 2023.
    """

    def __init__(
        self,
        learning_rate: float = 1e-4,
        beta1: float = 0.9,
        beta2: float = 0.99,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        check_numbers(type(self).__name__, beta1=beta1, beta2=beta2)
        self.beta1 = beta1
        self.beta2 = beta2

    def create_state(self, index: Index, weight: NDArray) -> State:
        """Return zeros for the running mean of gradients.

        Args:
            index: Index or name of the weight.
            weight: The weight.
        """
        return zeros_like(weight)

    def _rule(self) -> Rule:
        return LION

    def _scalars(self) -> dict[str, float]:
        return {"beta1": self.beta1, "beta2": self.beta2}

    def _columns(
        self, indices: Sequence[Index], lrs: Column, wds: Column, counts: Column
    ) -> tuple[Column, ...]:
        return lrs, each(lambda lr, wd: 1.0 - lr * wd, lrs, wds)
