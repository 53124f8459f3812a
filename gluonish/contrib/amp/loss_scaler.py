"""LossScaler: the factor on a loss that keeps gradients of half precision from vanishing."""

from collections.abc import Iterable

import numpy as np

from gluonish.parameter import Parameter

__all__ = ["LossScaler"]

_START, _LARGEST = 2.0**16, 2.0**24
_STEPS_TO_GROW = 2000


class LossScaler:
    """A factor that halves when gradients overflow, and doubles after 2000 steps without that."""

    def __init__(self) -> None:
        self._loss_scale = _START
        self._next_loss_scale = _START
        self._max_loss_scale = _LARGEST
        self._scale_seq_len = _STEPS_TO_GROW
        self._unskipped = 0

    @property
    def loss_scale(self) -> float:
        """The factor that the loss of this step was multiplied by."""
        return self._loss_scale

    def has_overflow(self, params: Iterable[Parameter]) -> bool:
        """Return whether a gradient is infinite or not a number, and set the next step's factor.

        Args:
            params: Parameters after a backward pass; those with ``grad_req`` null are left out.
        """
        self._loss_scale = self._next_loss_scale
        overflow = any(
            not np.isfinite(grad.asnumpy().astype(np.float32)).all()
            for param in params
            if param.grad_req != "null"
            for grad in param.list_grad()
        )
        if overflow:
            self._next_loss_scale = self._loss_scale / 2
            self._unskipped = 0
            return True
        self._unskipped += 1
        if self._unskipped == self._scale_seq_len:
            self._unskipped = 0
            self._next_loss_scale = min(self._max_loss_scale, self._loss_scale * 2)
        return False
