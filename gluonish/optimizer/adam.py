"""Adam: steps scaled by running means of the gradient and of its square."""

from math import sqrt
from typing import Any

import gluonish.ndarray as nd
from gluonish.ndarray import NDArray
from gluonish.optimizer.optimizer import (
    Index,
    Optimizer,
    State,
    clip_limit,
    register,
    zeros_like,
)

__all__ = ["Adam"]


@register
class Adam(Optimizer):
    """Adam.

    With ``g = clip(rescale_grad * grad + wd * weight)`` and t the number of the update,
    ``m = beta1 * m + (1 - beta1) * g``, ``v = beta2 * v + (1 - beta2) * g * g``, and
    ``weight -= lr * sqrt(1 - beta2 ** t) / (1 - beta1 ** t) * m / (sqrt(v) + epsilon)``.

    The state is ``(m, v)``. ``epsilon`` is added after the bias correction was taken into the
    learning rate, so that its share differs from the paper's in the first updates.

    Args:
        learning_rate: Learning rate; it wins over a scheduler's ``base_lr``.
        beta1: Decay of the mean of gradients.
        beta2: Decay of the mean of squares.
        epsilon: Keeps the division from zero.
        lazy_update: For row-sparse gradients; there is no effect on dense ones.
        **kwargs: As `Optimizer` takes them.

    References:
        D. P. Kingma, J. Ba, "Adam: A Method for Stochastic Optimization", 2015.
    """

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        lazy_update: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.lazy_update = lazy_update

    def create_state(self, index: Index, weight: NDArray) -> State:
        """Return zero means of the gradient and of its square."""
        return zeros_like(weight), zeros_like(weight)

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Update one weight."""
        self._update_count(index)
        t = self._index_update_count[index]
        correction = sqrt(1.0 - self.beta2**t) / (1.0 - self.beta1**t)
        mean, variance = state
        nd.adam_update(
            weight,
            grad,
            mean,
            variance,
            out=weight,
            lr=self._get_lr(index) * correction,
            wd=self._get_wd(index),
            beta1=self.beta1,
            beta2=self.beta2,
            epsilon=self.epsilon,
            rescale_grad=self.rescale_grad,
            clip_gradient=clip_limit(self),
            lazy_update=self.lazy_update,
        )
