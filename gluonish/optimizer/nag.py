"""NAG: Nesterov's accelerated gradient, as MXNet computes it."""

from gluonish.ops.updates.rules import NESTEROV
from gluonish.optimizer.base import register
from gluonish.optimizer.momentum import MomentumOptimizer

__all__ = ["NAG"]


@register
class NAG(MomentumOptimizer):
    """Nesterov's accelerated gradient descent.

    With ``c = clip(rescale_grad * grad)`` and ``g = c + wd * weight``:
    ``weight += momentum * (momentum * m - lr * g) - lr * g``, and then
    ``m = momentum * m - lr * (c + wd * weight)`` with the new weight. Taking the new weight there
    is how MXNet differs from the paper; without weight decay there is no difference. Without
    momentum it is `SGD`, also in that a row-sparse gradient then moves only the rows that it holds.

    The state is the momentum, or None; with ``multi_precision`` and a 16-bit weight it is a pair of
    that in float32 and the float32 weight.

    Args:
        momentum: Fraction of the previous step that is added to the new one; 0 for none.
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.

    References:
        Y. Nesterov, "A method for solving the convex programming problem with convergence rate
        O(1/k^2)", 1983; in the form of I. Sutskever et al., "On the importance of initialization
        and momentum in deep learning", 2013.
    """

    with_momentum = NESTEROV

    def _moves_rows(self) -> bool:
        return self.momentum == 0.0
