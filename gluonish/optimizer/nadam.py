"""Nadam: Adam with Nesterov momentum."""

from collections.abc import Mapping, Sequence
from typing import Any

from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.core.number_check import check_numbers
from gluonish.ndarray import NDArray
from gluonish.ops.updates.adaptive import NADAM
from gluonish.ops.updates.rules import Rule
from gluonish.ops.updates.rules2 import NADAM2
from gluonish.optimizer.adam import MomentsOptimizer, bias_divisor
from gluonish.optimizer.base import Index, State, register, zeros_like
from gluonish.optimizer.settled import Settled
from gluonish.optimizer.weight_update import Column

__all__ = ["Nadam"]


@register
class Nadam(MomentsOptimizer):
    """Nadam: Adam with Nesterov momentum.

    With ``g = clip(rescale_grad * grad + wd * weight)``, t the number of the update and
    ``mu(t) = beta1 * (1 - 0.5 * 0.96 ** (t * schedule_decay))``:
    ``m = beta1 * m + (1 - beta1) * g``, ``v = beta2 * v + (1 - beta2) * g * g``,
    ``P *= mu(t)``, ``b = (1 - mu(t)) * g / (1 - P) + mu(t + 1) * m / (1 - P * mu(t + 1))`` and
    ``weight -= lr * b / (sqrt(v / (1 - beta2 ** t)) + epsilon)``. By the rules of MXNet 2.0 weight
    decay is added after clipping.

    The state is ``(m, v)``. P is a single number, ``m_schedule``, multiplied in the update of each
    weight in order, as in MXNet 1.9 but not in the paper. Each device has a separate P; in MXNet
    devices share one, so that their copies of a weight diverge.

    Args:
        learning_rate: Learning rate; with a scheduler, it replaces the scheduler's ``base_lr``.
        beta1: Decay rate of the running mean of gradients.
        beta2: Decay rate of the running mean of squared gradients.
        epsilon: Small constant added to the denominator to avoid division by zero.
        schedule_decay: Decay rate of the momentum schedule: how fast mu approaches beta1.
        **kwargs: Further arguments of `Optimizer`, such as ``wd`` and ``lr_scheduler``.

    Attributes:
        m_schedule: P of the current device.

    References:
        T. Dozat, "Incorporating Nesterov Momentum into Adam", 2016.
    """

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        schedule_decay: float = 0.004,
        **kwargs: Any,
    ) -> None:
        super().__init__(beta1, beta2, epsilon, learning_rate=learning_rate, **kwargs)
        check_numbers(type(self).__name__, schedule_decay=schedule_decay)
        self.schedule_decay = schedule_decay
        self.m_schedule = 1.0
        self._start_devices()

    step_state = (*MomentsOptimizer.step_state, "m_schedule")
    m_schedule = Settled[float]()

    def _start_devices(self) -> None:
        self._device = 0
        # P of the other devices, and of new ones.
        self._schedules: dict[int, float] = {}
        self._initial = 1.0

    def __getstate__(self) -> dict[str, Any]:
        """Return the base class's state; with one device only the attributes that MXNet has."""
        state = super().__getstate__()
        del state["_initial"]
        if not self._schedules:
            del state["_device"], state["_schedules"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._start_devices()
        super().__setstate__(state)

    def _set_current_context(self, device_id: int) -> None:
        """Switch to the counts and P of another device."""
        super()._set_current_context(device_id)
        if device_id != self._device:
            self._schedules[self._device] = self.m_schedule
            self.m_schedule = self._schedules.get(device_id, self._initial)
            self._device = device_id

    def _progress(self) -> dict[str, Any]:
        """Return the base class's progress, with the smallest P: each update decreases P."""
        least = min(self.m_schedule, *self._schedules.values(), self._initial)
        return super()._progress() | {"m_schedule": least}

    def _resume(self, progress: Mapping[str, Any]) -> None:
        super()._resume(progress)
        self._initial = self.m_schedule = progress.get("m_schedule", self.m_schedule)
        self._schedules = {}

    def create_state(self, index: Index, weight: NDArray) -> State:
        """Return zeros for the running means of the gradient and of its square.

        Args:
            index: Index or name of the weight.
            weight: The weight.
        """
        return tuple(zeros_like(weight, dense=True) for _ in range(2))

    in_order = True

    def _rule(self) -> Rule:
        return NADAM2 if follows_mxnet2() else NADAM

    def _columns(
        self, indices: Sequence[Index], lrs: Column, wds: Column, counts: Column
    ) -> tuple[Column, ...]:
        current, nesterov = [], []
        for t in counts if isinstance(counts, Sequence) else [counts] * len(indices):
            mu, next_mu = self._momentum(t), self._momentum(t + 1)
            self.m_schedule *= mu
            current.append((1.0 - mu) / (1.0 - self.m_schedule))
            nesterov.append(next_mu / (1.0 - self.m_schedule * next_mu))
        return lrs, wds, current, nesterov, bias_divisor(self.beta2, counts)

    def _momentum(self, t: float) -> float:
        momentum: float = self.beta1 * (1.0 - 0.5 * 0.96 ** (t * self.schedule_decay))
        return momentum
