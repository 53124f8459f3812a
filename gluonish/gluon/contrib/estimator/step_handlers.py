"""Handlers of metrics, validation, gradient updates and stopping."""

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.gluon.contrib.estimator.events import (
    BatchEnd,
    EpochBegin,
    EpochEnd,
    Run,
    TrainBegin,
    TrainEnd,
)
from gluonish.gluon.contrib.estimator.utils import Metrics, check_metrics, check_period
from gluonish.metric import CompositeEvalMetric, EvalMetric
from gluonish.metric import Loss as LossMetric


def _as_list(arrays: Any) -> Any:
    return list(arrays) if isinstance(arrays, list | tuple) else [arrays]


class MetricHandler(EpochBegin, BatchEnd):
    """Resets metrics before each epoch, and updates them after each batch.

    An Estimator has one by default for its training metrics, and another during evaluation.
    `metric.Loss` is updated with the losses, every other metric with labels and outputs.

    Args:
        metrics: A metric or a list of metrics of the Estimator.
        priority: Handlers of lower priority are called first.

    Raises:
        ArgumentError: ``metrics`` are not metrics.
    """

    def __init__(self, metrics: Metrics, priority: float = -1000) -> None:
        self.metrics = check_metrics("MetricHandler", metrics)
        self.priority = priority

    def epoch_begin(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Reset the metrics."""
        for metric in self.metrics:
            metric.reset()

    def batch_end(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Update the metrics with the results of a batch."""
        pred, label, loss = (_as_list(kwargs[name]) for name in ("pred", "label", "loss"))
        for metric in self.metrics:
            if isinstance(metric, LossMetric):
                metric.update(0, loss)
            else:
                metric.update(label, pred)


class ValidationHandler(TrainBegin, BatchEnd, EpochEnd):
    """Evaluates periodically during training.

    `Estimator.fit` adds one by default if there is ``val_data``.

    Args:
        val_data: DataLoader, passed to ``eval_fn``.
        eval_fn: `Estimator.evaluate`, or a function with the parameters ``val_data``,
            ``batch_axis`` and ``event_handlers``.
        epoch_period: Number of epochs between evaluations; None for no evaluation after epochs.
        batch_period: Number of batches between evaluations; None for no evaluation after batches.
        priority: Handlers of lower priority are called first.
        event_handlers: Handlers, passed to ``eval_fn``.

    Raises:
        ArgumentError: A period is negative.
    """

    counters = ("current_batch", "current_epoch")

    def __init__(
        self,
        val_data: Any,
        eval_fn: Callable[..., Any],
        epoch_period: int | None = 1,
        batch_period: int | None = None,
        priority: float = -1000,
        event_handlers: Any = None,
    ) -> None:
        self.val_data = val_data
        self.eval_fn = eval_fn
        self.epoch_period = check_period("ValidationHandler", "epoch_period", epoch_period)
        self.batch_period = check_period("ValidationHandler", "batch_period", batch_period)
        self.current_batch = 0
        self.current_epoch = 0
        self.priority = priority
        self.event_handlers = event_handlers

    def train_begin(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Reset the counts of batches and epochs."""
        self.current_batch = 0
        self.current_epoch = 0

    def batch_end(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Evaluate if ``batch_period`` batches have passed."""
        self.current_batch += 1
        if self.batch_period and self.current_batch % self.batch_period == 0:
            self._evaluate(estimator)

    def epoch_end(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Evaluate if ``epoch_period`` epochs have passed."""
        self.current_epoch += 1
        if self.epoch_period and self.current_epoch % self.epoch_period == 0:
            self._evaluate(estimator)

    def _evaluate(self, estimator: Run) -> None:
        self.eval_fn(
            val_data=self.val_data,
            batch_axis=estimator.batch_axis,
            event_handlers=self.event_handlers,
        )


class GradientUpdateHandler(BatchEnd):
    """Updates the weights after each batch, by calling ``trainer.step`` with the number of samples.

    An Estimator has one by default. It runs before the metrics are updated. To accumulate
    gradients over several batches, override `batch_end` in a subclass.

    Args:
        priority: Handlers of lower priority are called first.
    """

    def __init__(self, priority: float = -2000) -> None:
        self.priority = priority

    def batch_end(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Update the weights with the gradients of a batch."""
        losses = _as_list(kwargs["loss"])
        estimator.trainer.step(sum(loss.shape[0] if loss.ndim else 1 for loss in losses))


Comparison = Callable[[float, float], Any]


def check_monitor(owner: str, monitor: Any) -> EvalMetric:
    """Check that a monitor is a single metric, and return it.

    Raises:
        ArgumentError: The monitor is not an EvalMetric, or it is a CompositeEvalMetric.
    """
    if not isinstance(monitor, EvalMetric) or isinstance(monitor, CompositeEvalMetric):
        raise ArgumentError(
            f"{owner}: expected monitor to be one metric, got {monitor!r}; use one of "
            "estimator.train_metrics or estimator.val_metrics"
        )
    return monitor


def comparison(owner: str, monitor: EvalMetric, mode: str) -> Comparison:
    """Return the function that tests whether one value of a metric is better than another.

    Args:
        owner: Class that monitors the metric, for messages.
        monitor: The metric.
        mode: ``"min"``, ``"max"`` or ``"auto"``. As in MXNet 1.9, ``"auto"`` means ``"max"``, with
            a warning; any other value means ``"auto"``, with another warning.
    """
    if mode == "min":
        return np.less
    if mode not in ("auto", "max"):
        warnings.warn(
            f"{owner}: expected mode 'auto', 'min' or 'max', got {mode!r}; using 'auto'",
            RuntimeWarning,
            stacklevel=3,
        )
    if mode != "max":
        warnings.warn(
            f"{owner}: assuming that a higher {monitor.name} is better; pass mode='min' if a "
            "lower value is, or mode='max' to silence this",
            UserWarning,
            stacklevel=3,
        )
    return np.greater


def worst(better: Comparison) -> float:
    """Return the worst possible value of a metric that is compared by ``better``."""
    return math.inf if better is np.less else -math.inf


class StoppingHandler(TrainBegin, BatchEnd, EpochEnd):
    """Stops training after a number of epochs or batches.

    An Estimator has one by default; arguments of `Estimator.fit` replace both limits.

    Args:
        max_epoch: Maximum number of epochs, or None.
        max_batch: Maximum number of batches over all epochs, or None.
    """

    counters = ("current_batch", "current_epoch")

    def __init__(self, max_epoch: int | None = None, max_batch: int | None = None) -> None:
        self.max_epoch = max_epoch
        self.max_batch = max_batch
        self.current_batch = 0
        self.current_epoch = 0
        self.stop_training = False

    def train_begin(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Reset the counters, and copy the limits from the Estimator."""
        self.max_epoch = estimator.max_epoch
        self.max_batch = estimator.max_batch
        self.current_batch = 0
        self.current_epoch = 0
        self.stop_training = False

    def batch_end(self, estimator: Run, *args: Any, **kwargs: Any) -> bool:
        """Count a batch.

        Returns:
            True if it was the last, which ends the training.
        """
        self.current_batch += 1
        if self.current_batch == self.max_batch:
            self.stop_training = True
        return self.stop_training

    def epoch_end(self, estimator: Run, *args: Any, **kwargs: Any) -> bool:
        """Count an epoch.

        Returns:
            True if it was the last, which ends the training.
        """
        self.current_epoch += 1
        if self.current_epoch == self.max_epoch:
            self.stop_training = True
        return self.stop_training


class EarlyStoppingHandler(TrainBegin, EpochEnd, TrainEnd):
    """Stops training when a metric no longer improves from epoch to epoch.

    Args:
        monitor: One of the Estimator's metrics, not a composite.
        min_delta: Smallest change from the best value that counts as an improvement.
        patience: Number of epochs without improvement after which training stops; 0 acts as 1.
        mode: ``"max"`` if higher is better, ``"min"`` if lower is. ``"auto"`` means ``"max"`` for
            every metric, with a warning: pass ``"min"`` for a loss.
        baseline: Value that the metric must exceed first; None for no baseline.

    Raises:
        ArgumentError: ``monitor`` is not a single metric.
    """

    counters = ("wait", "stopped_epoch", "current_epoch", "stop_training", "best")

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
        """Reset the best value and the count of epochs."""
        self.wait = 0
        self.stopped_epoch = 0
        self.current_epoch = 0
        self.stop_training = False
        self.best = worst(self.monitor_op) if self.baseline is None else self.baseline

    def epoch_end(self, estimator: Run, *args: Any, **kwargs: Any) -> bool:
        """Compare the metric with the best epoch so far.

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
        """Log the reason, if this handler stopped the training."""
        if self.stop_training:
            name, _ = self.monitor.get()
            estimator.logger.info(
                f"[Epoch {self.stopped_epoch}] EarlyStoppingHandler: early stopping due to {name} "
                "not improving"
            )
