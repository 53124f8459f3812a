"""Threads that load batches, with the calls of `gluonish.data.worker_pool.WorkerPool`.

Invariants: threads hold the queue of jobs and the dataset, never the pool, so that dropping the
pool ends them. A job is done when its lock is free. They are daemons: a program ends although one
still loads a sample.
"""

import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from queue import SimpleQueue
from typing import Any

from gluonish.core.numpy_mode import numpy_scope_of_here
from gluonish.data.endings import endings
from gluonish.data.worker_errors import WorkerTimeoutError
from gluonish.data.worker_process import load_batch

__all__ = ["ThreadPool"]

# How long the end of a program waits for the samples that are being loaded, in seconds.
_END_TIMEOUT_S = 2.0


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


class ThreadPool:
    """Threads that load batches of one dataset.

    Args:
        dataset: Used by several threads at once.
        batchify_fn: Makes a batch of samples.
        num_workers: How many threads.
    """

    def __init__(self, dataset: Any, batchify_fn: Callable[..., Any], num_workers: int) -> None:
        endings.prepare()
        self._owner = os.getpid()
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._jobs: dict[int, _Job] = {}
        self._numbers = iter(range(1, 1 << 62))
        arguments = (self._queue, dataset, batchify_fn)
        threads = [
            threading.Thread(target=_load, args=arguments, name=f"gluonish-data-{i}", daemon=True)
            for i in range(num_workers)
        ]
        self._finalizer = weakref.finalize(self, _stop, self._queue, threads, self._jobs)
        for thread in threads:
            thread.start()

    @property
    def closed(self) -> bool:
        """Whether the threads were ended, or did not come along when the process was forked."""
        return not self._finalizer.alive or os.getpid() != self._owner

    def close(self) -> None:
        """End the threads, once they are done with the samples that they load."""
        self._finalizer()

    def submit(self, indices: Sequence[Any], seed: int) -> int:
        """Have a batch loaded; return its number.

        Args:
            indices: Indices into the dataset.
            seed: Ignored: threads share the generators of the process.
        """
        number = next(self._numbers)
        job = self._jobs[number] = _Job(indices)
        self._queue.put(job)
        return number

    def take(self, number: int, timeout_s: float) -> Any:
        """Wait for a batch and return it.

        Args:
            number: What `submit` returned; a batch can be taken once.
            timeout_s: How long to wait, in seconds.

        Raises:
            WorkerTimeoutError: It did not come in time.
            Exception: what loading the batch raised.
        """
        job = self._jobs.pop(number)
        if not job.done.acquire(timeout=min(timeout_s, threading.TIMEOUT_MAX)):
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

    def forget(self, numbers: Iterable[int]) -> None:
        """Drop batches that nobody will take."""
        for number in numbers:
            job = self._jobs.pop(number, None)
            if job is not None:
                job.forgotten = True


def _load(queue: "SimpleQueue[_Job | None]", dataset: Any, batchify_fn: Any) -> None:
    while (job := queue.get()) is not None:
        if not job.forgotten:
            try:
                with job.semantics:
                    job.batch = load_batch(dataset, job.indices, batchify_fn)
            except BaseException as error:  # whoever takes the batch gets it
                job.error = error
        job.done.release()
        del job  # a batch that nobody took is not kept while the thread waits


def _stop(
    queue: "SimpleQueue[_Job | None]", threads: list[threading.Thread], jobs: dict[int, _Job]
) -> None:
    for job in list(jobs.values()):
        job.forgotten = True
    for _ in threads:
        queue.put(None)
    endings.add(partial(_join, threads))


def _join(threads: list[threading.Thread]) -> None:
    deadline = time.monotonic() + _END_TIMEOUT_S
    for thread in threads:
        if thread is not threading.current_thread() and thread.is_alive():
            thread.join(max(0.0, deadline - time.monotonic()))
