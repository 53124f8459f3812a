"""Adam, AdamW and Adamax: steps scaled by running means of the gradient and its square.

Adamax uses a decaying maximum of absolute gradients instead of the mean square.
"""

from collections.abc import Sequence
from math import sqrt
from typing import Any

from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.core.number_check import check_numbers
from gluonish.ndarray import NDArray
from gluonish.ops.updates.adaptive import ADAMAX
from gluonish.ops.updates.rules import ADAM, ADAMW, Rule
from gluonish.ops.updates.rules2 import ADAM2, ADAMAX2
from gluonish.ops.updates.update import usable_scale
from gluonish.optimizer.arguments import given
from gluonish.optimizer.base import Index, State, register, zeros_like
from gluonish.optimizer.rule_optimizer import RuleOptimizer
from gluonish.optimizer.weight_update import BoundUpdate, Column, each

__all__ = ["Adam", "AdamW", "Adamax", "MomentsOptimizer", "bias_divisor"]


class MomentsOptimizer(RuleOptimizer):
    """Base class of optimizers with running means of the gradient and its square."""

    def __init__(self, beta1: float, beta2: float, epsilon: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        check_numbers(type(self).__name__, beta1=beta1, beta2=beta2, epsilon=epsilon)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon

    def create_state(self, index: Index, weight: NDArray) -> State:
        """Return zeros for the running means of the gradient and of its square.

        Args:
            index: Index or name of the weight.
            weight: The weight.
        """
        return zeros_like(weight), zeros_like(weight)

    def _scalars(self) -> dict[str, float]:
        return {"beta1": self.beta1, "beta2": self.beta2, "epsilon": self.epsilon}

    def _corrected(self, lrs: Column, counts: Column) -> Column:
        """Return bias-corrected learning rates, as the means start at 0."""

        def corrected(lr: float, t: float) -> float:
            correction: float = sqrt(1.0 - self.beta2**t) / (1.0 - self.beta1**t)
            return lr * correction

        return each(corrected, lrs, counts)


def bias_divisor(beta: float, counts: Column) -> Column:
    """Return the divisor that corrects the bias of a running mean started at 0."""
    return each(lambda t: 1.0 - beta**t, counts)


@register
class Adam(MomentsOptimizer):
    """Adam: adaptive moment estimation.

    With ``g = clip(rescale_grad * grad + wd * weight)`` and t the number of the update,
    ``m = beta1 * m + (1 - beta1) * g``, ``v = beta2 * v + (1 - beta2) * g * g``, and
    ``weight -= lr * sqrt(1 - beta2 ** t) / (1 - beta1 ** t) * m / (sqrt(v) + epsilon)``.

    By the rules of MXNet 2.0 weight decay is added after clipping.

    The state is ``(m, v)``. The bias correction is part of the learning rate and does not apply to
    ``epsilon``, so that its effect differs from the paper's in the first updates.

    Args:
        learning_rate: Learning rate; with a scheduler, it replaces the scheduler's ``base_lr``.
        beta1: Decay rate of the running mean of gradients.
        beta2: Decay rate of the running mean of squared gradients.
        epsilon: Small constant added to the denominator to avoid division by zero.
        lazy_update: Whether a row-sparse gradient updates only the rows it contains; None for
            True, by the rules of MXNet 2.0 for False.
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.

    References:
        D. P. Kingma, J. Ba, "Adam: A Method for Stochastic Optimization", 2015.
    """

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        lazy_update: bool | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(beta1, beta2, epsilon, learning_rate=learning_rate, **kwargs)
        self.lazy_update: bool = given(lazy_update, True, False)

    def create_state(self, index: Index, weight: NDArray) -> State:
        """Return zeros for both running means; row-sparse ones only for lazy updates.

        Args:
            index: Index or name of the weight.
            weight: The weight.
        """
        return tuple(zeros_like(weight, dense=not self.lazy_update) for _ in range(2))

    def _rule(self) -> Rule:
        return ADAM2 if follows_mxnet2() else ADAM

    def _columns(
        self, indices: Sequence[Index], lrs: Column, wds: Column, counts: Column
    ) -> tuple[Column, ...]:
        return self._corrected(lrs, counts), wds


@register
class AdamW(MomentsOptimizer):
    """AdamW: Adam with decoupled weight decay, as in MXNet 2.0.

    With ``g = clip(rescale_grad * grad)`` and t the number of the update,
    ``m = beta1 * m + (1 - beta1) * g``, ``v = beta2 * v + (1 - beta2) * g * g``,
    ``r = lr * sqrt(1 - beta2 ** t) / (1 - beta1 ** t)``, or ``r = lr`` without ``correct_bias``,
    and ``weight -= r * (m / (sqrt(v) + epsilon) + wd * weight)``.

    The state is ``(m, v)``. A step whose ``rescale_grad`` is 0 or not finite changes nothing.

    Weights of norms and biases usually do not decay. All layers of Gluon call them ``gamma``,
    ``beta`` and ``bias``, so that one pattern finds them; see the example.

    Args:
        learning_rate: Learning rate; with a scheduler, it replaces the scheduler's ``base_lr``.
        beta1: Decay rate of the running mean of gradients.
        beta2: Decay rate of the running mean of squared gradients.
        epsilon: Small constant added to the denominator to avoid division by zero.
        correct_bias: Whether to apply bias correction, since the running means start at 0.
        use_fused_step: Without effect, as steps are always fused; by the rules of MXNet 2.0, if
            False, weight decay uses the weight after the step.
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.

    References:
        I. Loshchilov, F. Hutter, "Decoupled Weight Decay Regularization", 2019.

    Example:
        >>> import gluonish as mx
        >>> net = mx.gluon.nn.TransformerEncoder(1, 8, 16, 2)
        >>> net.initialize()
        >>> net.collect_params(".*(bias|gamma|beta)$").setattr("wd_mult", 0)
        >>> options = {"learning_rate": 1e-3, "wd": 0.1}
        >>> trainer = mx.gluon.Trainer(net.collect_params(), "adamw", options)
    """

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        correct_bias: bool = True,
        use_fused_step: bool = True,
        **kwargs: Any,
    ) -> None:
        kwargs |= {"learning_rate": learning_rate, "use_fused_step": use_fused_step}
        super().__init__(beta1, beta2, epsilon, **kwargs)
        self.correct_bias = correct_bias

    _default_aggregate2 = 4

    def _rule(self) -> Rule:
        return ADAMW

    def _columns(
        self, indices: Sequence[Index], lrs: Column, wds: Column, counts: Column
    ) -> tuple[Column, ...]:
        rates = self._corrected(lrs, counts) if self.correct_bias else lrs
        if self.use_fused_step or not follows_mxnet2():
            return 1.0, wds, rates
        return each(lambda rate, wd: 1.0 - rate * wd, rates, wds), wds, rates

    def _push(
        self,
        update: BoundUpdate,
        columns: tuple[Column, ...],
        scalars: dict[str, float],
    ) -> None:
        if usable_scale(self.rescale_grad):
            super()._push(update, columns, scalars)


@register
class Adamax(RuleOptimizer):
    """Adamax: Adam with the infinity norm, a decaying maximum of absolute gradients.

    With ``g = clip(rescale_grad * grad + wd * weight)`` and t the number of the update,
    ``m = beta1 * m + (1 - beta1) * g``, ``u = max(beta2 * u, abs(g))`` and
    ``weight -= lr / (1 - beta1 ** t) * m / u``. Elements whose gradients were all 0 so far are
    unchanged, where MXNet 1.9 divides 0 by 0. By the rules of MXNet 2.0 weight decay is added after
    clipping, and ``epsilon`` to ``u``.

    The state is ``(m, u)``.

    Args:
        learning_rate: Learning rate; with a scheduler, it replaces the scheduler's ``base_lr``.
        beta1: Decay rate of the running mean of gradients.
        beta2: Decay rate of the maximum.
        epsilon: Small constant added to the denominator by the rules of MXNet 2.0.
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.

    References:
        D. P. Kingma, J. Ba, "Adam: A Method for Stochastic Optimization", 2015, section 7.
    """

    def __init__(
        self,
        learning_rate: float = 0.002,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        check_numbers(type(self).__name__, beta1=beta1, beta2=beta2, epsilon=epsilon)
        self.beta1 = beta1
        self.beta2 = beta2
        if follows_mxnet2():  # files of MXNet 1.9 lack it
            self.epsilon = epsilon

    def create_state(self, index: Index, weight: NDArray) -> State:
        """Return zeros for the running mean of the gradient and its decaying maximum.

        Args:
            index: Index or name of the weight.
            weight: The weight.
        """
        return tuple(zeros_like(weight, dense=True) for _ in range(2))

    def _rule(self) -> Rule:
        return ADAMAX2 if follows_mxnet2() else ADAMAX

    def _scalars(self) -> dict[str, float]:
        scalars = {"beta1": self.beta1, "beta2": self.beta2}
        return (
            scalars | {"epsilon": getattr(self, "epsilon", 1e-8)} if follows_mxnet2() else scalars
        )

    def _columns(
        self, indices: Sequence[Index], lrs: Column, wds: Column, counts: Column
    ) -> tuple[Column, ...]:
        return each(lambda lr, t: lr / (1.0 - self.beta1**t), lrs, counts), wds
