"""LossScaler: dynamic loss scaling, which prevents underflow of 16-bit gradients."""

from collections.abc import Callable, Iterable

from gluonish.autograd import pause
from gluonish.core.context import Context
from gluonish.gluon.parameter import Parameter
from gluonish.ndarray import NDArray
from gluonish.ndarray.sparse import BaseSparseNDArray
from gluonish.ops.registry import apply, find_operator

__all__ = ["LossScaler"]

_START, _LARGEST, _SMALLEST = 2.0**16, 2.0**24, 2.0**-24
_STEPS_TO_GROW = 2000


class LossScaler:
    """Dynamic loss scale, halved if gradients overflow, doubled after 2000 steps without overflow.

    The scale starts at 2**16, and is limited to [2**-24, 2**24].
    """

    def __init__(self) -> None:
        self._loss_scale = _START
        self._next_loss_scale = _START
        self._max_loss_scale = _LARGEST
        self._scale_seq_len = _STEPS_TO_GROW
        self._unskipped = 0

    @property
    def loss_scale(self) -> float:
        """The factor by which the loss of the current step was multiplied."""
        return self._loss_scale

    def has_overflow(
        self, params: Iterable[Parameter], any_of: Callable[[bool], bool] = bool
    ) -> bool:
        """Whether a gradient is infinite or NaN; also sets the scale of the next step.

        Args:
            params: Parameters after a backward pass; those with ``grad_req="null"`` are skipped.
            any_of: Function that combines the results of all processes, for gradients that are not
                yet summed over processes.
        """
        self._loss_scale = self._next_loss_scale
        if any_of(_overflows(params)):
            self._next_loss_scale = max(_SMALLEST, self._loss_scale / 2)
            self._unskipped = 0
            return True
        self._unskipped += 1
        if self._unskipped == self._scale_seq_len:
            self._unskipped = 0
            self._next_loss_scale = min(self._max_loss_scale, self._loss_scale * 2)
        return False


def _overflows(params: Iterable[Parameter]) -> bool:
    """Whether a gradient is infinite or NaN on any device, with one operation per device."""
    gradients: dict[Context, list[NDArray]] = {}
    for param in params:
        if param.grad_req != "null":
            for grad in param.list_grad():
                dense = grad.data if isinstance(grad, BaseSparseNDArray) else grad
                gradients.setdefault(dense.context, []).append(dense)
    finite = find_operator("multi_all_finite")
    with pause():
        found = [
            apply(finite, arrays, {"num_arrays": len(arrays), "init_output": True})
            for arrays in gradients.values()
        ]
    return not all(bool(flag.asscalar()) for flag in found)
