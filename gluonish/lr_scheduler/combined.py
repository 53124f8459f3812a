"""Schedules made of others, one after the other or multiplied."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import prod
from typing import Any

from gluonish.core.call_errors import explained
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.lr_scheduler.scheduler import LRScheduler

_Schedule = LRScheduler | Callable[[int], float]


def _check_schedulers(name: str, schedulers: Any) -> None:
    if not isinstance(schedulers, list | tuple) or not all(map(callable, schedulers)):
        raise ArgumentTypeError(f"{name}: expected a list of LRSchedulers, got {schedulers!r}")
    if not schedulers:
        raise ArgumentError(f"{name}: expected one LRScheduler or more, got none")


class SequentialScheduler(LRScheduler):
    """Use several schedules one after the other; each counts updates from its own begin.

    An optimizer's ``learning_rate`` does not change the rates.

    Args:
        schedulers: The schedules: `LRScheduler` objects or functions of the number of updates.
        milestones: Increasing numbers of updates at which the second and later schedules begin.

    Raises:
        ArgumentError: There is not one schedule more than milestones, or these do not increase.
        ArgumentTypeError: A schedule cannot be called, or a milestone is not an int.

    Example:
        >>> import gluonish as mx
        >>> rise = lambda count: 0.1 * count
        >>> fall = mx.lr_scheduler.ExponentialScheduler(0.5, base_lr=1.0)
        >>> schedule = mx.lr_scheduler.SequentialScheduler([rise, fall], milestones=[10])
        >>> [schedule(5), schedule(10), schedule(11)]
        [0.5, 1.0, 0.5]
    """

    @explained
    def __init__(self, schedulers: Sequence[_Schedule], milestones: Sequence[int]) -> None:
        name = "SequentialScheduler"
        _check_schedulers(name, schedulers)
        if not all(isinstance(step, int) for step in milestones):
            raise ArgumentTypeError(f"{name}: expected milestones of ints, got {milestones!r}")
        if len(milestones) != len(schedulers) - 1 or any(b <= a for a, b in pairwise(milestones)):
            raise ArgumentError(
                f"{name}: expected {len(schedulers) - 1} increasing milestones for "
                f"{len(schedulers)} schedulers, got {milestones!r}"
            )
        super().__init__(getattr(schedulers[0], "base_lr", 0.01))
        self.base_lr_orig = self.base_lr
        self.schedulers = list(schedulers)
        self.milestones = list(milestones)

    def __call__(self, num_update: int) -> float:
        """Return the learning rate.

        Args:
            num_update: Number of updates so far, the maximum over all weights.
        """
        number = bisect_right(self.milestones, num_update)
        begin = self.milestones[number - 1] if number else 0
        return self.schedulers[number](num_update - begin)


class ChainedScheduler(LRScheduler):
    """Multiply ``base_lr`` by the factors of several schedules, all of which count from 0.

    The factor of a schedule is its rate divided by its ``base_lr``.

    Args:
        schedulers: The schedules.
        base_lr: Learning rate that the factors apply to; None for that of the first schedule.

    Raises:
        ArgumentError: There are no schedules, or the ``base_lr`` of one is 0.
        ArgumentTypeError: A schedule is not an `LRScheduler`.

    Example:
        >>> import gluonish as mx
        >>> halves = mx.lr_scheduler.ExponentialScheduler(0.5, base_lr=1.0)
        >>> linear = mx.lr_scheduler.LinearScheduler(4, base_lr=1.0)
        >>> schedule = mx.lr_scheduler.ChainedScheduler([halves, linear])
        >>> [schedule(0), schedule(1), schedule(2)]
        [1.0, 0.375, 0.125]
    """

    @explained
    def __init__(self, schedulers: Sequence[LRScheduler], base_lr: float | None = None) -> None:
        name = "ChainedScheduler"
        _check_schedulers(name, schedulers)
        for schedule in schedulers:
            if not isinstance(schedule, LRScheduler):
                raise ArgumentTypeError(f"{name}: expected LRSchedulers, got {schedule!r}")
            if not schedule.base_lr:
                raise ArgumentError(f"{name}: expected a base_lr other than 0, got {schedule!r}")
        super().__init__(schedulers[0].base_lr if base_lr is None else base_lr)
        self.schedulers = list(schedulers)
        self.initial_rates = [schedule.base_lr for schedule in schedulers]

    def __call__(self, num_update: int) -> float:
        """Return the learning rate.

        Args:
            num_update: Number of updates so far, the maximum over all weights.
        """
        pairs = zip(self.schedulers, self.initial_rates, strict=True)
        return self.base_lr * prod(schedule(num_update) / initial for schedule, initial in pairs)
