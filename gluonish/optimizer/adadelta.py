"""AdaDelta: steps scaled by the running mean of recent steps."""

from typing import Any

from gluonish.core.number_check import check_numbers
from gluonish.ndarray import NDArray
from gluonish.ops.updates.adaptive import ADADELTA
from gluonish.ops.updates.rules import Rule
from gluonish.optimizer.base import Index, State, register, zeros_like
from gluonish.optimizer.rule_optimizer import RuleOptimizer

__all__ = ["AdaDelta"]


@register
class AdaDelta(RuleOptimizer):
    """AdaDelta: scale gradients by the ratio of running means of squared steps and gradients.

    With ``g = clip(rescale_grad * grad)``: ``s = rho * s + (1 - rho) * g * g``,
    ``step = sqrt(d + epsilon) / sqrt(s + epsilon) * g``, ``d = rho * d + (1 - rho) * step * step``
    and ``weight -= step + wd * weight``.

    The state is ``(s, d)``. The learning rate has no effect, as in MXNet 1.9.

    Args:
        rho: Decay rate of the running means.
        epsilon: Added inside both roots; avoids division by 0, and sets the size of the first
            steps.
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.

    References:
        M. D. Zeiler, "ADADELTA: An Adaptive Learning Rate Method", 2012.
    """

    def __init__(self, rho: float = 0.90, epsilon: float = 1e-5, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        check_numbers(type(self).__name__, rho=rho, epsilon=epsilon)
        self.rho = rho
        self.epsilon = epsilon

    def create_state(self, index: Index, weight: NDArray) -> State:
        """Return zeros for the running means of squared gradients and of squared steps.

        Args:
            index: Index or name of the weight.
            weight: The weight.
        """
        return tuple(zeros_like(weight, dense=True) for _ in range(2))

    def _rule(self) -> Rule:
        return ADADELTA

    def _scalars(self) -> dict[str, float]:
        return {"rho": self.rho, "epsilon": self.epsilon}
