"""AdaGrad: steps divided by the square root of the sum of squared gradients."""

from typing import Any

from gluonish.core.number_check import check_numbers
from gluonish.ndarray import NDArray
from gluonish.ops.updates.rules import ADAGRAD, Rule
from gluonish.optimizer.base import Index, State, register, zeros_like
from gluonish.optimizer.rule_optimizer import RuleOptimizer

__all__ = ["AdaGrad"]


@register
class AdaGrad(RuleOptimizer):
    """AdaGrad: divide gradients by the square root of the sum of their squares so far.

    With ``g = clip(rescale_grad * grad)``: ``h += g * g`` and
    ``weight -= lr * (g / sqrt(h + eps) + wd * weight)``.

    The state is ``h``. Without weight decay a row-sparse gradient updates only its rows.

    Args:
        eps: Small constant added to the denominator to avoid division by zero.
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.

    References:
        J. Duchi, E. Hazan, Y. Singer, "Adaptive Subgradient Methods for Online Learning and
        Stochastic Optimization", 2011.
    """

    def __init__(self, eps: float = 1e-7, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        check_numbers(type(self).__name__, eps=eps)
        self.float_stable_eps = eps

    def create_state(self, index: Index, weight: NDArray) -> State:
        """Return zeros, to accumulate squared gradients.

        Args:
            index: Index or name of the weight.
            weight: The weight.
        """
        return zeros_like(weight)

    def _is_lazy(self) -> bool:
        return self.wd == 0

    def _rule(self) -> Rule:
        return ADAGRAD

    def _scalars(self) -> dict[str, float]:
        return {"epsilon": self.float_stable_eps}
