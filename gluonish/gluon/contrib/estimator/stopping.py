"""Handlers that end a training run: StoppingHandler and EarlyStoppingHandler."""

import math
import warnings
from typing import Any

from gluonish.gluon.contrib.estimator.comparison import Comparison, check_monitor, comparison, worst
from gluonish.gluon.contrib.estimator.events import BatchEnd, EpochEnd, Run, TrainBegin, TrainEnd
from gluonish.metric import EvalMetric

__all__ = ["EarlyStoppingHandler", "StoppingHandler"]


class StoppingHandler(TrainBegin, BatchEnd, EpochEnd):
    """Stops training after a number of epochs or batches.

    An Estimator has one by default; arguments of `Estimator.fit` replace both limits.

    Args:
        max_epoch: Maximum number of epochs, or None.
        max_batch: Maximum number of batches over all epochs, or None.
    """

    def __init__(self, max_epoch: int | None = None, max_batch: int | None = None) -> None:
        self.max_epoch = max_epoch
        self.max_batch = max_batch
        self.current_batch = 0
        self.current_epoch = 0
        self.stop_training = False

    def train_begin(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Reset the counters, and take the limits from the Estimator.

        Args:
            estimator: The Estimator that trains.
            *args: Not used.
            **kwargs: Not used.
        """
        self.max_epoch = estimator.max_epoch
        self.max_batch = estimator.max_batch
        self.current_batch = 0
        self.current_epoch = 0
        self.stop_training = False

    def batch_end(self, estimator: Run, *args: Any, **kwargs: Any) -> bool:
        """Count a batch.

        Args:
            estimator: The Estimator that trains.
            *args: Not used.
            **kwargs: Not used.

        Returns:
            True if it was the last one, which ends the training.
        """
        self.current_batch += 1
        if self.current_batch == self.max_batch:
            self.stop_training = True
        return self.stop_training

    def epoch_end(self, estimator: Run, *args: Any, **kwargs: Any) -> bool:
        """Count an epoch.

        Args:
            estimator: The Estimator that trains.
            *args: Not used.
            **kwargs: Not used.

        Returns:
            True if it was the last one, which ends the training.
        """
        self.current_epoch += 1
        if self.current_epoch == self.max_epoch:
            self.stop_training = True
        return self.stop_training


class EarlyStoppingHandler(TrainBegin, EpochEnd, TrainEnd):
    """Stops training when a metric no longer improves from epoch to epoch.

    Args:
        monitor: One of the Estimator's metrics; not a composite one.
        min_delta: Smallest change from the best value that counts as an improvement.
        patience: Number of epochs without improvement after which training stops; 0 acts as 1.
        mode: ``"max"`` if higher is better, ``"min"`` if lower is. ``"auto"`` means ``"max"`` for
            every metric, with a warning: pass ``"min"`` for a loss.
        baseline: Value that the metric must improve on first; None for any.

    Raises:
        ArgumentError: ``monitor`` is not a single metric.
    """

    best: float

    def __init__(
        self,
        monitor: EvalMetric,
        min_delta: float = 0,
        patience: int = 0,
        mode: str = "auto",
        baseline: float | None = None,
    ) -> None:
        self.monitor = check_monitor("EarlyStoppingHandler", monitor)
        self.baseline = baseline
        self.patience = patience
        self.monitor_op: Comparison = comparison("EarlyStoppingHandler", monitor, mode)
        self.min_delta = -min_delta if mode == "min" else min_delta
        self.wait = 0
        self.stopped_epoch = 0
        self.current_epoch = 0
        self.stop_training = False

    def train_begin(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Reset the best value and the count of epochs.

        Args:
            estimator: The Estimator that trains.
            *args: Not used.
            **kwargs: Not used.
        """
        self.wait = 0
        self.stopped_epoch = 0
        self.current_epoch = 0
        self.stop_training = False
        self.best = worst(self.monitor_op) if self.baseline is None else self.baseline

    def epoch_end(self, estimator: Run, *args: Any, **kwargs: Any) -> bool:
        """Compare the metric with the best epoch so far.

        Args:
            estimator: The Estimator that trains.
            *args: Not used.
            **kwargs: Not used.

        Returns:
            True to end the training.
        """
        name, value = self.monitor.get()
        if math.isnan(value):
            warnings.warn(
                f"EarlyStoppingHandler: expected a value of {name}, got NaN; monitor one of "
                "estimator.train_metrics or estimator.val_metrics",
                RuntimeWarning,
                stacklevel=2,
            )
        elif self.monitor_op(value - self.min_delta, self.best):
            self.best = value
            self.wait = 0
        else:
            self.wait += 1
            if self.wait >= self.patience:
                self.stopped_epoch = self.current_epoch
                self.stop_training = True
        self.current_epoch += 1
        return self.stop_training

    def train_end(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Log the reason, if this handler stopped the training.

        Args:
            estimator: The Estimator that trains.
            *args: Not used.
            **kwargs: Not used.
        """
        if self.stop_training:
            name, _ = self.monitor.get()
            estimator.logger.info(
                f"[Epoch {self.stopped_epoch}] EarlyStoppingHandler: early stopping due to {name} "
                "not improving"
            )
