"""Checks of metrics and periods of an Estimator and its handlers."""

from collections.abc import Sequence
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.gluon.loss import Loss, SoftmaxCrossEntropyLoss
from gluonish.metric import Accuracy, CompositeEvalMetric, EvalMetric

__all__ = ["check_handler_metrics", "check_metrics", "check_period", "suggest_metric_for_loss"]

Metrics = EvalMetric | Sequence[EvalMetric] | None


def check_metrics(owner: str, metrics: Any) -> list[EvalMetric]:
    """Check metrics; return a flat list, with each CompositeEvalMetric replaced by its members.

    Args:
        owner: Class and argument, for error messages.
        metrics: A metric, a list of metrics, or None.

    Raises:
        ArgumentError: An item is not an EvalMetric.
    """
    if metrics is None:
        return []
    if isinstance(metrics, CompositeEvalMetric):
        return check_metrics(owner, metrics.metrics)
    if isinstance(metrics, EvalMetric):
        return [metrics]
    if not isinstance(metrics, list | tuple):
        raise ArgumentError(
            f"{owner}: expected a metric or a list of metrics, got {metrics!r}; create one with "
            "metric.create"
        )
    found: list[EvalMetric] = []
    for metric in metrics:
        if not isinstance(metric, EvalMetric):
            raise ArgumentError(
                f"{owner}: expected metrics, got {metric!r} in a list; use metric.create"
            )
        found += check_metrics(owner, metric)
    return found


def suggest_metric_for_loss(loss: Loss) -> EvalMetric | None:
    """Return a default metric for a loss, or None."""
    return Accuracy() if isinstance(loss, SoftmaxCrossEntropyLoss) else None


def check_handler_metrics(handler: Any, known: Sequence[EvalMetric]) -> None:
    """Check that a handler updates or logs only metrics of the Estimator.

    Attributes with ``metric`` in their names are checked; a ``monitor`` may be any metric.

    Args:
        handler: The handler.
        known: The Estimator's metrics.

    Raises:
        ArgumentError: The handler refers to another metric.
    """
    for name, value in vars(handler).items():
        if "metric" not in name:
            continue
        for metric in value if isinstance(value, list | tuple) else (value,):
            if isinstance(metric, EvalMetric) and not any(metric is m for m in known):
                raise ArgumentError(
                    f"{type(handler).__name__}: expected metrics of the estimator in {name}, got "
                    f"{metric}; use estimator.train_metrics or estimator.val_metrics"
                )


def check_period(owner: str, name: str, period: int | None) -> int | None:
    """Check a number of epochs or batches between events; None or 0 means never.

    Args:
        owner: Class name of the handler, for error messages.
        name: Name of the argument.
        period: The number.

    Raises:
        ArgumentError: The period is negative or not an integer.
    """
    if period is not None and not (isinstance(period, int) and period >= 0):
        raise ArgumentError(f"{owner}: expected {name} of at least 1 or None, got {period!r}")
    return period
