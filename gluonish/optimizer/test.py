"""Test: an optimizer that adds gradients, for tests."""

from typing import Any

import gluonish.ndarray as nd
from gluonish.ndarray import NDArray
from gluonish.optimizer.base import Index, Optimizer, State, register


@register
class Test(Optimizer):
    """Optimizer for tests: ``weight += rescale_grad * grad; state = weight``.

    Updates are not counted; learning rate, weight decay and clipping have no effect. The state is a
    float32 copy of the weight.

    Args:
        **kwargs: Arguments of `Optimizer`.
    """

    __test__ = False  # not a test class of pytest

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    def create_state(self, index: Index, weight: NDArray) -> State:
        """Return zeros of the weight's shape.

        Args:
            index: Index or name of the weight.
            weight: The weight.
        """
        return nd.zeros(weight.shape, weight.context)

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Add the rescaled gradient to the weight, and copy the weight to the state.

        Args:
            index: Index or name of the weight.
            weight: The weight.
            grad: Its gradient.
            state: Its state from `create_state`.
        """
        (weight + grad * self.rescale_grad).copyto(weight)
        state[:] = weight.astype(state.dtype)
