"""Worker threads of a DataLoader, and MXNet's iterator over a pool.

Invariants: threads refer to the queue of jobs and the dataset, never to the pool, so that dropping
the pool ends them. A job is done when its lock is free. The threads are daemons: they do not delay
the end of a program.

`PoolBatches` is MXNet's iterator for programs that create their own `multiprocessing` pool; with
the functions that run in the pool it is exported from `mx.gluon.data.dataloader` under MXNet's
names.
"""

import io
import os
import pickle
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from multiprocessing.reduction import ForkingPickler
from queue import SimpleQueue
from typing import Any

from gluonish.core.context import Context, cpu_pinned
from gluonish.core.numpy_mode import current_numpy_scope
from gluonish.gluon.data.channel import WorkerError, WorkerTimeoutError
from gluonish.gluon.data.load import load_batch
from gluonish.gluon.data.service_threads import service_threads
from gluonish.gluon.data.worker_handle import WorkerNumbers
from gluonish.gluon.data.worker_process import begin_worker
from gluonish.ndarray import NDArray

# Interval in which a wait for a batch checks that the threads still run, in seconds.
_POLL_S = 1.0


class _Job:
    """A batch to load, and its result."""

    __slots__ = ("batch", "done", "error", "forgotten", "indices", "semantics")

    def __init__(self, indices: Sequence[Any]) -> None:
        self.indices = indices
        self.semantics = current_numpy_scope()
        self.batch: Any = None
        self.error: BaseException | None = None
        self.forgotten = False
        self.done = threading.Lock()
        self.done.acquire()


class _SharedState:
    """The state shared by the threads of a pool."""

    def __init__(
        self,
        pool: object,
        dataset: Any,
        batchify_fn: Callable[..., Any],
        numbers: WorkerNumbers,
        worker_init_fn: Callable[[int], object] | None,
    ) -> None:
        self.queue: SimpleQueue[Any] = SimpleQueue()  # jobs; anything else ends the threads
        self.stopping = False
        self.failure: Exception | None = None
        self._dataset = dataset
        self._batchify_fn = batchify_fn
        self._numbers = numbers
        self._worker_init_fn = worker_init_fn
        self._workers = count(numbers.first)
        # The callback is in C, so that no interrupt can occur before it runs.
        self._pool = weakref.ref(pool, self.queue.put)

    def stop(self) -> None:
        """End the threads after their current batches."""
        self.stopping = True
        self.queue.put(None)

    def fail(self, error: Exception) -> None:
        """End the threads, because a thread cannot be started."""
        self.failure = error
        self.stop()

    def ended(self) -> WorkerError:
        """Return the error for batches that no thread will load."""
        why = "they were ended" if self.failure is None else repr(self.failure)
        error = WorkerError(f"DataLoader: expected running threads, got none: {why}")
        error.__cause__ = self.failure
        return error

    def run(self) -> None:
        """Load batches until the threads are ended."""
        worker, numbers = next(self._workers), self._numbers
        begin_worker(self._dataset, worker, numbers.total, numbers.seed + worker)
        if self._worker_init_fn is not None:
            try:
                self._worker_init_fn(worker)
            except Exception as error:
                self.fail(error)
        while isinstance(job := self.queue.get(), _Job):
            if not (job.forgotten or self.stopping or self._pool() is None):
                try:
                    with job.semantics:
                        job.batch = load_batch(self._dataset, job.indices, self._batchify_fn)
                except BaseException as error:  # raised by `ThreadPool.take`
                    job.error = error
            elif self.stopping:
                job.error = self.ended()
            job.done.release()
            del job  # do not keep the batch alive while waiting
        self.queue.put(job)  # for the next thread


class ThreadPool:
    """Threads that load batches of one dataset.

    Args:
        dataset: The dataset; it must be thread-safe.
        batchify_fn: Function that makes a batch of a list of samples.
        num_workers: Number of threads.
        numbers: What the threads know of themselves; None for a pool that is the whole loader's.
        worker_init_fn: Called at the start of each thread, with its number.
    """

    def __init__(
        self,
        dataset: Any,
        batchify_fn: Callable[..., Any],
        num_workers: int,
        numbers: WorkerNumbers | None = None,
        worker_init_fn: Callable[[int], object] | None = None,
    ) -> None:
        self._owner = os.getpid()
        self._jobs: dict[int, _Job] = {}
        self._numbers = iter(range(1, 1 << 62))
        numbers = numbers or WorkerNumbers(0, num_workers, 0)
        self._shared = _SharedState(self, dataset, batchify_fn, numbers, worker_init_fn)
        for i in range(num_workers):
            service_threads.start(self._shared, f"gluonish-data-{i}")

    @property
    def closed(self) -> bool:
        """Whether the threads were ended, or do not exist because the process was forked."""
        return self._shared.stopping or os.getpid() != self._owner

    def close(self) -> None:
        """End the threads once they have loaded their current samples."""
        self._shared.stop()

    def abandon(self) -> None:
        """Stop the threads without waiting."""
        self._shared.stop()

    def submit(self, indices: Sequence[Any], seed: int) -> int:
        """Request a batch; return its number."""
        number = next(self._numbers)
        job = self._jobs[number] = _Job(indices)
        self._shared.queue.put(job)
        return number

    def take(self, batch: int, timeout_s: float) -> Any:
        """Wait for a batch and return it.

        Args:
            batch: Number of the batch, from `submit`; a batch can be returned once.
            timeout_s: Maximum time to wait, in seconds.

        Raises:
            WorkerTimeoutError: The batch did not arrive in time.
            WorkerError: The pool was closed.
            Exception: The error raised while loading the batch.
        """
        job = self._jobs.pop(batch)
        deadline = time.monotonic() + timeout_s
        while not job.done.acquire(timeout=max(0.0, min(deadline - time.monotonic(), _POLL_S))):
            if self._shared.stopping:  # the batch may have been submitted after the end
                raise self._shared.ended()
            if time.monotonic() < deadline:
                continue
            job.forgotten = True
            indices = list(job.indices)
            shown = f"{str(indices[:8])[:-1]}, ... {len(indices)} in all]"
            raise WorkerTimeoutError(
                "DataLoader: expected the batch of dataset indices "
                f"{shown if len(indices) > 8 else indices} from a thread within {timeout_s} s, "
                "got none; raise timeout, or find what blocks the dataset with num_workers=0"
            )
        if job.error is not None:
            raise job.error
        return job.batch

    def forget(self, batches: Iterable[int]) -> None:
        """Discard pending batches."""
        for number in batches:
            job = self._jobs.pop(number, None)
            if job is not None:
                job.forgotten = True


# The dataset in a process of a pool.
_dataset: Any = None


def initialize_worker(dataset: Any) -> None:
    """Set the dataset of a pool's process: ``Pool(n, initializer=..., initargs=[dataset])``.

    Args:
        dataset: Dataset from which `pickled_batch` loads samples.
    """
    global _dataset
    _dataset = dataset


def pickled_batch(
    samples: Sequence[Any], batchify_fn: Callable[[Any], Any], dataset: Any = None
) -> bytes:
    """Return a pickled batch; runs in a process of a pool.

    Args:
        samples: Indices of the samples.
        batchify_fn: Function that makes a batch of a list of samples.
        dataset: The dataset; None for the dataset of `initialize_worker`.
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
        data: An array, or nested lists and dicts of arrays; anything else is returned unchanged.
        ctx: The device.
    """
    if isinstance(data, NDArray):
        return data.as_in_context(ctx)
    if isinstance(data, list | tuple):
        return [as_in_context(item, ctx) for item in data]
    if isinstance(data, dict):
        return {name: as_in_context(item, ctx) for name, item in data.items()}
    return data


class PoolBatches:
    """Iterates once, in order, over batches that a pool created by the program loads.

    Args:
        worker_pool: Pool with ``apply_async(function, arguments)``, as in `multiprocessing`.
        batchify_fn: Function that makes a batch of a list of samples.
        batch_sampler: Iterable of lists of indices.
        pin_memory: Whether to return batches on ``cpu_pinned(pin_device_id)``.
        pin_device_id: Index of the GPU.
        worker_fn: Function that runs in the pool, called with indices, ``batchify_fn`` and
            ``dataset``. It returns the batch, or its pickled bytes if ``dataset`` is None.
        prefetch: Number of batches to load ahead, in addition to the next.
        dataset: Passed to ``worker_fn``; None if the pool's processes have their own dataset.
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
        self._data_buffer: dict[int, Any] = {}  # pending results, by number
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
        """Submit the next batch to the pool, if there is one."""
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
        # The bytes come from the program's own processes, and are as trusted as its code.
        batch = pickle.loads(answer) if self._dataset is None else answer
        return as_in_context(batch, cpu_pinned(self._pin_device_id)) if self._pin_memory else batch

    def next(self) -> Any:
        """Return the next batch."""
        return next(self)
