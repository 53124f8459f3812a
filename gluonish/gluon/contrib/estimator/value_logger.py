"""ValueLogger: base class of handlers that log a training run for a server or a page."""

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

from gluonish.core.errors import ArgumentTypeError
from gluonish.core.number_check import as_int
from gluonish.gluon.contrib.estimator.events import BatchEnd, EpochEnd, Run, TrainBegin, TrainEnd
from gluonish.gluon.contrib.estimator.utils import is_first_rank
from gluonish.metric import EvalMetric


class ValueLogger(TrainBegin, BatchEnd, EpochEnd, TrainEnd):
    """Logs metrics and the learning rate; a subclass says where.

    The training metrics and the learning rate are logged after every ``log_interval`` batches, and
    all metrics after each epoch; the step of a value is the number of batches so far. Names are
    ``training/loss``, ``validation/loss``, ``average/loss``, ``learning_rate`` and ``epoch``. Of
    several processes the first one writes. The log opens with the first values, so that a run that
    `Estimator.fit` resumes continues the log of the killed one.

    Args:
        log_interval: Number of batches between values within an epoch; None for epochs only.
        priority: Handlers of lower priority are called first.

    Attributes:
        step: Number of batches so far.
        epoch: Number of epochs so far.
    """

    counters = ("step", "epoch", "run_id")

    def __init__(self, log_interval: int | None = 50, priority: float = 900) -> None:
        if log_interval is not None:
            as_int(type(self).__name__, "log_interval", log_interval, 1)
        self.log_interval = log_interval
        self.priority = priority
        self.step = self.epoch = 0
        self.run_id: str | None = None
        self._is_open = False

    def open(self, settings: dict[str, Any]) -> None:
        """Open the log.

        Args:
            settings: The settings of the run: numbers and texts by name.
        """
        raise NotImplementedError

    def write(self, values: dict[str, float], step: int) -> None:
        """Log values.

        Args:
            values: The values by name.
            step: Number of batches so far.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Close the log, which is open."""
        raise NotImplementedError

    def train_begin(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Begin a new log."""
        self.step = self.epoch = 0
        self.run_id = None
        self._is_open = False

    def batch_end(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Log values, if ``log_interval`` batches have passed."""
        self.step += 1
        if self.log_interval is not None and self.step % self.log_interval == 0:
            self._log(estimator, estimator.train_metrics)

    def epoch_end(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Log all values."""
        self.epoch += 1
        metrics = (estimator.train_metrics, estimator.val_metrics, estimator.average_metrics)
        self._log(estimator, [metric for some in metrics for metric in some])

    def train_end(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Close the log."""
        if self._is_open:
            self._is_open = False
            self.close()

    def _log(self, estimator: Run, metrics: list[EvalMetric]) -> None:
        values = values_of(metrics)
        values["learning_rate"] = float(estimator.trainer.learning_rate)
        values["epoch"] = float(self.epoch)
        if not is_first_rank(estimator.trainer):
            return
        if not self._is_open:
            self.open(settings_of(estimator))
            self._is_open = True
        self.write(values, self.step)


def values_of(metrics: list[EvalMetric]) -> dict[str, float]:
    """Return the finite values of metrics by their names, with a slash after the first word."""
    pairs = [pair for metric in metrics for pair in metric.get_name_value()]
    numbers = [(name, float(value)) for name, value in pairs if isinstance(value, Real)]
    return {name.replace(" ", "/", 1): value for name, value in numbers if math.isfinite(value)}


def settings_of(estimator: Run) -> dict[str, Any]:
    """Return the settings of a run: numbers and texts."""
    optimizer = estimator.trainer.optimizer
    found: dict[str, Any] = {
        "network": type(estimator.net).__name__,
        "loss": type(estimator.loss).__name__,
        "optimizer": type(optimizer).__name__,
        "learning_rate": float(estimator.trainer.learning_rate),
        "weight_decay": float(optimizer.wd),
    }
    limits = {"epochs": estimator.max_epoch, "batches": estimator.max_batch}
    return {**found, **{name: value for name, value in limits.items() if value is not None}}


def check_settings(owner: str, settings: Any) -> dict[str, Any]:
    """Check the additional settings of a run, and return them.

    Raises:
        ArgumentTypeError: They are not a dict.
    """
    if settings is not None and not isinstance(settings, Mapping):
        raise ArgumentTypeError(f"{owner}: expected a dict of settings, got {settings!r:.80}")
    return dict(settings or {})
