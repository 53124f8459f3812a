"""Schedulers that multiply the learning rate by a factor now and then."""

import logging
from collections.abc import Sequence
from itertools import pairwise

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.number_check import check_numbers
from gluonish.lr_scheduler.scheduler import LRScheduler

__all__ = ["FactorScheduler", "MultiFactorScheduler"]

_logger = logging.getLogger(__name__)


class FactorScheduler(LRScheduler):
    """Multiply the learning rate by ``factor`` every ``step`` updates.

    Args:
        step: Number of updates between two changes, 1 or more.
        factor: Factor of each change, at most 1.
        stop_factor_lr: Lower limit of the learning rate.
        base_lr: Learning rate to start from.
        warmup_steps: As in `LRScheduler`.
        warmup_begin_lr: As in `LRScheduler`.
        warmup_mode: As in `LRScheduler`.

    Raises:
        ArgumentError: ``step`` is below 1, or ``factor`` above 1.

    Example:
        >>> import gluonish as mx
        >>> schedule = mx.lr_scheduler.FactorScheduler(step=100, factor=0.5, base_lr=1.0)
        >>> [schedule(100), schedule(101), schedule(201)]
        [1.0, 0.5, 0.25]
    """

    def __init__(
        self,
        step: int,
        factor: float = 1,
        stop_factor_lr: float = 1e-8,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        check_numbers("FactorScheduler", step=step, stop_factor_lr=stop_factor_lr)
        if step < 1:
            raise ArgumentError(f"FactorScheduler: expected step of 1 or more, got {step}")
        _check_factor("FactorScheduler", factor)
        self.step = step
        self.factor = factor
        self.stop_factor_lr = stop_factor_lr
        self.count = 0

    def __call__(self, num_update: int) -> float:
        """Return the learning rate, which never rises again even if ``num_update`` goes back.

        Args:
            num_update: Number of updates so far: the largest over all weights.
        """
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        while num_update > self.count + self.step:
            self.count += self.step
            self.base_lr = max(self.base_lr * self.factor, self.stop_factor_lr)
            _logger.info("Update[%d]: learning rate is now %.5e", num_update, self.base_lr)
        return self.base_lr


class MultiFactorScheduler(LRScheduler):
    """Multiply the learning rate by ``factor`` after given numbers of updates.

    Args:
        step: Increasing list of numbers of updates, each 1 or more; the rate changes after each.
        factor: Factor applied at each change, at most 1.
        base_lr: Learning rate to start from.
        warmup_steps: As in `LRScheduler`.
        warmup_begin_lr: As in `LRScheduler`.
        warmup_mode: As in `LRScheduler`.

    Raises:
        ArgumentError: ``step`` is empty or does not increase, or ``factor`` is above 1.
        ArgumentTypeError: ``step`` is not a list.
    """

    def __init__(
        self,
        step: Sequence[int],
        factor: float = 1,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if not isinstance(step, list):
            raise ArgumentTypeError(f"MultiFactorScheduler: expected a list step, got {step!r}")
        check_numbers("MultiFactorScheduler", **{f"step[{i}]": x for i, x in enumerate(step)})
        if not step or step[0] < 1 or any(b <= a for a, b in pairwise(step)):
            raise ArgumentError(
                f"MultiFactorScheduler: expected increasing steps of 1 or more, got {step}"
            )
        _check_factor("MultiFactorScheduler", factor)
        self.step = step
        self.cur_step_ind = 0
        self.factor = factor
        self.count = 0

    def __call__(self, num_update: int) -> float:
        """Return the learning rate, which never rises again even if ``num_update`` goes back.

        Args:
            num_update: Number of updates so far: the largest over all weights.
        """
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        while self.cur_step_ind < len(self.step) and num_update > self.step[self.cur_step_ind]:
            self.count = self.step[self.cur_step_ind]
            self.cur_step_ind += 1
            self.base_lr *= self.factor
            _logger.info("Update[%d]: learning rate is now %.5e", num_update, self.base_lr)
        return self.base_lr


def _check_factor(name: str, factor: float) -> None:
    """Refuse a factor that would raise the learning rate."""
    check_numbers(name, factor=factor)
    if factor > 1.0:
        raise ArgumentError(f"{name}: expected a factor of 1 at most, got {factor}")
