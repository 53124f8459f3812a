"""SGD: stochastic gradient descent with momentum, several weights a call."""

from typing import Any

import gluonish.ndarray as nd
from gluonish.core.config import MXNET_OPTIMIZER_AGGREGATION_SIZE
from gluonish.ndarray import NDArray
from gluonish.optimizer.momentum import MomentumOptimizer
from gluonish.optimizer.optimizer import clip_limit, is_half, register

__all__ = ["SGD", "ccSGD"]


@register
class SGD(MomentumOptimizer):
    """Stochastic gradient descent, with momentum if it is not 0.

    With ``g = clip(rescale_grad * grad) + wd * weight``: ``weight -= lr * g``, or
    ``m = momentum * m - lr * g; weight += m``.

    The state is None or the momentum; with ``multi_precision`` on a 16-bit weight it is the pair of
    that, in float32, and the float32 weight. Weights are updated in groups of
    ``MXNET_OPTIMIZER_AGGREGATION_SIZE``, whose size does not change the result.

    Args:
        momentum: Share of the last step that is repeated.
        lazy_update: For row-sparse gradients; there is no effect on dense ones.
        **kwargs: As `Optimizer` takes them.

    References:
        B. T. Polyak, "Some methods of speeding up the convergence of iteration methods", 1964.
    """

    def __init__(self, momentum: float = 0.0, lazy_update: bool = True, **kwargs: Any) -> None:
        super().__init__(momentum, **kwargs)
        self.lazy_update = lazy_update
        self.aggregate_num = MXNET_OPTIMIZER_AGGREGATION_SIZE.value

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Update one weight, or lists of weights of one dtype."""
        self._update(index, weight, grad, state, multi_precision=False)

    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Update one weight, or lists of weights of one dtype, through float32 copies if made."""
        first = weight[0] if isinstance(weight, list | tuple) else weight
        half = self.multi_precision and is_half(first)
        self._update(index, weight, grad, state, multi_precision=half)

    def _update(
        self, index: Any, weight: Any, grad: Any, state: Any, *, multi_precision: bool
    ) -> None:
        if not isinstance(index, list | tuple):
            index, weight, grad, state = [index], [weight], [grad], [state]
        lrs, wds = [], []
        # One after the other, so that a scheduler sees the same count in groups of any size.
        for i in index:
            self._update_count(i)
            lrs.append(self._get_lr(i))
            wds.append(self._get_wd(i))
        has_momentum, operator = self._operator(multi_precision)
        arrays: list[NDArray] = []
        for w, g, s in zip(weight, grad, state, strict=True):
            arrays += [w, g]
            parts = s if multi_precision else (s,)
            arrays += [part for part in parts if part is not None]
        operator(
            *arrays,
            out=list(weight),
            lrs=tuple(lrs),
            wds=tuple(wds),
            num_weights=len(lrs),
            rescale_grad=self.rescale_grad,
            clip_gradient=clip_limit(self),
            **({"momentum": self.momentum} if has_momentum else {}),
        )

    def _operator(self, multi_precision: bool) -> tuple[bool, Any]:
        if self.momentum != 0.0:
            return True, nd.multi_mp_sgd_mom_update if multi_precision else nd.multi_sgd_mom_update
        return False, nd.multi_mp_sgd_update if multi_precision else nd.multi_sgd_update


@register
class ccSGD(SGD):  # MXNet's name
    """Another name of `SGD`, for programs of MXNet's first versions."""
