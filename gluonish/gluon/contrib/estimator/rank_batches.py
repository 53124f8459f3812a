"""The batches of an epoch, of which processes that train together take the same number.

A process that waits for gradients of another one, whose data has ended, would wait forever.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from gluonish.core.program_lines import warn_at_line
from gluonish.gluon.trainer import Trainer
from gluonish.kvstore.sync_store import SyncStore

_END: Any = object()


def shared_store(trainer: Trainer) -> SyncStore | None:
    """Return the store of several processes that take their steps together, or None."""
    store = trainer._kvstore or trainer._kvstore_params["kvstore"]
    return store if isinstance(store, SyncStore) and store.num_workers > 1 else None


class RankBatches:
    """Agrees between processes on the batches of an epoch.

    Loaders of equal lengths need no messages. Otherwise the processes ask each other before each
    batch, and the epoch ends for all with the first whose data has ended.

    Args:
        trainer: The Trainer, whose store connects the processes.
        data: This process's DataLoader.
    """

    def __init__(self, trainer: Trainer, data: Any) -> None:
        self._store = shared_store(trainer)
        self.agrees = False  # whether the processes ask before each batch
        if self._store is not None:
            sizes = self._store.gather(_sizes(data))
            self.agrees = sizes[0] is None or any(size != sizes[0] for size in sizes)
        trainer._mean_samples = self._mean if self.agrees else None

    def _mean(self, samples: float) -> float:
        """Return the mean of the samples over the processes."""
        assert self._store is not None
        counts = self._store.gather(samples)
        return float(sum(counts)) / len(counts)

    def shared(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield batches as long as all processes have one.

        Warns:
            UserWarning: A batch is not used, because another process has none.
        """
        store = self._store
        if not self.agrees or store is None:
            yield from batches
            return
        iterator = iter(batches)
        while True:
            batch = next(iterator, _END)
            ended = [rank for rank, has in enumerate(store.gather(batch is not _END)) if not has]
            if not ended:
                yield batch
                continue
            if batch is not _END:
                warn_at_line(
                    "Estimator.fit: expected as many batches in all processes, got an end of the "
                    f"data in rank {ended[0]}; the epoch ends here, and a batch is not used"
                )
            return


def _sizes(data: Any) -> tuple[int, int | None] | None:
    """Return the numbers of batches and samples of a loader; None if they are not known."""
    try:
        count = len(data)
    except (TypeError, ValueError):
        return None
    sampler: Any = getattr(getattr(data, "_batch_sampler", None), "_sampler", None)
    return count, len(sampler) if hasattr(sampler, "__len__") else None
