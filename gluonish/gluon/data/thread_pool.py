"""Threads that load batches, with the calls of `gluonish.gluon.data.worker_pool.WorkerPool`.

Invariants: threads hold the queue of jobs and the dataset, never the pool, so that dropping the
pool ends them. A job is done when its lock is free. They are daemons: a program ends although one
still loads a sample.
"""

import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from queue import SimpleQueue
from typing import Any

from gluonish.core.numpy_mode import numpy_scope_of_here
from gluonish.gluon.data.endings import endings
from gluonish.gluon.data.worker_errors import WorkerError, WorkerTimeoutError
from gluonish.gluon.data.worker_process import load_batch

__all__ = ["ThreadPool"]

# How long is waited at a time for a batch before looking whether anybody still loads, in seconds.
_LOOK_S = 1.0


class _Job:
    """A batch to load, and what came of it."""

    __slots__ = ("batch", "done", "error", "forgotten", "indices", "semantics")

    def __init__(self, indices: Sequence[Any]) -> None:
        self.indices = indices
        self.semantics = numpy_scope_of_here()
        self.batch: Any = None
        self.error: BaseException | None = None
        self.forgotten = False
        self.done = threading.Lock()
        self.done.acquire()


class _Crew:
    """What the threads of a pool share."""

    def __init__(self, pool: object, dataset: Any, batchify_fn: Callable[..., Any]) -> None:
        self.queue: SimpleQueue[Any] = SimpleQueue()  # of jobs, and of what ends the threads
        self.stopping = False
        self.failure: Exception | None = None
        self._dataset = dataset
        self._batchify_fn = batchify_fn
        # No step in Python that an interrupt could come before.
        self._pool = weakref.ref(pool, self.queue.put)

    def stop(self) -> None:
        """End the threads, once they are done with the samples that they load."""
        self.stopping = True
        self.queue.put(None)

    def fail(self, error: Exception) -> None:
        """End the threads: one cannot be started."""
        self.failure = error
        self.stop()

    def ended(self) -> WorkerError:
        """Return what batches fail with that no thread loads any more."""
        why = "they were ended" if self.failure is None else repr(self.failure)
        return WorkerError(f"DataLoader: expected running threads, got none: {why}")

    def run(self) -> None:
        """Load batches until the end."""
        while isinstance(job := self.queue.get(), _Job):
            if not (job.forgotten or self.stopping or self._pool() is None):
                try:
                    with job.semantics:
                        job.batch = load_batch(self._dataset, job.indices, self._batchify_fn)
                except BaseException as error:  # whoever takes the batch gets it
                    job.error = error
            elif self.stopping:
                job.error = self.ended()
            job.done.release()
            del job  # a batch that nobody took is not kept while the thread waits
        self.queue.put(job)  # for the next thread


class ThreadPool:
    """Threads that load batches of one dataset.

    Args:
        dataset: The dataset, which several threads use at once.
        batchify_fn: Function that makes a batch of a list of samples.
        num_workers: Number of threads.
    """

    def __init__(self, dataset: Any, batchify_fn: Callable[..., Any], num_workers: int) -> None:
        self._owner = os.getpid()
        self._jobs: dict[int, _Job] = {}
        self._numbers = iter(range(1, 1 << 62))
        self._crew = _Crew(self, dataset, batchify_fn)
        for i in range(num_workers):
            endings.start(self._crew, f"gluonish-data-{i}")

    @property
    def closed(self) -> bool:
        """Whether the threads were ended, or were lost in a fork of the process."""
        return self._crew.stopping or os.getpid() != self._owner

    def close(self) -> None:
        """End the threads once they have loaded their current samples."""
        self._crew.stop()

    def abandon(self) -> None:
        """Tell the threads to end, without waiting: one may be stuck."""
        self._crew.stop()

    def submit(self, indices: Sequence[Any], seed: int) -> int:
        """Request a batch; return its number.

        Args:
            indices: Indices of the samples.
            seed: Ignored: threads share the process's random generators.
        """
        number = next(self._numbers)
        job = self._jobs[number] = _Job(indices)
        self._crew.queue.put(job)
        return number

    def take(self, batch: int, timeout_s: float) -> Any:
        """Wait for a batch and return it.

        Args:
            batch: Number of the batch, from `submit`; a batch can be taken once.
            timeout_s: Maximum time to wait, in seconds.

        Raises:
            WorkerTimeoutError: The batch did not arrive in time.
            WorkerError: The pool was closed.
            Exception: The error raised while loading the batch.
        """
        job = self._jobs.pop(batch)
        deadline = time.monotonic() + timeout_s
        while not job.done.acquire(timeout=max(0.0, min(deadline - time.monotonic(), _LOOK_S))):
            if self._crew.stopping:  # it may have been submitted after the end
                raise self._crew.ended()
            if time.monotonic() < deadline:
                continue
            job.forgotten = True
            indices = list(job.indices)
            shown = f"{str(indices[:8])[:-1]}, ... {len(indices)} in all]"
            raise WorkerTimeoutError(
                "DataLoader: expected the batch of dataset indices "
                f"{shown if len(indices) > 8 else indices} from a thread within {timeout_s} s, "
                "got none; raise timeout, or look for what blocks the dataset with num_workers=0"
            )
        if job.error is not None:
            raise job.error
        return job.batch

    def forget(self, batches: Iterable[int]) -> None:
        """Discard batches that will not be taken.

        Args:
            batches: Numbers of the batches.
        """
        for number in batches:
            job = self._jobs.pop(number, None)
            if job is not None:
                job.forgotten = True
