"""Optimizers of MXNet's module ``optimizer.contrib``: GroupAdaGrad."""

from typing import Any

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError
from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.core.number_check import check_numbers
from gluonish.ndarray import NDArray
from gluonish.optimizer.arguments import given, ordered2
from gluonish.optimizer.base import Index, Optimizer, State, clip_limit, register

__all__ = ["GroupAdaGrad"]


@register
class GroupAdaGrad(Optimizer):
    """AdaGrad with one sum for each row of a weight, for embeddings.

    With ``g = clip(rescale_grad * grad)``: ``h += mean(g * g, axis=1)`` and
    ``weight -= lr * g / sqrt(h + eps)``, by the rules of MXNet 2.0
    ``weight -= lr * g / (sqrt(h) + eps)``.

    The state is ``h``, of shape (N, 1). A row-sparse gradient updates only the rows it contains.

    Args:
        eps: Small constant added to the denominator to avoid division by zero; None for 1e-5, by
            the rules of MXNet 2.0 for 1e-6.
        epsilon: ``eps`` under the name it has in MXNet 2.0.
        **kwargs: Arguments of `Optimizer`, without weight decay.
    """

    _default_rate2 = 0.01

    @ordered2("learning_rate", "epsilon", "use_fused_step")
    def __init__(
        self, eps: float | None = None, epsilon: float | None = None, **kwargs: Any
    ) -> None:
        added: float = given(eps, 1e-5, 1e-6) if epsilon is None else epsilon
        super().__init__(**kwargs)
        check_numbers(type(self).__name__, eps=added)
        self.float_stable_eps = added

    def create_state(self, index: Index, weight: NDArray) -> State:
        """Return one zero per row, to accumulate squared gradients.

        Args:
            index: Index or name of the weight.
            weight: The weight, of two axes or more.

        Raises:
            ArgumentError: The weight has no rows.
        """
        if not weight.shape:
            raise ArgumentError("GroupAdaGrad: expected a weight with rows (N, ..), got shape ()")
        return nd.zeros((weight.shape[0], 1), weight.context, weight.dtype, weight.stype)

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Update a weight and its state in place, or each of a list.

        Args:
            index: Index or name of the weight.
            weight: The weight (N, ..).
            grad: Its gradient.
            state: Its state from `create_state`.

        Raises:
            ArgumentError: The weight has weight decay.
        """
        if isinstance(index, list | tuple):
            for item in zip(index, weight, grad, state, strict=True):
                self.update(*item)
            return
        self._update_count(index)
        lr, wd = self._get_lr(index), self._get_wd(index)
        if wd != 0:
            raise ArgumentError(f"GroupAdaGrad: expected wd 0, got {wd} for weight {index}")
        if follows_mxnet2() and grad.stype == weight.stype == "default":
            self._update2(weight, grad, state, lr)
            return
        nd.contrib.group_adagrad_update(
            weight,
            grad,
            state,
            out=weight,
            lr=lr,
            rescale_grad=self.rescale_grad,
            clip_gradient=clip_limit(self),
            epsilon=self.float_stable_eps,
        )

    def _update2(self, weight: NDArray, grad: NDArray, history: NDArray, lr: float) -> None:
        """Update a dense weight by the formula of MXNet 2.0."""
        weight, grad = weight.as_nd_ndarray(), grad.as_nd_ndarray() * self.rescale_grad
        if self.clip_gradient is not None:
            grad = nd.clip(grad, -self.clip_gradient, self.clip_gradient)
        axes = tuple(range(1, grad.ndim))
        mean = (grad * grad).mean(axis=axes) if axes else grad * grad
        history += mean.reshape((-1, 1))
        scale = (nd.sqrt(history) + self.float_stable_eps).reshape((-1, *[1] * len(axes)))
        weight -= lr * grad / scale
