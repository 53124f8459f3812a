"""ScheduleHandler: the learning rate of `Estimator.fit` follows a schedule."""

import math
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from numbers import Real
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.gluon.contrib.estimator.events import EpochBegin, EpochEnd, Run
from gluonish.gluon.trainer import Trainer
from gluonish.lr_scheduler import LRScheduler, ReduceLROnPlateau
from gluonish.metric import EvalMetric

Schedule = LRScheduler | Callable[[int], float]


class ScheduleHandler(EpochBegin, EpochEnd):
    """Sets the learning rate of a Trainer for each update or each epoch.

    `Estimator.fit` makes one of its argument ``schedule``.

    Args:
        schedule: The schedule, a function of the number of updates, or of epochs from 0.
        interval: ``"update"`` or ``"epoch"``. A `ReduceLROnPlateau` learns the metric after each
            epoch in both cases.
        monitor: The metric for a `ReduceLROnPlateau`.
        priority: Handlers of lower priority are called first.
    """

    def __init__(
        self,
        schedule: Schedule,
        interval: str = "update",
        monitor: EvalMetric | None = None,
        priority: float = -500,
    ) -> None:
        self.schedule = schedule
        self.interval = interval
        self.monitor = monitor
        self.priority = priority
        self.current_epoch = 0

    def applied(self, trainer: Trainer) -> ExitStack:
        """Return a scope in which the Trainer follows the schedule instead of its own."""
        optimizer, stack = trainer.optimizer, ExitStack()
        self.current_epoch = 0
        before = optimizer.lr_scheduler, optimizer.lr

        def restore() -> None:
            trainer.optimizer.lr_scheduler, trainer.optimizer.lr = before

        stack.callback(restore)
        self.attach(trainer)
        return stack

    def attach(self, trainer: Trainer) -> None:
        """Let the Trainer's present optimizer follow the schedule."""
        per_update = self.interval == "update" or isinstance(self.schedule, ReduceLROnPlateau)
        of_updates = self.schedule if isinstance(self.schedule, LRScheduler) else self._rate
        trainer.optimizer.lr_scheduler = of_updates if per_update else None
        if not per_update:
            trainer.optimizer.lr = self._rate(self.current_epoch)

    def _rate(self, count: int) -> float:
        """Return the learning rate after a number of updates or epochs.

        Raises:
            ArgumentError: The schedule returns something else.
        """
        rate: Any = self.schedule(count)
        if not isinstance(rate, Real) or not 0 <= float(rate) < math.inf:
            raise ArgumentError(
                "Estimator.fit: expected schedule to return a finite number of 0 or more, got "
                f"{rate!r} for {self.interval} {count}"
            )
        return float(rate)

    def epoch_begin(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Set the learning rate of the epoch."""
        if self.interval == "epoch":
            self.attach(estimator.trainer)

    def epoch_end(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Count the epoch, and pass the metric to a `ReduceLROnPlateau`."""
        self.current_epoch += 1
        if isinstance(self.schedule, ReduceLROnPlateau) and self.monitor is not None:
            self.schedule.step(self.monitor.get()[1])

    def state_dict(self) -> dict[str, Any]:
        """Return the number of the epoch, and the state of the schedule."""
        schedule = self.schedule
        state = schedule.state_dict() if isinstance(schedule, LRScheduler) else {}
        return {"current_epoch": self.current_epoch, "schedule": state}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a result of `state_dict`."""
        self.current_epoch = state["current_epoch"]
        if isinstance(self.schedule, LRScheduler):
            self.schedule.load_state_dict(state["schedule"])
