"""What an Estimator does where several processes train together, through a ``dist_sync`` store."""

import logging
from collections.abc import Sequence

from gluonish.gluon.trainer import Trainer
from gluonish.kvstore.sync_store import SyncStore
from gluonish.metric import EvalMetric


def is_first_rank(trainer: Trainer) -> bool:
    """Whether this process is the first of those that train together, which logs and saves.

    Args:
        trainer: Trainer whose store connects the processes.
    """
    store = trainer._kvstore or trainer._kvstore_params["kvstore"]
    return getattr(store, "rank", 0) == 0


def join_ranks(trainer: Trainer) -> None:
    """Create the Trainer's store of several processes now, instead of in the first step.

    Args:
        trainer: The Trainer.
    """
    wanted = trainer._kvstore_params["kvstore"]
    if isinstance(wanted, str) and "dist" in wanted and not trainer._kv_initialized:
        trainer._init_kvstore()


def gather_metrics(trainer: Trainer, metrics: Sequence[EvalMetric]) -> None:
    """Replace the sums in metrics by the sums over all processes that train together.

    Args:
        trainer: Trainer whose store connects the processes; without a synchronous store nothing is
            done, because processes do not wait for each other.
        metrics: The metrics, of the same kinds in each process.
    """
    store = trainer._kvstore
    if not isinstance(store, SyncStore) or store.num_workers == 1:
        return
    of_ranks = store.gather([metric._all_sums() for metric in metrics])
    for metric, *sums in zip(metrics, *of_ranks, strict=True):
        metric._put_sums(sums)


class FirstRankFilter(logging.Filter):
    """Logging filter that lets only warnings pass in processes other than the first.

    Args:
        trainer: Trainer whose store connects the processes.
    """

    def __init__(self, trainer: Trainer) -> None:
        super().__init__()
        self._trainer = trainer

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to write a log record.

        Args:
            record: The record.
        """
        return record.levelno >= logging.WARNING or is_first_rank(self._trainer)
