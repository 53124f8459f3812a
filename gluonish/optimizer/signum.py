"""Signum: steps of constant size, by the signs of momenta or gradients."""

from collections.abc import Sequence
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.core.number_check import check_numbers
from gluonish.ndarray import NDArray
from gluonish.ops.updates.rules import Rule
from gluonish.ops.updates.sign import SIGNSGD, SIGNUM_STEPS
from gluonish.optimizer.base import Index, State, register, zeros_like
from gluonish.optimizer.rule_optimizer import RuleOptimizer
from gluonish.optimizer.weight_update import BoundUpdate, Column, each

__all__ = ["Signum"]


@register
class Signum(RuleOptimizer):
    """Signum: steps by the sign of the momentum, or of the gradient without momentum.

    With ``g = clip(rescale_grad * grad) + wd * weight``: ``m = momentum * m - (1 - momentum) * g``
    and ``weight = (1 - lr * wd_lh) * weight + lr * sign(m)``. Without momentum:
    ``weight = (1 - lr * wd) * weight - lr * sign(grad)``.

    The state is the momentum, or None.

    Args:
        learning_rate: Learning rate; with a scheduler, it replaces the scheduler's ``base_lr``.
        momentum: Decay rate of the momentum; 0 for none.
        wd_lh: Weight decay applied directly to the weight; only with momentum.
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.

    Raises:
        ArgumentError: ``wd_lh`` is nonzero without momentum.

    References:
        J. Bernstein et al., "signSGD: Compressed Optimisation for Non-Convex Problems", 2018.
    """

    def __init__(
        self,
        learning_rate: float = 0.01,
        momentum: float = 0.9,
        wd_lh: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        check_numbers(type(self).__name__, momentum=momentum, wd_lh=wd_lh)
        if wd_lh and not momentum:
            raise ArgumentError(
                f"Signum: expected wd_lh 0 without momentum, got {wd_lh}; use wd instead"
            )
        self.momentum = momentum
        self.wd_lh = wd_lh

    def create_state(self, index: Index, weight: NDArray) -> State:
        """Return zeros for the momentum; None without momentum.

        Args:
            index: Index or name of the weight.
            weight: The weight.
        """
        return zeros_like(weight) if self.momentum != 0.0 else None

    def _rule(self) -> Rule:
        return SIGNUM_STEPS if self.momentum != 0.0 else SIGNSGD

    def _scalars(self) -> dict[str, float]:
        return {"momentum": self.momentum}

    def _columns(
        self, indices: Sequence[Index], lrs: Column, wds: Column, counts: Column
    ) -> tuple[Column, ...]:
        if self.momentum == 0.0:
            return lrs, each(lambda lr, wd: 1.0 - lr * wd, lrs, wds)
        return lrs, wds, each(lambda lr: 1.0 - lr * self.wd_lh, lrs)

    def _push(
        self,
        update: BoundUpdate,
        columns: tuple[Column, ...],
        scalars: dict[str, float],
    ) -> None:
        if self.momentum == 0.0:
            # Only the gradient's sign is used; in MXNet even with a negative scale.
            scalars["rescale_grad"] = 1.0
        super()._push(update, columns, scalars)
