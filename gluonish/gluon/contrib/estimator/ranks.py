"""Support for an Estimator in several processes, connected by a ``dist_sync`` store."""

import logging
from collections.abc import Sequence

from gluonish.gluon.trainer import Trainer
from gluonish.kvstore.sync_store import SyncStore
from gluonish.metric import EvalMetric


def is_first_rank(trainer: Trainer) -> bool:
    """Whether this process has rank 0, which logs and saves."""
    store = trainer._kvstore or trainer._kvstore_params["kvstore"]
    return getattr(store, "rank", 0) == 0


def join_ranks(trainer: Trainer) -> None:
    """Create the Trainer's distributed store now, instead of in the first step."""
    store = trainer._kvstore_params["kvstore"]
    if isinstance(store, str) and "dist" in store and not trainer._kv_initialized:
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
