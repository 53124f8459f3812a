"""NAG: Nesterov's accelerated gradient, as MXNet computes it."""

from typing import Any

import gluonish.ndarray as nd
from gluonish.core.dtype import FLOAT32
from gluonish.optimizer.momentum import MomentumOptimizer
from gluonish.optimizer.optimizer import clip_limit, is_half, register

__all__ = ["NAG"]


@register
class NAG(MomentumOptimizer):
    """Gradient descent that looks ahead along the momentum.

    With ``c = clip(rescale_grad * grad)`` and ``g = c + wd * weight``:
    ``weight += momentum * (momentum * m - lr * g) - lr * g``, and then
    ``m = momentum * m - lr * (c + wd * weight)`` with the new weight. Taking the new weight there
    is how MXNet differs from the paper; without weight decay there is no difference. Without
    momentum it is `SGD`.

    The state is None or the momentum; with ``multi_precision`` on a 16-bit weight it is the pair of
    that, in float32, and the float32 weight.

    Args:
        momentum: Share of the last step that is repeated.
        **kwargs: As `Optimizer` takes them.

    References:
        Y. Nesterov, "A method for solving the convex programming problem with convergence rate
        O(1/k^2)", 1983; in the form of I. Sutskever et al., "On the importance of initialization
        and momentum in deep learning", 2013.
    """

    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Update one weight, through its float32 copy if there is one."""
        if not self.multi_precision or not is_half(weight):
            self.update(index, weight, grad, state)
            return
        momentum, master = state
        self.update(index, master, grad.astype(FLOAT32), momentum)
        master.copyto(weight)

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Update one weight."""
        self._update_count(index)
        lr, wd = self._get_lr(index), self._get_wd(index)
        if state is None:
            nd.sgd_update(
                weight,
                grad,
                out=weight,
                lr=lr,
                wd=wd,
                rescale_grad=self.rescale_grad,
                clip_gradient=clip_limit(self),
            )
            return
        gradient = grad * self.rescale_grad
        if clip_limit(self) >= 0:
            gradient = nd.clip(gradient, -clip_limit(self), clip_limit(self))
        mu = self.momentum
        ahead = (gradient + weight * wd) * (-lr * (1.0 + mu)) + state * (mu * mu)
        (weight + ahead).copyto(weight)
        (state * mu - (gradient + weight * wd) * lr).copyto(state)
