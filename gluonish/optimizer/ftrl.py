"""Ftrl: Follow the Regularized Leader, which gives sparse weights."""

from typing import Any

from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.core.number_check import check_numbers, check_optional
from gluonish.ndarray import NDArray
from gluonish.ops.updates.adaptive import FTRL
from gluonish.ops.updates.rules import Rule
from gluonish.optimizer.arguments import ordered2, override_base_lr
from gluonish.optimizer.base import Index, State, register, zeros_like
from gluonish.optimizer.rule_optimizer import RuleOptimizer

__all__ = ["Ftrl"]


@register
class Ftrl(RuleOptimizer):
    """FTRL-Proximal: follow the regularized leader, with an L1 penalty.

    With ``g = clip(rescale_grad * grad)``:
    ``z += g - (sqrt(n + g * g) - sqrt(n)) * weight / lr``, ``n += g * g`` and
    ``weight = (sign(z) * lamda1 - z) / ((beta + sqrt(n)) / lr + wd)`` where ``abs(z) > lamda1``,
    else 0.

    The state is ``(z, n)``. A row-sparse gradient of a row-sparse weight updates only its rows.

    Args:
        lamda1: Coefficient of the L1 penalty, which makes weights exactly 0.
        learning_rate: Learning rate, unless there is a scheduler.
        beta: Added to the root of summed squares; a larger value slows the first steps.
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.

    References:
        H. B. McMahan et al., "Ad Click Prediction: a View from the Trenches", 2013.
    """

    @ordered2("learning_rate", "lamda1", "beta", "use_fused_step")
    def __init__(
        self, lamda1: float = 0.01, learning_rate: float = 0.1, beta: float = 1, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        check_numbers(type(self).__name__, lamda1=lamda1, beta=beta)
        check_optional(type(self).__name__, learning_rate=learning_rate)
        self.lamda1 = lamda1
        self.beta = beta
        # Not passed to the base class, which would set the scheduler's base_lr, unlike MXNet 1.9.
        if learning_rate is not None:
            self.lr = learning_rate
            if self.lr_scheduler is not None and follows_mxnet2():
                override_base_lr(self.lr_scheduler, learning_rate)

    def create_state(self, index: Index, weight: NDArray) -> State:
        """Return zeros for z and n.

        Args:
            index: Index or name of the weight.
            weight: The weight.
        """
        return zeros_like(weight), zeros_like(weight)

    def _is_lazy(self) -> bool:
        return True

    def _supports_lazy(self, weight: NDArray, mixed: bool) -> bool:
        return weight.stype != "default"

    def _rule(self) -> Rule:
        return FTRL

    def _scalars(self) -> dict[str, float]:
        return {"lamda1": self.lamda1, "beta": self.beta}
