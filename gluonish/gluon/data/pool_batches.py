"""Batches by a pool of the program's own: what loaders derived from MXNet's are built of.

`DataLoader` has workers of its own kind. A program that makes its own `multiprocessing` pool and
gives it to MXNet's iterator over a pool finds that iterator here, and the functions that run in the
pool. They stand in `mx.gluon.data.dataloader` under MXNet's names.
"""

import io
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing.reduction import ForkingPickler
from typing import Any

from gluonish.core.context import Context, cpu_pinned
from gluonish.gluon.data.worker_process import load_batch
from gluonish.ndarray import NDArray

__all__ = ["PoolBatches", "as_in_context", "initialize_worker", "pickled_batch", "thread_batch"]

# Of a process of the pool: what it loads samples from.
_dataset: Any = None


def initialize_worker(dataset: Any) -> None:
    """Set the dataset of a pool's process: ``Pool(n, initializer=..., initargs=[dataset])``.

    Args:
        dataset: Dataset from which `pickled_batch` takes samples.
    """
    global _dataset  # it is the process's state
    _dataset = dataset


def pickled_batch(
    samples: Sequence[Any], batchify_fn: Callable[[Any], Any], dataset: Any = None
) -> bytes:
    """Return a pickled batch; runs in a process of a pool.

    Args:
        samples: Indices of the samples.
        batchify_fn: Function that makes a batch of a list of samples.
        dataset: The dataset; None for the process's own.
    """
    batch = load_batch(_dataset if dataset is None else dataset, samples, batchify_fn)
    buffer = io.BytesIO()
    ForkingPickler(buffer, pickle.HIGHEST_PROTOCOL).dump(batch)
    return buffer.getvalue()


def thread_batch(samples: Sequence[Any], batchify_fn: Callable[[Any], Any], dataset: Any) -> Any:
    """Return a batch; runs in a thread of a pool.

    Args:
        samples: Indices of the samples.
        batchify_fn: Function that makes a batch of a list of samples.
        dataset: The dataset.
    """
    return load_batch(dataset, samples, batchify_fn)


def as_in_context(data: Any, ctx: Context) -> Any:
    """Return arrays on a device.

    Args:
        data: An array, or nested lists of arrays; anything else is returned as it is.
        ctx: The device.
    """
    if isinstance(data, NDArray):
        return data.as_in_context(ctx)
    if isinstance(data, list | tuple):
        return [as_in_context(part, ctx) for part in data]
    return data


class PoolBatches:
    """Iterates once over batches that a pool of the program's own makes, in order.

    Args:
        worker_pool: Pool with ``apply_async(function, arguments)``, as those of `multiprocessing`.
        batchify_fn: Function that makes a batch of a list of samples.
        batch_sampler: Iterable of lists of indices.
        pin_memory: Whether to return batches on ``cpu_pinned(pin_device_id)``.
        pin_device_id: Index of the GPU.
        worker_fn: Function that runs in the pool, called with indices, ``batchify_fn`` and
            ``dataset``. It returns the batch, or its pickled bytes if ``dataset`` is None.
        prefetch: Number of batches that are made ahead, in addition to the next.
        dataset: Passed to ``worker_fn``; None if the pool's processes have their own.
        data_loader: Object that is kept alive as long as the iterator.
        timeout: Maximum time to wait for a batch, in seconds.

    Iterating raises `multiprocessing.TimeoutError` if a batch takes longer, and the worker's
    errors.
    """

    def __init__(
        self,
        worker_pool: Any,
        batchify_fn: Callable[[Any], Any],
        batch_sampler: Iterable[Sequence[Any]],
        pin_memory: bool = False,
        pin_device_id: int = 0,
        worker_fn: Callable[..., Any] = pickled_batch,
        prefetch: int = 0,
        dataset: Any = None,
        data_loader: Any = None,
        timeout: float = 120,
    ) -> None:
        self._worker_pool = worker_pool
        self._batchify_fn = batchify_fn
        self._batch_sampler = batch_sampler
        self._iter = iter(batch_sampler)
        self._data_buffer: dict[int, Any] = {}  # what the pool has yet to answer, by number
        self._sent_idx = 0
        self._rcvd_idx = 0
        self._pin_memory = pin_memory
        self._pin_device_id = pin_device_id
        self._worker_fn = worker_fn
        self._dataset = dataset
        self._data_loader = data_loader
        self._timeout = timeout
        for _ in range(prefetch):
            self._push_next()

    def __len__(self) -> int:
        """Return the number of batches."""
        return len(self._batch_sampler)  # type: ignore[arg-type]  # of a user's sampler

    def __iter__(self) -> Iterator[Any]:
        return self

    def _push_next(self) -> None:
        """Give the pool the next batch to make, if there is one."""
        samples = next(self._iter, None)
        if samples is None:
            return
        self._data_buffer[self._sent_idx] = self._worker_pool.apply_async(
            self._worker_fn, (samples, self._batchify_fn, self._dataset)
        )
        self._sent_idx += 1

    def __next__(self) -> Any:
        self._push_next()
        if self._rcvd_idx == self._sent_idx:
            raise StopIteration
        answer = self._data_buffer.pop(self._rcvd_idx).get(self._timeout)
        self._rcvd_idx += 1
        # Bytes of the program's own processes, as trusted as its own code.
        batch = pickle.loads(answer) if self._dataset is None else answer
        return as_in_context(batch, cpu_pinned(self._pin_device_id)) if self._pin_memory else batch

    def next(self) -> Any:
        """Return the next batch."""
        return next(self)
