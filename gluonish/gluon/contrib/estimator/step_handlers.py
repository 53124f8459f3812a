"""Handlers of metrics, validation and updates: what is done at batches and epochs."""

from collections.abc import Callable
from typing import Any

from gluonish.gluon.contrib.estimator.events import BatchEnd, EpochBegin, EpochEnd, Run, TrainBegin
from gluonish.gluon.contrib.estimator.utils import Metrics, check_metrics, check_period
from gluonish.metric import Loss as LossMetric

__all__ = ["GradientUpdateHandler", "MetricHandler", "ValidationHandler"]


def _as_list(arrays: Any) -> Any:
    return list(arrays) if isinstance(arrays, list | tuple) else [arrays]


class MetricHandler(EpochBegin, BatchEnd):
    """Resets metrics before each epoch, and updates them after each batch.

    An Estimator has one by default for its training metrics, and another one during evaluation.
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
        """Reset the metrics.

        Args:
            estimator: The Estimator that trains or evaluates.
            *args: Not used.
            **kwargs: Not used.
        """
        for metric in self.metrics:
            metric.reset()

    def batch_end(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Update the metrics with the results of a batch.

        Args:
            estimator: The Estimator that trains or evaluates.
            *args: Not used.
            **kwargs: ``pred``, ``label`` and ``loss``: lists with one array per device.
        """
        pred, label, loss = (_as_list(kwargs[name]) for name in ("pred", "label", "loss"))
        for metric in self.metrics:
            if isinstance(metric, LossMetric):
                metric.update(0, loss)
            else:
                metric.update(label, pred)


class ValidationHandler(TrainBegin, BatchEnd, EpochEnd):
    """Evaluates periodically during training.

    An Estimator whose `Estimator.fit` is given ``val_data`` has one by default.

    Args:
        val_data: DataLoader, passed to ``eval_fn``.
        eval_fn: `Estimator.evaluate`, or a function with the parameters ``val_data``,
            ``batch_axis`` and ``event_handlers``.
        epoch_period: Number of epochs between evaluations; None to evaluate after no epoch.
        batch_period: Number of batches between evaluations; None to evaluate after no batch.
        priority: Handlers of lower priority are called first.
        event_handlers: Handlers, passed to ``eval_fn``.

    Raises:
        ArgumentError: A period is negative.
    """

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
        """Reset the counts of batches and epochs.

        Args:
            estimator: The Estimator that trains.
            *args: Not used.
            **kwargs: Not used.
        """
        self.current_batch = 0
        self.current_epoch = 0

    def batch_end(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Evaluate if ``batch_period`` batches have passed.

        Args:
            estimator: The Estimator that trains.
            *args: Not used.
            **kwargs: Not used.
        """
        self.current_batch += 1
        if self.batch_period and self.current_batch % self.batch_period == 0:
            self._evaluate(estimator)

    def epoch_end(self, estimator: Run, *args: Any, **kwargs: Any) -> None:
        """Evaluate if ``epoch_period`` epochs have passed.

        Args:
            estimator: The Estimator that trains.
            *args: Not used.
            **kwargs: Not used.
        """
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
        """Update the weights with the gradients of a batch.

        Args:
            estimator: The Estimator that trains.
            *args: Not used.
            **kwargs: ``loss``: the losses of the batch, a list with one array per device.
        """
        losses = _as_list(kwargs["loss"])
        estimator.trainer.step(sum(loss.shape[0] if loss.ndim else 1 for loss in losses))
