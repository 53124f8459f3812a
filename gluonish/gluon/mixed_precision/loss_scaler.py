"""LossScaler: dynamic loss scaling, which prevents underflow of 16-bit gradients.

On a GPU the loss scale is in device memory, from the first step on that can be skipped there
(`gluonish.optimizer.skipped_steps`) until a program asks for the scaler's numbers or calls
`LossScaler.has_overflow`.
"""

from collections.abc import Callable, Iterable
from math import frexp
from typing import Any

import numpy as np

from gluonish.autograd import pause
from gluonish.core.config import GLUONISH_DEVICE_LOSS_SCALE
from gluonish.core.context import Context
from gluonish.core.object_repr import object_repr
from gluonish.gluon.parameter import Parameter
from gluonish.gluon.trainer.trainables import Selection
from gluonish.kernels.loss_scale import Divides, Limits, State
from gluonish.ndarray import NDArray
from gluonish.ndarray.sparse import BaseSparseNDArray
from gluonish.numpy import ndarray
from gluonish.ops.registry import apply, find_operator
from gluonish.optimizer import Updater
from gluonish.optimizer.skipped_steps import Numbers, SkippedSteps

__all__ = ["LossScaler"]

_START, _LARGEST, _SMALLEST = 2.0**16, 2.0**24, 2.0**-24
_STEPS_TO_GROW = 2000
_EXACT = 1 << 24  # integers of float32


class LossScaler:
    """Dynamic loss scale, halved if gradients overflow, doubled after 2000 steps without overflow.

    The scale starts at 2**16, and is limited to [2**-24, 2**24].
    """

    def __init__(self) -> None:
        self._steps: SkippedSteps | None = None  # on the device
        self._numbers = Numbers(_START, _START, 0)
        self._max_loss_scale = _LARGEST
        self._scale_seq_len = _STEPS_TO_GROW
        self._divisor = 1.0
        self._is_new = False  # whether a loss was multiplied since the last step

    def __repr__(self) -> str:
        # While steps are counted on the device, the number would have to be waited for.
        known = self._steps is None
        return object_repr(self, loss_scale=self._numbers.loss_scale if known else "on the device")

    @property
    def loss_scale(self) -> float:
        """The factor by which the loss of the current step was multiplied.

        On a GPU, reading it waits for the steps before.
        """
        if self._steps is None:
            return self._numbers.loss_scale
        with pause():
            return float(self._steps.scale.asscalar())

    def has_overflow(
        self, params: Iterable[Parameter], any_of: Callable[[bool], bool] = bool
    ) -> bool:
        """Whether a gradient is infinite or NaN; also sets the scale of the next step.

        Args:
            params: Parameters after a backward pass; those with ``grad_req="null"`` are skipped.
            any_of: Function that combines the results of all processes, for gradients that are not
                yet summed over processes.
        """
        _, scale, clean = self._leave()
        if any_of(_overflows(params)):
            self._numbers = Numbers(scale, max(_SMALLEST, scale / 2), 0)
            return True
        clean += 1
        grows = clean == self._scale_seq_len
        following = min(self._max_loss_scale, scale * 2) if grows else scale
        self._numbers = Numbers(scale, following, 0 if grows else clean)
        return False

    def begin_on_device(
        self, updater: Updater, selection: Selection, divides: bool
    ) -> SkippedSteps | None:
        """Begin a step that the device skips if a gradient is infinite or NaN.

        Args:
            updater: The updater of the only device.
            selection: The parameters to update.
            divides: Whether gradients are multiplied by `scaled`'s factor.

        Returns:
            The steps, whose `end` the caller calls; None if the host has to skip the step.
        """
        gradients = selection.gradients[0]
        if type(self) is not LossScaler:  # a subclass decides on the host
            return None
        if not GLUONISH_DEVICE_LOSS_SCALE.value or gradients[0].context.device_type != "gpu":
            return None
        updates = updater.gated_updates(selection.indices, gradients, selection.weights[0])
        if updates is None or not self._is_exact():
            return None
        steps = self._attached(updater, gradients[0].context)
        how = Divides.BY_SCALE if self._is_new else Divides.AS_BEFORE
        self._is_new = False
        limits = Limits(self._scale_seq_len, self._max_loss_scale, _SMALLEST)
        steps.begin(updates, how if divides else Divides.NOT, limits)
        return steps

    def scaled(self, loss: NDArray) -> NDArray:
        """Return the loss multiplied by the loss scale, without waiting for it."""
        steps = self._steps
        self._is_new = True
        if steps is None or loss.context != steps.context:
            own: NDArray = loss * self.loss_scale
            return own
        return multiplied(loss, steps.scale)

    @property
    def is_on_device(self) -> bool:
        """Whether the loss scale is in device memory."""
        return self._steps is not None

    @property
    def divisor(self) -> float:
        """The scale of the last loss that was multiplied on the device; waits for the steps."""
        if self._steps is not None:
            with pause():
                divisor = self.device_divisor.asscalar()
            return float(divisor)
        return self._divisor

    @property
    def device_divisor(self) -> NDArray:
        """The divisor as an array (1,) on the device."""
        assert self._steps is not None
        if self._is_new:
            return self._steps.scale
        return self._steps.state[State.DIVISOR : State.DIVISOR + 1]

    def _is_exact(self) -> bool:
        """Whether float32 on the device has the same numbers as the host."""
        scales = (*self._numbers[:2], self._max_loss_scale)
        return self._scale_seq_len < _EXACT and all(frexp(scale)[0] == 0.5 for scale in scales)

    def _attached(self, updater: Updater, context: Context) -> SkippedSteps:
        """Return the steps of the updater's optimizer, begun if there are none."""
        optimizer: Any = updater.optimizer
        steps = self._steps
        if steps is None or optimizer._steps is not steps or steps.context != context:
            numbers = self._leave()
            if optimizer._steps is not None:  # of another scaler
                optimizer._steps.leave()
            optimizer._set_current_context(context.device_id)
            steps = self._steps = SkippedSteps(optimizer, context, numbers, self._divisor)
        return steps

    def _leave(self) -> Numbers:
        """Return the numbers, and go on with them on the host."""
        if self._steps is not None:
            self._divisor, self._is_new = self.divisor, False
            self._numbers, self._steps = self._steps.leave(), None
        return self._numbers

    # Under the names that programs for MXNet use.
    @property
    def _loss_scale(self) -> float:
        return self._leave().loss_scale

    @_loss_scale.setter
    def _loss_scale(self, value: float) -> None:
        self._numbers = self._leave()._replace(loss_scale=value)

    @property
    def _next_loss_scale(self) -> float:
        return self._leave().next_loss_scale

    @_next_loss_scale.setter
    def _next_loss_scale(self, value: float) -> None:
        self._numbers = self._leave()._replace(next_loss_scale=value)

    @property
    def _unskipped(self) -> int:
        return self._leave().clean

    @_unskipped.setter
    def _unskipped(self, value: int) -> None:
        self._numbers = self._leave()._replace(clean=value)

    def __getstate__(self) -> dict[str, Any]:
        """Return the numbers, without arrays on a device."""
        self._leave()
        return dict(vars(self))


def multiplied(array: NDArray, factor: NDArray) -> NDArray:
    """Return an array times a float32 factor (1,) on its device, with the bits of a number's."""
    with pause():
        factor = factor.astype("float64") if array.dtype == np.float64 else factor
        factor = factor.reshape((1,) * array.ndim)
        factor = factor.as_np_ndarray() if isinstance(array, ndarray) else factor
    wide = array if array.dtype in (np.float32, np.float64) else array.astype("float32")
    product: NDArray = wide * factor
    return product if wide is array else product.astype(array.dtype)


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
