"""What programs with their own datasets and loaders take from `mx.gluon.data`."""

import multiprocessing
import os
import pickle
from collections.abc import Callable
from multiprocessing.queues import Queue as QueueOfProcesses
from multiprocessing.queues import SimpleQueue as SimpleQueueOfProcesses
from multiprocessing.reduction import ForkingPickler
from typing import Any

from gluonish.data.dataloader import DataLoader
from gluonish.data.dataset import Dataset
from gluonish.ndarray import NDArray

__all__ = [
    "ConnectionWrapper",
    "DownloadedDataset",
    "FilteredDataset",
    "LegacyDataLoader",
    "Queue",
    "SimpleQueue",
    "reduce_ndarray",
]


class DownloadedDataset(Dataset):
    """Base class of datasets that are files in a folder; a subclass reads them in ``_get_data``.

    That sets ``_data`` and ``_label``, of equal length, from what is in the folder ``_root``.

    Args:
        root: The folder, with ``~`` for the user's; made if it is not there.
        transform: Called with a sample and its label, returns what an index gives; None for both.
    """

    def __init__(self, root: str | os.PathLike[str], transform: Callable[..., Any] | None) -> None:
        self._transform = transform
        self._data: Any = None
        self._label: Any = None
        self._root = os.path.expanduser(root)
        os.makedirs(self._root, exist_ok=True)
        self._get_data()

    def __getitem__(self, idx: Any) -> Any:
        sample = self._data[idx], self._label[idx]
        return sample if self._transform is None else self._transform(*sample)

    def __len__(self) -> int:
        return len(self._label)

    def _get_data(self) -> None:
        raise NotImplementedError(f"{type(self).__name__}: expected a method _get_data")


class FilteredDataset(Dataset):
    """The samples of a dataset that a function says True of.

    Args:
        dataset: Where they come from; all are read.
        fn: Called with each.
    """

    def __init__(self, dataset: Dataset, fn: Callable[[Any], object]) -> None:
        self._dataset = dataset
        self._indices = [place for place in range(len(dataset)) if fn(dataset[place])]

    def __len__(self) -> int:
        return len(self._indices)

    def __getitem__(self, idx: Any) -> Any:
        return self._dataset[self._indices[idx]]


class LegacyDataLoader(DataLoader):
    """The loader of MXNet 1.2, whose batches and arguments are those of today's.

    Args:
        *args: See `DataLoader`.
        **kwargs: See `DataLoader`.
    """


def reduce_ndarray(data: NDArray) -> tuple[Any, ...]:
    """Return what pickling an array takes: a function that makes it again, and its arguments."""
    reduced = data.__reduce_ex__(2)
    assert isinstance(reduced, tuple)
    return reduced


class ConnectionWrapper:
    """A connection between processes whose `send` and `recv` pickle arrays, too.

    Args:
        conn: The connection; its other methods are this one's.
    """

    def __init__(self, conn: Any) -> None:
        self._conn = conn

    def send(self, obj: Any) -> None:
        """Send an object."""
        self._conn.send_bytes(ForkingPickler.dumps(obj))

    def recv(self) -> Any:
        """Return the next object that was sent."""
        return pickle.loads(self._conn.recv_bytes())

    def __getattr__(self, name: str) -> Any:
        if name == "_conn":
            raise AttributeError(name)
        return getattr(self._conn, name)


class Queue(QueueOfProcesses):  # type: ignore[type-arg]  # of typeshed only
    """A queue between processes that takes arrays.

    Args:
        *args: See `multiprocessing.Queue`.
        **kwargs: See `multiprocessing.Queue`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, ctx=multiprocessing.get_context(), **kwargs)


class SimpleQueue(SimpleQueueOfProcesses):  # type: ignore[type-arg]
    """A queue between processes without a thread of its own, that takes arrays.

    Args:
        *args: See `multiprocessing.SimpleQueue`.
        **kwargs: See `multiprocessing.SimpleQueue`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, ctx=multiprocessing.get_context(), **kwargs)
