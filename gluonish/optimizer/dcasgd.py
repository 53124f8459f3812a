"""DCASGD: gradient descent with compensation for delayed gradients."""

from typing import Any

from gluonish.core.number_check import check_numbers
from gluonish.ndarray import NDArray
from gluonish.ops.updates.delayed import DCASGD as RULE
from gluonish.ops.updates.delayed import DCASGD_MOMENTUM
from gluonish.ops.updates.rules import Rule
from gluonish.optimizer.base import Index, State, register, zeros_like
from gluonish.optimizer.rule_optimizer import RuleOptimizer

__all__ = ["DCASGD"]


@register
class DCASGD(RuleOptimizer):
    """DCASGD: asynchronous gradient descent with delay compensation.

    With ``c = clip(rescale_grad * grad)`` and ``p`` the weight before the last update:
    ``g = c + wd * weight + lamda * c * c * (weight - p)``, ``p = weight``, and ``weight -= lr * g``
    or ``m = momentum * m - lr * g; weight += m``.

    The state is ``(None, p)``, or ``(m, p)`` with momentum, which in MXNet 1.9 raises an error.

    Args:
        momentum: Fraction of the previous step that is added to the new one; 0 for none.
        lamda: Strength of the delay compensation.
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.

    Attributes:
        weight_previous: Empty; for states files of MXNet.

    References:
        S. Zheng et al., "Asynchronous Stochastic Gradient Descent with Delay Compensation", 2017.
    """

    def __init__(self, momentum: float = 0.0, lamda: float = 0.04, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        check_numbers(type(self).__name__, momentum=momentum, lamda=lamda)
        self.momentum = momentum
        self.weight_previous: dict[Index, NDArray] = {}
        self.lamda = lamda

    def create_state(self, index: Index, weight: NDArray) -> State:
        """Return ``(momentum, copy of the weight)``: zeros, or None without momentum.

        Args:
            index: Index or name of the weight.
            weight: The weight.
        """
        return zeros_like(weight) if self.momentum != 0.0 else None, weight.copy()

    def _rule(self) -> Rule:
        return DCASGD_MOMENTUM if self.momentum != 0.0 else RULE

    def _scalars(self) -> dict[str, float]:
        return {"momentum": self.momentum, "lamda": self.lamda}
