"""What an Estimator does where several processes train together, through a ``dist_sync`` store."""

import logging
from collections.abc import Sequence

from gluonish.kvstore.sync_store import SyncStore
from gluonish.metric import EvalMetric
from gluonish.trainer import Trainer

__all__ = ["FirstRankFilter", "gather_metrics", "is_first_rank", "join_ranks"]


def is_first_rank(trainer: Trainer) -> bool:
    """Whether this process is the one that writes; a process alone is."""
    store = trainer._kvstore or trainer._kvstore_params["kvstore"]
    return getattr(store, "rank", 0) == 0


def join_ranks(trainer: Trainer) -> None:
    """Have a trainer make its store of several processes now, and not in the first step."""
    wanted = trainer._kvstore_params["kvstore"]
    if isinstance(wanted, str) and "dist" in wanted and not trainer._kv_initialized:
        trainer._init_kvstore()


def gather_metrics(trainer: Trainer, metrics: Sequence[EvalMetric]) -> None:
    """Replace the sums of metrics by those of all processes that train together.

    Args:
        trainer: Its store connects them; stores that are not synchronous are left alone, whose
            processes do not wait for each other.
        metrics: Of the same kinds in each process.
    """
    store = trainer._kvstore
    if not isinstance(store, SyncStore) or store.num_workers == 1:
        return
    of_ranks = store.gather([metric._all_sums() for metric in metrics])
    for metric, *sums in zip(metrics, *of_ranks, strict=True):
        metric._put_sums(sums)


class FirstRankFilter(logging.Filter):
    """Lets only warnings pass in processes other than the first, which says the same.

    Args:
        trainer: Tells which process this is.
    """

    def __init__(self, trainer: Trainer) -> None:
        super().__init__()
        self._trainer = trainer

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to write ``record``."""
        return record.levelno >= logging.WARNING or is_first_rank(self._trainer)
