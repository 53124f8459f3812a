"""What an Estimator and its handlers accept: metrics, and periods of epochs and batches."""

from collections.abc import Sequence
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.loss import Loss, SoftmaxCrossEntropyLoss
from gluonish.metric import Accuracy, CompositeEvalMetric, EvalMetric

__all__ = ["check_handler_metrics", "check_metrics", "check_period", "suggest_metric_for_loss"]

Metrics = EvalMetric | Sequence[EvalMetric] | None


def check_metrics(owner: str, metrics: Any) -> list[EvalMetric]:
    """Return metrics as a list, with a composite one replaced by its members.

    Args:
        owner: Class and argument, to begin an error message with.
        metrics: A metric, several of them, or None.

    Raises:
        ArgumentError: There is something else among them.
    """
    if metrics is None:
        return []
    if isinstance(metrics, CompositeEvalMetric):
        return check_metrics(owner, metrics.metrics)
    if isinstance(metrics, EvalMetric):
        return [metrics]
    if not isinstance(metrics, list | tuple):
        raise ArgumentError(
            f"{owner}: expected a metric or a list of metrics, got {metrics!r}; make one with "
            "metric.create"
        )
    found: list[EvalMetric] = []
    for metric in metrics:
        if not isinstance(metric, EvalMetric):
            raise ArgumentError(
                f"{owner}: expected metrics, got {metric!r} in a list; make one with metric.create"
            )
        found += check_metrics(owner, metric)
    return found


def suggest_metric_for_loss(loss: Loss) -> EvalMetric | None:
    """Return the metric that says how well a loss is doing, or None."""
    return Accuracy() if isinstance(loss, SoftmaxCrossEntropyLoss) else None


def check_handler_metrics(handler: Any, known: Sequence[EvalMetric]) -> None:
    """Check that a handler updates or shows no metric that is not the Estimator's.

    Looked at are the attributes with ``metric`` in their names; a ``monitor`` is only read.

    Args:
        handler: The handler.
        known: The Estimator's metrics.

    Raises:
        ArgumentError: It refers to another one.
    """
    for name, value in vars(handler).items():
        if "metric" not in name:
            continue
        for metric in value if isinstance(value, list | tuple) else (value,):
            if isinstance(metric, EvalMetric) and not any(metric is own for own in known):
                raise ArgumentError(
                    f"{type(handler).__name__}: expected metrics of the estimator in {name}, got "
                    f"{metric}; take them from estimator.train_metrics or estimator.val_metrics"
                )


def check_period(owner: str, name: str, period: int | None) -> int | None:
    """Return a number of epochs or batches; None or 0 for never.

    Args:
        owner: Class that counts them.
        name: Its argument.
        period: The number.

    Raises:
        ArgumentError: It is negative or no integer.
    """
    if period is not None and not (isinstance(period, int) and period >= 0):
        raise ArgumentError(f"{owner}: expected {name} of at least 1 or None, got {period!r}")
    return period
