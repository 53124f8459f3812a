"""Stochastic gradient descent and its variants.

- MomentumOptimizer: the base class of SGD, NAG and LARS.
- SGD: gradient descent with momentum.
- NAG: Nesterov's accelerated gradient, in MXNet's form.
- DCASGD: compensation for delayed gradients.
- SGLD: noise, which samples weights from a posterior.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from math import sqrt
from typing import Any, ClassVar

import gluonish.ndarray as nd
from gluonish.core.config import MXNET_OPTIMIZER_AGGREGATION_SIZE
from gluonish.core.dtype import FLOAT32
from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.core.number_check import check_numbers
from gluonish.ndarray import NDArray
from gluonish.ops.updates.rules import NAG as NAG_MOMENTUM
from gluonish.ops.updates.rules import NESTEROV, SGD_MOMENTUM, Rule
from gluonish.ops.updates.rules import SGD as DRIFT
from gluonish.ops.updates.rules import SGD as PLAIN
from gluonish.ops.updates.rules2 import DCASGD2, DCASGD_MOMENTUM2
from gluonish.ops.updates.sign import DCASGD as RULE
from gluonish.ops.updates.sign import DCASGD_MOMENTUM
from gluonish.optimizer.arguments import given, ordered2
from gluonish.optimizer.base import Index, State, is_half, register, warn_of_half, zeros_like
from gluonish.optimizer.row_update import RowUpdate
from gluonish.optimizer.rule_optimizer import RuleOptimizer, is_sparse, state_arrays
from gluonish.optimizer.weight_update import BoundUpdate, Column, Rates, WeightUpdate, each


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

    def _master_and_state(self, state: State) -> tuple[NDArray, State]:
        inner, master = state
        return master, inner

    def _arrays(self, state: State, mixed: bool) -> tuple[NDArray, ...]:
        if not mixed:
            return state_arrays(state)
        inner, master = state
        return (*state_arrays(inner), master)


__all__ = ["DCASGD", "NAG", "SGD", "SGLD", "ccSGD"]


@register
class SGD(MomentumOptimizer):
    """Stochastic gradient descent, with optional momentum.

    With ``g = clip(rescale_grad * grad) + wd * weight``: ``weight -= lr * g``, or
    ``m = momentum * m - lr * g; weight += m``.

    The state is the momentum, or None; with ``multi_precision`` a 16-bit weight has a pair of the
    float32 momentum and the float32 weight.

    Args:
        momentum: Fraction of the previous step that is added to the new one; 0 for none.
        lazy_update: Whether a row-sparse gradient updates only the rows it contains; None for
            True, by the rules of MXNet 2.0 for False.
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.

    References:
        B. T. Polyak, "Some methods of speeding up the convergence of iteration methods", 1964.

    Example:
        >>> import gluonish as mx
        >>> net = mx.gluon.nn.Dense(1, in_units=2)
        >>> net.initialize()
        >>> settings = {"learning_rate": 0.1, "momentum": 0.9, "wd": 1e-4}
        >>> trainer = mx.gluon.Trainer(net.collect_params(), "sgd", settings)
    """

    with_momentum = SGD_MOMENTUM
    _default_rate2 = 0.1

    @ordered2("learning_rate", "momentum", "lazy_update", "multi_precision", "use_fused_step")
    def __init__(
        self, momentum: float = 0.0, lazy_update: bool | None = None, **kwargs: Any
    ) -> None:
        super().__init__(momentum=momentum, **kwargs)
        self.lazy_update: bool = given(lazy_update, True, False)
        if not follows_mxnet2():
            self.aggregate_num = self.group_limit or MXNET_OPTIMIZER_AGGREGATION_SIZE.value


@register
class ccSGD(SGD):  # MXNet's name
    """Alias of `SGD` from early versions of MXNet.

    Args:
        *args: Arguments of `SGD`.
        **kwargs: Arguments of `SGD`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)


@register
class NAG(MomentumOptimizer):
    """Nesterov's accelerated gradient descent.

    With ``c = clip(rescale_grad * grad)`` and ``g = c + wd * weight``:
    ``weight += momentum * (momentum * m - lr * g) - lr * g``, and then
    ``m = momentum * m - lr * (c + wd * weight)`` with the new weight. With weight decay this
    differs from the paper, as in MXNet 1.9; by the rules of 2.0 the old weight is used in both.
    Without momentum it equals `SGD`, and a row-sparse gradient updates only its rows.

    The state is the momentum, or None; with ``multi_precision`` a 16-bit weight has a pair of the
    float32 momentum and the float32 weight.

    Args:
        momentum: Fraction of the previous step that is added to the new one; 0 for none. None for
            0, by the rules of MXNet 2.0 for 0.9.
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.

    References:
        Y. Nesterov, "A method for solving the convex programming problem with convergence rate
        O(1/k^2)", 1983; in the form of I. Sutskever et al., "On the importance of initialization
        and momentum in deep learning", 2013.
    """

    with_momentum = NESTEROV
    _default_rate2 = 0.1

    @ordered2("learning_rate", "momentum", "multi_precision", "use_fused_step")
    def __init__(self, momentum: float | None = None, **kwargs: Any) -> None:
        super().__init__(momentum=given(momentum, 0.0, 0.9), **kwargs)

    def _rule(self) -> Rule:
        return NAG_MOMENTUM if self.momentum and follows_mxnet2() else super()._rule()

    def _is_lazy(self) -> bool:
        return self.momentum == 0.0


@register
class DCASGD(RuleOptimizer):
    """DCASGD: asynchronous gradient descent with delay compensation.

    With ``c = clip(rescale_grad * grad)`` and ``p`` the weight before the last update:
    ``g = c + wd * weight + lamda * c * c * (weight - p)``, ``p = weight``, and ``weight -= lr * g``
    or ``m = momentum * m - lr * g; weight += m``. By the rules of MXNet 2.0 weight decay is part of
    ``c``.

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

    _default_rate2 = 0.1

    @ordered2("learning_rate", "momentum", "lamda", "use_fused_step")
    def __init__(self, momentum: float = 0.0, lamda: float = 0.04, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        check_numbers(type(self).__name__, momentum=momentum, lamda=lamda)
        self.momentum = momentum
        self.weight_previous: dict[Index, NDArray] = {}
        self.lamda = lamda

    def create_state(self, index: Index, weight: NDArray) -> State:
        """Return ``(momentum, copy of the weight)``; the momentum is zeros, or None if unused.

        Args:
            index: Index or name of the weight.
            weight: The weight.
        """
        return zeros_like(weight) if self.momentum != 0.0 else None, weight.copy()

    def _rule(self) -> Rule:
        if follows_mxnet2():
            return DCASGD_MOMENTUM2 if self.momentum != 0.0 else DCASGD2
        return DCASGD_MOMENTUM if self.momentum != 0.0 else RULE

    def _scalars(self) -> dict[str, float]:
        return {"momentum": self.momentum, "lamda": self.lamda}


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

    _default_rate2 = 0.1

    @ordered2("learning_rate", "use_fused_step")
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
    """An update that applies gradients, and then Gaussian noise as if it were gradients."""

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
