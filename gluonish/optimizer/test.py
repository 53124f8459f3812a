"""Test: adds gradients, for tests of what surrounds optimizers."""

from typing import Any

import gluonish.ndarray as nd
from gluonish.ndarray import NDArray
from gluonish.optimizer.base import Index, Optimizer, State, register

__all__ = ["Test"]


@register
class Test(Optimizer):
    """The weight gains the gradient: ``weight += rescale_grad * grad; state = weight``.

    Nothing is counted, and neither learning rate nor weight decay nor clipping has a part in it.
    The state is a copy of the weight in float32.

    Args:
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.
    """

    __test__ = False  # pytest takes the name for a class of tests

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    def create_state(self, index: Index, weight: NDArray) -> State:
        """Return zeros."""
        return nd.zeros(weight.shape, weight.context)

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Add the gradient to the weight, and copy that into the state."""
        (weight + grad * self.rescale_grad).copyto(weight)
        state[:] = weight.astype(state.dtype)
