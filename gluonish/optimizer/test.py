"""Test: adds gradients, for tests of what surrounds optimizers."""

from typing import Any

import gluonish.ndarray as nd
from gluonish.ndarray import NDArray
from gluonish.optimizer.base import Index, Optimizer, State, register


@register
class Test(Optimizer):
    """Optimizer for tests: ``weight += rescale_grad * grad; state = weight``.

    It counts no updates; learning rate, weight decay and clipping have no effect. The state is a
    copy of the weight in float32.

    Args:
        **kwargs: Arguments of `Optimizer`.
    """

    __test__ = False  # pytest takes the name for a class of tests

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
            state: What `create_state` returned.
        """
        (weight + grad * self.rescale_grad).copyto(weight)
        state[:] = weight.astype(state.dtype)
