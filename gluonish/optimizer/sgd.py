"""SGD: stochastic gradient descent with momentum."""

from typing import Any

from gluonish.core.config import MXNET_OPTIMIZER_AGGREGATION_SIZE
from gluonish.ops.updates.rules import SGD_MOMENTUM
from gluonish.optimizer.base import register
from gluonish.optimizer.momentum import MomentumOptimizer

__all__ = ["SGD", "ccSGD"]


@register
class SGD(MomentumOptimizer):
    """Stochastic gradient descent, with optional momentum.

    With ``g = clip(rescale_grad * grad) + wd * weight``: ``weight -= lr * g``, or
    ``m = momentum * m - lr * g; weight += m``.

    The state is the momentum, or None; with ``multi_precision`` a 16-bit weight has a pair of the
    float32 momentum and the float32 weight.

    Args:
        momentum: Fraction of the previous step that is added to the new one; 0 for none.
        lazy_update: Whether a row-sparse gradient updates only the rows it contains.
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

    def __init__(self, momentum: float = 0.0, lazy_update: bool = True, **kwargs: Any) -> None:
        super().__init__(momentum, **kwargs)
        self.lazy_update = lazy_update
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
