"""SGLD: gradient descent with noise, which samples weights from a posterior."""

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from math import sqrt
from typing import Any

import gluonish.ndarray as nd
from gluonish.ndarray import NDArray
from gluonish.ops.updates.rules import SGD as DRIFT
from gluonish.ops.updates.rules import Rule
from gluonish.optimizer.base import Index, State, register
from gluonish.optimizer.row_update import RowUpdate
from gluonish.optimizer.rule_optimizer import RuleOptimizer, is_sparse
from gluonish.optimizer.weight_update import BoundUpdate, Column, Rates, WeightUpdate, each

__all__ = ["SGLD"]


@register
class SGLD(RuleOptimizer):
    """Stochastic gradient Langevin dynamics.

    With ``g = clip(rescale_grad * grad) + wd * weight``:
    ``weight += -lr / 2 * g + normal(0, sqrt(lr))``. The random numbers differ from MXNet's.

    There is no state.

    Args:
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.

    References:
        M. Welling, Y. W. Teh, "Bayesian Learning via Stochastic Gradient Langevin Dynamics", 2011.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    def create_state(self, index: Index, weight: NDArray) -> State:
        """Return None: there is no state.

        Args:
            index: Index or name of the weight.
            weight: The weight.
        """
        return None

    @property
    def sharding(self) -> str:
        """``"none"``: all processes draw the same noise, and there are no states."""
        return "none"

    def _rule(self) -> Rule:
        return DRIFT

    def bind(
        self,
        weights: Sequence[NDArray],
        grads: Sequence[NDArray],
        states: Sequence[State],
        *,
        mixed: bool,
    ) -> BoundUpdate:
        """Bind the update of weights of one dtype, with noise; see `RuleOptimizer.bind`."""
        masters = [self.arrays_of(state, mixed=mixed) for state in states]
        return _NoisyUpdate(super().bind(weights, grads, states, mixed=mixed), weights, masters)


class _NoisyUpdate:
    """An SGD update by gradients, and another one with noise as gradients."""

    __slots__ = ("_drift", "_noise", "_spread", "rates")

    def __init__(
        self,
        drift: BoundUpdate,
        weights: Sequence[NDArray],
        masters: Sequence[tuple[NDArray, ...]],
    ) -> None:
        first, mixed = weights[0], bool(masters[0])
        ends = accumulate((weight.size for weight in weights), initial=0)
        self._drift = drift
        self._noise = nd.zeros((sum(w.size for w in weights),), first.context, first.dtype)
        groups = [
            (weight, self._noise[start:end].reshape(weight.shape), *master)
            for weight, (start, end), master in zip(weights, pairwise(ends), masters, strict=True)
        ]
        self._spread: BoundUpdate
        if is_sparse(first, first):
            self._spread = RowUpdate(DRIFT, groups[0], mixed, lazy=False)
        else:
            self._spread = WeightUpdate(DRIFT, groups, mixed)
        self.rates: Rates | None = None

    def push(self, columns: Sequence[Column], scalars: Mapping[str, float]) -> None:
        lrs, wds = columns
        self._drift.push((each(lambda lr: lr / 2, lrs), wds), scalars)
        noise = self._noise
        nd.random.normal(0, 1, noise.shape, noise.dtype, noise.context, out=noise)
        deviations = each(lambda lr: -sqrt(lr), lrs)
        self._spread.push((deviations, 0.0), {"rescale_grad": 1.0, "clip_gradient": -1.0})
