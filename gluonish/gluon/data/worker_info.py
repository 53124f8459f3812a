"""What a worker of a DataLoader knows of itself."""

from contextvars import ContextVar
from typing import Any, NamedTuple

__all__ = ["WorkerInfo", "get_worker_info"]


class WorkerInfo(NamedTuple):
    """A worker of a DataLoader: `get_worker_info` returns that of the current process or thread.

    Attributes:
        id: Number of the worker, from 0.
        num_workers: Number of workers of the loader.
        seed: A number that differs between the workers; ``seed - id`` is the same in all of them.
            It follows from the state of NumPy's generator in the main process, so that
            ``numpy.random.seed`` repeats it. An iterable dataset sees a new one in each pass.
        dataset: The worker's copy of the dataset; in threads, the dataset.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any


# A context variable, because workers may be threads.
current: ContextVar[WorkerInfo | None] = ContextVar("gluonish_data_worker", default=None)


def get_worker_info() -> WorkerInfo | None:
    """Return facts about the DataLoader's worker that calls this; None outside workers.

    Example:
        >>> from gluonish.gluon.data import get_worker_info
        >>> print(get_worker_info())
        None
    """
    return current.get()
