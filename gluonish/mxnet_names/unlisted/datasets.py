"""Helpers of `mx.gluon.data` for programs with their own datasets and loaders."""

import multiprocessing
import os
import pickle
from collections.abc import Callable
from multiprocessing.queues import Queue as QueueOfProcesses
from multiprocessing.queues import SimpleQueue as SimpleQueueOfProcesses
from multiprocessing.reduction import ForkingPickler
from typing import Any

from gluonish.core.files import AnyPath, path_text
from gluonish.gluon.data.dataloader import DataLoader
from gluonish.gluon.data.dataset import Dataset
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
    """Base class of datasets stored as files in a folder.

    A subclass defines ``_get_data``, which reads the folder ``_root`` and sets ``_data`` and
    ``_label``, of equal length.

    Args:
        root: Path of the folder (``~`` is the user's home); created if missing.
        transform: Function of a sample and its label, applied by indexing; None returns both.
    """

    def __init__(self, root: AnyPath, transform: Callable[..., Any] | None) -> None:
        self._transform = transform
        self._data: Any = None
        self._label: Any = None
        self._root = os.path.expanduser(path_text(root, type(self).__name__))
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
    """The samples of a dataset for which a function returns True.

    Args:
        dataset: The dataset; all samples are read once.
        fn: Function of a sample.
    """

    def __init__(self, dataset: Dataset, fn: Callable[[Any], object]) -> None:
        self._dataset = dataset
        self._indices = [i for i in range(len(dataset)) if fn(dataset[i])]

    def __len__(self) -> int:
        return len(self._indices)

    def __getitem__(self, idx: Any) -> Any:
        return self._dataset[self._indices[idx]]


class LegacyDataLoader(DataLoader):
    """The DataLoader of MXNet 1.2, the same as `DataLoader`.

    Args:
        *args: See `DataLoader`.
        **kwargs: See `DataLoader`.
    """


def reduce_ndarray(data: NDArray) -> tuple[Any, ...]:
    """Reduce an array for pickling to a function that restores it, and its arguments."""
    reduced = data.__reduce_ex__(2)
    assert isinstance(reduced, tuple)
    return reduced


class ConnectionWrapper:
    """A connection between processes whose `send` and `recv` also pickle arrays.

    Args:
        conn: The connection; its other methods can be called on this object.
    """

    def __init__(self, conn: Any) -> None:
        self._conn = conn

    def send(self, obj: Any) -> None:
        """Send an object."""
        self._conn.send_bytes(ForkingPickler.dumps(obj))

    def recv(self) -> Any:
        """Receive the next object."""
        return pickle.loads(self._conn.recv_bytes())

    def __getattr__(self, name: str) -> Any:
        if name == "_conn":
            raise AttributeError(name)
        return getattr(self._conn, name)


class Queue(QueueOfProcesses):  # type: ignore[type-arg]  # of typeshed only
    """A queue between processes that can carry arrays.

    Args:
        *args: See `multiprocessing.Queue`.
        **kwargs: See `multiprocessing.Queue`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, ctx=multiprocessing.get_context(), **kwargs)


class SimpleQueue(SimpleQueueOfProcesses):  # type: ignore[type-arg]
    """A queue between processes without a feeder thread, that can carry arrays.

    Args:
        *args: See `multiprocessing.SimpleQueue`.
        **kwargs: See `multiprocessing.SimpleQueue`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, ctx=multiprocessing.get_context(), **kwargs)
