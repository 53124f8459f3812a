"""Checks of metrics and periods of an Estimator and its handlers.

Also supports an Estimator in several processes, connected by a ``dist_sync`` store.
"""

import logging
from collections.abc import Sequence
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.gluon.loss import Loss, SoftmaxCrossEntropyLoss
from gluonish.gluon.trainer import Trainer
from gluonish.kvstore.sync_store import SyncStore
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


def is_first_rank(trainer: Trainer) -> bool:
    """Whether this process has rank 0, and so writes messages and checkpoints."""
    store = trainer._kvstore or trainer._kvstore_params["kvstore"]
    return getattr(store, "rank", 0) == 0


def join_ranks(trainer: Trainer) -> None:
    """Create the Trainer's distributed store now, instead of in the first step."""
    store = trainer._kvstore_params["kvstore"]
    distributed = isinstance(store, SyncStore) or (isinstance(store, str) and "dist" in store)
    if distributed and not trainer._kv_initialized:
        trainer._init_kvstore()


def gather_metrics(trainer: Trainer, metrics: Sequence[EvalMetric]) -> None:
    """Replace the sums in metrics by the sums over all processes that train together.

    Args:
        trainer: Trainer of the store; without a synchronous store nothing is done, because
            processes do not wait for each other.
        metrics: The metrics, of the same kinds in each process.
    """
    store = trainer._kvstore
    if not isinstance(store, SyncStore) or store.num_workers == 1:
        return
    sums_by_rank = store.gather([metric._all_sums() for metric in metrics])
    for metric, *sums in zip(metrics, *sums_by_rank, strict=True):
        metric._set_sums(sums)


class FirstRankFilter(logging.Filter):
    """Logging filter that passes only warnings in processes other than the first."""

    def __init__(self, trainer: Trainer) -> None:
        super().__init__()
        self._trainer = trainer

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to write a log record.

        Args:
            record: The record.
        """
        return record.levelno >= logging.WARNING or is_first_rank(self._trainer)
