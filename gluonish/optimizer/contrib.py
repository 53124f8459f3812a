"""Optimizers of MXNet's module ``optimizer.contrib``: GroupAdaGrad."""

from typing import Any

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError
from gluonish.core.number_check import check_numbers
from gluonish.ndarray import NDArray
from gluonish.optimizer.base import Index, Optimizer, State, clip_limit, register

__all__ = ["GroupAdaGrad"]


@register
class GroupAdaGrad(Optimizer):
    """AdaGrad with one sum for each row of a weight, for embeddings.

    With ``g = clip(rescale_grad * grad)``: ``h += mean(g * g, axis=1)`` and
    ``weight -= lr * g / sqrt(h + eps)``.

    The state is ``h``, of shape (N, 1). A row-sparse gradient updates only the rows it contains.

    Args:
        eps: Small constant added to the denominator to avoid division by zero.
        epsilon: ``eps`` under the name it has in MXNet 2.0.
        **kwargs: Arguments of `Optimizer`, without weight decay.
    """

    def __init__(self, eps: float = 1e-5, epsilon: float | None = None, **kwargs: Any) -> None:
        eps = eps if epsilon is None else epsilon
        super().__init__(**kwargs)
        check_numbers(type(self).__name__, eps=eps)
        self.float_stable_eps = eps

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
        """Update a weight and its state in place.

        Args:
            index: Index or name of the weight.
            weight: The weight (N, ..).
            grad: Its gradient.
            state: Its state from `create_state`.

        Raises:
            ArgumentError: The weight has weight decay.
        """
        self._update_count(index)
        lr, wd = self._get_lr(index), self._get_wd(index)
        if wd != 0:
            raise ArgumentError(f"GroupAdaGrad: expected wd 0, got {wd} for weight {index}")
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
