"""Worker processes of a DataLoader, seen from the main process.

Workers are new interpreters, never forks, so that threads, devices and MPI of the main process are
no problem. Their state belongs to a dedicated thread (`worker_service`), which Ctrl-C does not
reach; the pool puts requests into its queues and waits for batches.
"""

import os
import pickle
import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gluonish.gluon.data.channel import (
    SPARE_SLOTS,
    Failed,
    WorkerError,
    WorkerTimeoutError,
    make_error,
)
from gluonish.gluon.data.service_threads import service_threads
from gluonish.gluon.data.shared_memory import Segment, new_file
from gluonish.gluon.data.worker_handle import (
    Launch,
    WorkerHandle,
    WorkerNumbers,
    launch_settings,
)
from gluonish.gluon.data.worker_service import Batch, WorkerService, ended, format_indices
from gluonish.io.shared_batch import map_arrays

# Every mapping of a file keeps a descriptor open; beyond this number, batches are copied.
_MAX_MAPPED = 32
# Interval in which a wait for a batch checks that the service still runs, in seconds.
_POLL_S = 1.0


class WorkerPool:
    """Processes that load batches of one dataset.

    Args:
        payload: Dataset, function that makes a batch, and if there is one a function to call with
            the number of the worker at its start, from `by_value.dumps`.
        num_workers: Number of processes.
        prefetch: Number of batches to load ahead; there are `SPARE_SLOTS` more slots of shared
            memory.
        numbers: What the processes know of themselves; None for a pool that is the whole loader's.

    Raises:
        SharedMemoryError: There is not enough memory for the dataset.
    """

    def __init__(
        self,
        payload: tuple[bytes, list[pickle.PickleBuffer]],
        num_workers: int,
        prefetch: int,
        numbers: WorkerNumbers | None = None,
    ) -> None:
        settings = launch_settings()
        self._owner = os.getpid()
        pickled, buffers = payload
        chunks, file = _write_file([pickled, *(buffer.raw() for buffer in buffers)])
        launch = Launch(chunks, *settings, numbers or WorkerNumbers(0, num_workers, 0))
        self._service = WorkerService(self, launch, file, num_workers, prefetch + SPARE_SLOTS)
        try:
            service_threads.start(self._service, "gluonish-data-workers")
        except BaseException:
            self._service.close_file()
            raise

    @property
    def _workers(self) -> list[WorkerHandle]:
        return self._service.workers

    @property
    def closed(self) -> bool:
        """Whether the pool was stopped, lost a worker, or belongs to another process."""
        service = self._service
        if service.stopping or service.failure is not None or os.getpid() != self._owner:
            return True
        return any(worker.has_ended() for worker in list(self._workers))

    def close(self) -> None:
        """End the processes; returned batches stay valid."""
        if os.getpid() == self._owner:
            self._service.stop()
            service_threads.wait(self._service)

    def abandon(self) -> None:
        """Stop the processes without waiting, unless all are still starting.

        A process that loads a batch may be stuck. Processes that are still starting continue, as
        new processes would take as long to start.
        """
        if any(worker.started for worker in list(self._workers)):
            self._service.stop()

    def submit(self, indices: Sequence[Any], seed: int) -> Batch:
        """Request a batch; return a handle for `take`.

        Raises:
            WorkerError: A worker ended, or cannot be started.
        """
        if not isinstance(indices, list | tuple | np.ndarray):
            indices = list(indices)
        self._check_owner()
        service = self._service
        if service.failure is not None:
            raise service.failure()
        batch = Batch(indices, seed)
        service.requests.put(batch)
        service.wake()
        return batch

    def take(self, batch: Batch, timeout_s: float) -> Any:
        """Wait for a batch and return it; its arrays are in shared memory.

        Args:
            batch: Handle from `submit`; a batch can be returned once.
            timeout_s: Maximum time to wait, in seconds.

        Raises:
            WorkerTimeoutError: The batch did not arrive in time.
            WorkerError: A worker ended, cannot be started, or raised an error that cannot be sent.
            SharedMemoryError: There is not enough memory for the batches that are loaded ahead.
            Exception: The error raised while loading the batch, with the worker's traceback as a
                note.
        """
        self._check_owner()
        service = self._service
        deadline = time.monotonic() + timeout_s
        while not batch.done.acquire(timeout=max(0.0, min(deadline - time.monotonic(), _POLL_S))):
            if service.ended and batch.done.locked():  # submitted after the end
                raise (service.failure or ended)()
            if time.monotonic() >= deadline:
                raise self._late(batch, timeout_s)
            service.wake()
        if batch.failure is not None:
            raise batch.failure()
        return self._finish(batch)

    def forget(self, batches: Iterable[Batch]) -> None:
        """Discard pending batches; may be called during a garbage collection."""
        self._service.dropped.extend(batches)

    def _check_owner(self) -> None:
        if os.getpid() != self._owner:
            raise WorkerError(
                f"DataLoader: expected the iterator to be used in process {self._owner}, which "
                f"created it, got process {os.getpid()}; start a new pass over the loader"
            )

    def _finish(self, batch: Batch) -> Any:
        result = batch.result
        if isinstance(result, Failed):
            assert batch.worker is not None
            raise make_error(result, f"worker process {batch.worker.process.pid}")
        assert result is not None
        if not result.nbytes:
            return result.described
        memory, batch.memory = batch.memory, None
        if batch.is_mapped:
            copy = len(self._service.mapped) > _MAX_MAPPED
        else:  # the next batch needs a slot, and the program keeps several
            copy = batch.ring is not None and not batch.ring.has_free_slot()
        return map_arrays(memory, result.described, copy)

    def _late(self, batch: Batch, timeout_s: float) -> WorkerTimeoutError:
        self.forget([batch])
        name = "any worker"
        if batch.worker is not None:
            name = f"worker process {batch.worker.process.pid}"
        return WorkerTimeoutError(
            f"DataLoader: expected the batch of dataset indices {format_indices(batch.indices)} "
            f"within {timeout_s} s, got none from {name}; raise timeout, or find what blocks the "
            "dataset with num_workers=0"
        )


def _write_file(contents: Sequence[bytes | memoryview]) -> tuple[list[tuple[int, int]], int]:
    """Write the pickle and the arrays of a dataset into one file for all workers.

    Returns:
        Offset and size of each chunk, in bytes, and the file's descriptor.
    """
    chunks: list[tuple[int, int]] = []
    end = 0
    for chunk in contents:
        start = -(-end // 64) * 64
        chunks.append((start, len(chunk)))
        end = start + len(chunk)
    descriptor = new_file(end, "the dataset", "use thread_pool=True, which shares no memory")
    try:
        memory = np.frombuffer(Segment(os.dup(descriptor)).memory, np.uint8)
        for (start, nbytes), chunk in zip(chunks, contents, strict=True):
            memory[start : start + nbytes] = np.frombuffer(chunk, np.uint8)
    except BaseException:
        os.close(descriptor)
        raise
    return chunks, descriptor
