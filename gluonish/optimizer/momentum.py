"""MomentumOptimizer: the base class of SGD, NAG and LARS."""

from typing import Any, ClassVar

from gluonish.core.dtype import FLOAT32
from gluonish.core.number_check import check_numbers
from gluonish.ndarray import NDArray
from gluonish.ops.updates.rules import SGD as PLAIN
from gluonish.ops.updates.rules import Rule
from gluonish.optimizer.base import Index, State, is_half, warn_of_half, zeros_like
from gluonish.optimizer.rule_optimizer import RuleOptimizer, state_arrays


class MomentumOptimizer(RuleOptimizer):
    """Base class of optimizers whose state is None or the momentum.

    With ``multi_precision`` the state of a 16-bit weight is ``(state, float32 weight)``: the
    reverse of other optimizers' order, as in MXNet's files.

    Args:
        momentum: Fraction of the previous step that is added to the new one; 0 for none.
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.
    """

    with_momentum: ClassVar[Rule]
    without_momentum: ClassVar[Rule] = PLAIN
    calls_update = False

    def __init__(self, momentum: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        check_numbers(type(self).__name__, momentum=momentum)
        self.momentum = momentum

    def create_state_multi_precision(self, index: Index, weight: NDArray) -> State:
        """Return the state of a weight, with a float32 copy for 16-bit weights.

        Args:
            index: Index or name of the weight.
            weight: The weight.

        Returns:
            ``(state, float32 weight)`` for a 16-bit weight with ``multi_precision``, else the
            result of `create_state`.
        """
        if is_half(weight):
            if self.multi_precision:
                master = weight.astype(FLOAT32)
                return self.create_state(index, master), master
            warn_of_half(type(self).__name__)
        return self.create_state(index, weight)

    def create_state(self, index: Index, weight: NDArray) -> State:
        """Return zeros for the momentum; None without momentum.

        Args:
            index: Index or name of the weight.
            weight: The weight.
        """
        if self.momentum == 0.0:
            return None
        return zeros_like(weight, dense=not getattr(self, "lazy_update", False))

    def _supports_lazy(self, weight: NDArray, mixed: bool) -> bool:
        return not mixed

    def _rule(self) -> Rule:
        return self.with_momentum if self.momentum != 0.0 else self.without_momentum

    def _scalars(self) -> dict[str, float]:
        return {"momentum": self.momentum}

    def _arrays(self, state: State, mixed: bool) -> tuple[NDArray, ...]:
        if not mixed:
            return state_arrays(state)
        inner, master = state
        return (*state_arrays(inner), master)
