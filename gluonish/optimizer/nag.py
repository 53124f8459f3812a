"""NAG: Nesterov's accelerated gradient, in MXNet's form."""

from gluonish.ops.updates.rules import NESTEROV
from gluonish.optimizer.base import register
from gluonish.optimizer.momentum import MomentumOptimizer

__all__ = ["NAG"]


@register
class NAG(MomentumOptimizer):
    """Nesterov's accelerated gradient descent.

    With ``c = clip(rescale_grad * grad)`` and ``g = c + wd * weight``:
    ``weight += momentum * (momentum * m - lr * g) - lr * g``, and then
    ``m = momentum * m - lr * (c + wd * weight)`` with the new weight. With weight decay this
    differs from the paper, as in MXNet. Without momentum it equals `SGD`, and a row-sparse gradient
    updates only its rows.

    The state is the momentum, or None; with ``multi_precision`` a 16-bit weight has a pair of the
    float32 momentum and the float32 weight.

    Args:
        momentum: Fraction of the previous step that is added to the new one; 0 for none.
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.

    References:
        Y. Nesterov, "A method for solving the convex programming problem with convergence rate
        O(1/k^2)", 1983; in the form of I. Sutskever et al., "On the importance of initialization
        and momentum in deep learning", 2013.
    """

    with_momentum = NESTEROV

    def _is_lazy(self) -> bool:
        return self.momentum == 0.0
