"""Threads that load batches, with the calls of `gluonish.data.worker_pool.WorkerPool`."""

import weakref
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from gluonish.data.worker_pool import WorkerTimeoutError
from gluonish.data.worker_process import load_batch

__all__ = ["ThreadPool"]


class ThreadPool:
    """Threads that load batches of one dataset.

    Args:
        dataset: Used by several threads at once.
        batchify_fn: Makes a batch of samples.
        num_workers: How many threads.
    """

    def __init__(self, dataset: Any, batchify_fn: Callable[..., Any], num_workers: int) -> None:
        self._dataset = dataset
        self._batchify_fn = batchify_fn
        self._executor = ThreadPoolExecutor(num_workers, thread_name_prefix="gluonish-data")
        self._finalizer = weakref.finalize(
            self, self._executor.shutdown, wait=False, cancel_futures=True
        )
        self._futures: dict[int, Future[Any]] = {}
        self._count = 0

    @property
    def closed(self) -> bool:
        """Whether the threads were ended."""
        return not self._finalizer.alive

    def close(self) -> None:
        """End the threads, once they are done with the samples that they load."""
        self._finalizer()

    def submit(self, indices: Sequence[Any], seed: int) -> int:
        """Have a batch loaded; return its number.

        Args:
            indices: Indices into the dataset.
            seed: Ignored: threads share the generators of the process.
        """
        self._count += 1
        number = self._count
        self._futures[number] = self._executor.submit(
            load_batch, self._dataset, indices, self._batchify_fn
        )
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
        future = self._futures.pop(number)
        try:
            return future.result(timeout_s)
        except TimeoutError:
            if future.done():
                raise
            raise WorkerTimeoutError(
                f"DataLoader: expected batch {number} from a thread within {timeout_s} s, got none"
            ) from None

    def forget(self, numbers: Iterable[int]) -> None:
        """Drop batches that nobody will take."""
        for number in numbers:
            future = self._futures.pop(number, None)
            if future is not None:
                future.cancel()
