"""Optimizers that scale steps by squared gradients.

- AdaGrad: steps divided by the square root of the sum of squared gradients.
- AdaDelta: steps scaled by the running mean of recent steps.
- RMSProp: steps divided by the square root of a running mean of squared gradients.
"""

from typing import Any

from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.core.number_check import check_numbers, check_optional
from gluonish.ndarray import NDArray
from gluonish.ops.updates.adaptive import ADADELTA
from gluonish.ops.updates.rules import ADAGRAD, RMSPROP, RMSPROP_CENTERED, Rule
from gluonish.ops.updates.rules2 import ADADELTA2, ADAGRAD2, RMSPROP2, RMSPROP_CENTERED2
from gluonish.optimizer.arguments import given, ordered2
from gluonish.optimizer.base import Index, State, register, zeros_like
from gluonish.optimizer.rule_optimizer import RuleOptimizer

__all__ = ["AdaDelta", "AdaGrad", "RMSProp"]


@register
class AdaGrad(RuleOptimizer):
    """AdaGrad: divide gradients by the square root of the sum of their squares so far.

    With ``g = clip(rescale_grad * grad)``: ``h += g * g`` and
    ``weight -= lr * (g / sqrt(h + eps) + wd * weight)``. By the rules of MXNet 2.0 weight decay is
    part of ``g``, and ``weight -= lr * g / (sqrt(h) + eps)``.

    The state is ``h``. Without weight decay a row-sparse gradient updates only its rows.

    Args:
        eps: Small constant added to the denominator to avoid division by zero; None for 1e-7, by
            the rules of MXNet 2.0 for 1e-6.
        epsilon: ``eps`` under the name it has in MXNet 2.0.
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.

    References:
        J. Duchi, E. Hazan, Y. Singer, "Adaptive Subgradient Methods for Online Learning and
        Stochastic Optimization", 2011.
    """

    _default_rate2 = 0.01

    @ordered2("learning_rate", "epsilon", "use_fused_step")
    def __init__(
        self, eps: float | None = None, epsilon: float | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        added: float = given(eps, 1e-7, 1e-6) if epsilon is None else epsilon
        check_numbers(type(self).__name__, eps=added)
        self.float_stable_eps = added

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
        return ADAGRAD2 if follows_mxnet2() else ADAGRAD

    @property
    def epsilon(self) -> float:
        """The constant in the denominator, under its name in MXNet 2.0."""
        return self.float_stable_eps

    @epsilon.setter
    def epsilon(self, value: float) -> None:
        self.float_stable_eps = value

    def _scalars(self) -> dict[str, float]:
        return {"epsilon": self.float_stable_eps}


@register
class AdaDelta(RuleOptimizer):
    """AdaDelta: scale gradients by the ratio of running means of squared steps and gradients.

    With ``g = clip(rescale_grad * grad)``: ``s = rho * s + (1 - rho) * g * g``,
    ``step = sqrt(d + epsilon) / sqrt(s + epsilon) * g``, ``d = rho * d + (1 - rho) * step * step``
    and ``weight -= step + wd * weight``. By the rules of MXNet 2.0 weight decay is part of ``g``,
    and ``weight -= lr * step`` with a learning rate of 1 by default.

    The state is ``(s, d)``. The learning rate has no effect, as in MXNet 1.9.

    Args:
        rho: Decay rate of the running means.
        epsilon: Added inside both roots; avoids division by 0, and sets the size of the first
            steps. None for 1e-5, by the rules of MXNet 2.0 for 1e-6.
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.

    References:
        M. D. Zeiler, "ADADELTA: An Adaptive Learning Rate Method", 2012.
    """

    _default_rate2 = 1.0

    @ordered2("learning_rate", "rho", "epsilon", "use_fused_step")
    def __init__(self, rho: float = 0.90, epsilon: float | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rho = rho
        self.epsilon: float = given(epsilon, 1e-5, 1e-6)
        check_numbers(type(self).__name__, rho=rho, epsilon=self.epsilon)

    def create_state(self, index: Index, weight: NDArray) -> State:
        """Return zeros for the running means of squared gradients and of squared steps.

        Args:
            index: Index or name of the weight.
            weight: The weight.
        """
        return tuple(zeros_like(weight, dense=True) for _ in range(2))

    def _rule(self) -> Rule:
        return ADADELTA2 if follows_mxnet2() else ADADELTA

    def _scalars(self) -> dict[str, float]:
        return {"rho": self.rho, "epsilon": self.epsilon}


@register
class RMSProp(RuleOptimizer):
    """RMSProp: divide gradients by the root of their running mean square.

    With ``g = clip(rescale_grad * grad + wd * weight)`` and
    ``n = gamma1 * n + (1 - gamma1) * g * g``: ``weight -= lr * g / sqrt(n + epsilon)``. The
    centered version uses the mean of gradients and momentum:
    ``c = gamma1 * c + (1 - gamma1) * g``,
    ``d = gamma2 * d - lr * g / sqrt(n - c * c + epsilon)``, ``weight += d``. The new weight is
    clipped to ``[-clip_weights, clip_weights]``. By the rules of MXNet 2.0 weight decay is added
    after clipping, and the version that is not centered divides by ``sqrt(n) + epsilon``.

    The state is ``(n,)``, or ``(n, c, d)`` if centered.

    Args:
        learning_rate: Learning rate; with a scheduler, it replaces the scheduler's ``base_lr``.
        gamma1: Decay rate of the running means.
        gamma2: Momentum; used only if centered.
        epsilon: Small constant added to the denominator to avoid division by zero.
        centered: Whether to subtract the squared running mean of gradients (Graves' version).
        clip_weights: Limit of the weights' absolute values; None for no limit.
        rho: ``gamma1`` under the name it has in MXNet 2.0.
        momentum: ``gamma2`` under the name it has in MXNet 2.0.
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.

    References:
        T. Tieleman, G. Hinton, "Lecture 6.5: RMSProp", 2012; centered: A. Graves, "Generating
        Sequences With Recurrent Neural Networks", 2013.
    """

    @ordered2(
        "learning_rate",
        "rho",
        "momentum",
        "epsilon",
        "centered",
        "clip_weights",
        "use_fused_step",
    )
    def __init__(
        self,
        learning_rate: float = 0.001,
        gamma1: float = 0.9,
        gamma2: float = 0.9,
        epsilon: float = 1e-8,
        centered: bool = False,
        clip_weights: float | None = None,
        rho: float | None = None,
        momentum: float | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        name = type(self).__name__
        check_optional(name, rho=rho, momentum=momentum)
        gamma1 = gamma1 if rho is None else rho
        gamma2 = gamma2 if momentum is None else momentum
        check_numbers(name, gamma1=gamma1, gamma2=gamma2, epsilon=epsilon)
        check_optional(name, clip_weights=clip_weights)
        self.gamma1 = gamma1
        self.gamma2 = gamma2
        self.centered = centered
        self.epsilon = epsilon
        self.clip_weights = clip_weights

    def create_state(self, index: Index, weight: NDArray) -> State:
        """Return zeros for the running mean of squared gradients; if centered, two more arrays.

        Args:
            index: Index or name of the weight.
            weight: The weight.
        """
        return tuple(zeros_like(weight) for _ in range(3 if self.centered else 1))

    def _rule(self) -> Rule:
        if follows_mxnet2():
            return RMSPROP_CENTERED2 if self.centered else RMSPROP2
        return RMSPROP_CENTERED if self.centered else RMSPROP

    @property
    def rho(self) -> float:
        """Decay rate of the running means, under its name in MXNet 2.0."""
        return self.gamma1

    @rho.setter
    def rho(self, value: float) -> None:
        self.gamma1 = value

    @property
    def momentum(self) -> float:
        """Momentum of the centered version, under its name in MXNet 2.0."""
        return self.gamma2

    @momentum.setter
    def momentum(self, value: float) -> None:
        self.gamma2 = value

    def _scalars(self) -> dict[str, float]:
        return {
            "gamma1": self.gamma1,
            "gamma2": self.gamma2,
            "epsilon": self.epsilon,
            "clip_weights": -1.0 if self.clip_weights is None else self.clip_weights,
        }
