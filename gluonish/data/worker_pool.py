"""Worker processes of a DataLoader, seen from the main process.

Invariants: workers are new interpreters, never forks, so that threads of the main process, its
devices and its MPI do not matter. A batch keeps its number from `submit` to `take` or `forget`. It
has a slot of the ring from when it is sent to a worker until it was copied, its last array is
dropped, or, forgotten, it arrives. ``_changed`` guards everything but what a garbage collection may
reach, inside our own calls included: those are queues, which need no lock. One thread at a time
receives messages, without the lock; the others wait for it to tell them.
"""

import contextlib
import os
import pickle
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from gluonish.data.by_value import ByValuePickler, dumps
from gluonish.data.channel import MAX_UNANSWERED
from gluonish.data.endings import endings
from gluonish.data.ring import SPARE_SLOTS, Ring
from gluonish.data.shared_batch import map_arrays, over
from gluonish.data.shared_memory import Segment, new_file
from gluonish.data.worker_errors import Failed, WorkerError, WorkerTimeoutError, make_error
from gluonish.data.worker_handle import Waiter, WorkerHandle, stop_workers
from gluonish.data.worker_process import Done, RingFile, SlotKept, Task
from gluonish.ndarray import NDArray

__all__ = ["Payload", "WorkerPool", "pack"]

# Every mapping of a file keeps a descriptor open: a user who keeps more of them gets copies.
_MAX_MAPPED = 32

Payload = tuple[bytes, list[pickle.PickleBuffer]]


class _DatasetPickler(ByValuePickler):
    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, NDArray):
            return over, (obj.asnumpy(),)
        return super().reducer_override(obj)


def pack(dataset: Any, batchify_fn: Callable[..., Any]) -> Payload:
    """Return a dataset and a function in the form that workers receive them in.

    Raises:
        pickle.PicklingError, TypeError, AttributeError, ValueError: Something cannot be pickled.
    """
    return dumps((dataset, batchify_fn), _DatasetPickler)


class _Batch:
    """What is known of a batch: who loads it, where to, and what came."""

    __slots__ = ("file", "forgotten", "indices", "offset", "result", "ring", "seed", "worker")

    def __init__(self, indices: Sequence[Any], seed: int) -> None:
        self.indices = indices
        self.seed = seed
        self.worker: WorkerHandle | None = None
        self.ring: Ring | None = None
        self.offset: int | None = None
        self.result: Done | Failed | None = None
        self.file: Segment | None = None
        self.forgotten = False

    def free(self) -> None:
        """Give the slot back, if there is one."""
        if self.ring is not None and self.offset is not None:
            self.ring.free.append(self.offset)
            self.offset = None


class WorkerPool:
    """Processes that load batches of one dataset.

    Args:
        payload: What `pack` returned.
        num_workers: How many processes.
        prefetch: How many batches are to be loaded ahead of the one that is waited for; that, and a
            few more, is how many slots there are.

    Raises:
        SharedMemoryError: There is no room for the dataset.
        WorkerError: The processes cannot be started.
    """

    def __init__(self, payload: Payload, num_workers: int, prefetch: int) -> None:
        endings.prepare()
        pickled, buffers = payload
        places, file = _write_file([pickled, *(buffer.raw() for buffer in buffers)])
        self._owner = os.getpid()
        self._slots = prefetch + SPARE_SLOTS
        self._changed = threading.Condition(threading.Lock())
        self._receiving = False
        self._workers: list[WorkerHandle] = []
        self._waiters: list[Waiter] = []
        self._finalizer = weakref.finalize(
            self, stop_workers, self._owner, self._workers, self._waiters
        )
        self._failure: str | None = None
        self._batches: dict[int, _Batch] = {}
        self._backlog: deque[int] = deque()
        self._dropped: deque[int] = deque()
        self._ring: Ring | None = None
        self._mapped: dict[int, None] = {}
        self._count = 0
        try:
            for _ in range(num_workers):
                self._workers.append(WorkerHandle(places, file))
            self._waiters.append(Waiter(self._workers))
        except OSError as error:
            self.close()
            raise WorkerError(
                f"DataLoader: expected to start {num_workers} processes, got {error}; "
                "lower num_workers"
            ) from error
        finally:
            os.close(file)

    @property
    def closed(self) -> bool:
        """Whether the processes were ended, or one has ended, or they are another process's."""
        if not self._finalizer.alive or os.getpid() != self._owner:
            return True
        return any(worker.process.poll() is not None for worker in list(self._workers))

    def close(self) -> None:
        """End the processes; batches that were taken stay valid."""
        self._finalizer()
        endings.wait()

    def submit(self, indices: Sequence[Any], seed: int) -> int:
        """Have a batch loaded; return its number.

        Args:
            indices: Indices into the dataset.
            seed: What the worker's random generators start from for this batch.

        Raises:
            WorkerError: A worker ended.
        """
        if not isinstance(indices, list | tuple | np.ndarray):
            indices = list(indices)
        with self._changed, self._ending_if_interrupted():
            self._check_usable()
            self._count += 1
            number = self._count
            self._batches[number] = _Batch(indices, seed)
            self._backlog.append(number)
            self._dispatch()
            return number

    def take(self, number: int, timeout_s: float) -> Any:
        """Wait for a batch and return it; its arrays lie in memory that the worker wrote.

        Args:
            number: What `submit` returned; a batch can be taken once.
            timeout_s: How long to wait, in seconds.

        Raises:
            WorkerTimeoutError: It did not come in time.
            WorkerError: A worker ended, or raised what cannot be sent.
            SharedMemoryError: There is no room for as many batches as are loaded ahead.
            Exception: what loading the batch raised, with the worker's traceback as a note.
        """
        deadline = time.monotonic() + timeout_s
        with self._changed, self._ending_if_interrupted():
            self._check_usable()
            batch = self._batches[number]
            while batch.result is None:
                rest_s = deadline - time.monotonic()
                if rest_s <= 0:
                    raise self._late(number, batch, timeout_s)
                if self._receiving:
                    self._changed.wait(rest_s)
                else:
                    self._receive(rest_s)
                self._check_usable()
            del self._batches[number]
            return self._finish(number, batch)

    def forget(self, numbers: Iterable[int]) -> None:
        """Drop batches that nobody will take; from anywhere, a garbage collection included."""
        self._dropped.extend(numbers)

    @contextlib.contextmanager
    def _ending_if_interrupted(self) -> Iterator[None]:
        """Scope in which Ctrl-C ends the pool: a message may be lost; the next pass makes another.

        Without it a pass could wait for a batch that came until its time is up.
        """
        try:
            yield
        except Exception:
            raise
        except BaseException:
            self._finalizer()
            raise

    def _check_usable(self) -> None:
        if os.getpid() != self._owner:
            raise WorkerError(
                f"DataLoader: expected iterators to be used in process {self._owner}, which made "
                f"them, got process {os.getpid()}; start a new pass over the loader"
            )
        if not self._finalizer.alive:
            raise WorkerError(
                self._failure or "DataLoader: expected running workers, they were ended"
            )
        while self._dropped:
            self._drop(self._dropped.popleft())

    def _drop(self, number: int) -> None:
        batch = self._batches.get(number)
        if batch is None:
            return
        if batch.worker is None or batch.result is not None:
            del self._batches[number]
            batch.free()
        else:
            batch.forgotten = True

    def _dispatch(self) -> None:
        """Send batches to the workers that have least to do."""
        while self._backlog:
            worker = min(self._workers, key=lambda one: len(one.waiting))
            if len(worker.waiting) >= MAX_UNANSWERED:
                return
            number = self._backlog.popleft()
            batch = self._batches.get(number)
            if batch is not None:
                self._send(worker, number, batch)

    def _send(self, worker: WorkerHandle, number: int, batch: _Batch) -> None:
        ring = self._ring
        if ring is not None:
            batch.ring, batch.offset = ring, ring.take()
        batch.worker = worker
        worker.waiting[number] = None
        try:
            if ring is not None and worker.ring is not ring:
                worker.channel.send(RingFile(ring.slot_nbytes), ring.descriptor)
                worker.ring = ring
            worker.channel.send(Task(number, _compact(batch.indices), batch.seed, batch.offset))
        except OSError as error:
            raise self._dead(worker) from error
        except BaseException:  # such as Ctrl-C inside a message: nobody knows what was sent
            self.close()
            raise

    def _receive(self, timeout_s: float) -> None:
        """Wait for messages and file them; called with the lock, waits without it."""
        waiter = self._waiters[0]
        arrived: list[tuple[WorkerHandle, Any, int | None]] = []
        ended: list[WorkerHandle] = []
        self._receiving = True
        self._changed.release()
        try:
            talking, ended = waiter.wait(timeout_s)
            for worker in talking:
                try:
                    arrived.append((worker, *worker.channel.receive()))
                except (EOFError, OSError):
                    ended.append(worker)
        except BaseException:  # such as Ctrl-C inside a message: nobody knows what was received
            self.close()
            raise
        finally:
            self._changed.acquire()
            self._receiving = False
            self._changed.notify_all()
        self._check_usable()
        for worker, message, descriptor in arrived:
            self._file(worker, message, descriptor)
        if ended:
            raise self._dead(ended[0])
        self._dispatch()

    def _file(
        self, worker: WorkerHandle, message: Done | Failed | SlotKept, descriptor: int | None
    ) -> None:
        worker.started = True
        if isinstance(message, SlotKept):
            self._batches[message.number].offset = None  # never to be free again
            return
        number = message.number
        if number is None:
            assert isinstance(message, Failed)
            self._failure = f"DataLoader: expected workers to start, got an error:\n{message.text}"
            self.close()
            raise make_error(message, f"worker process {worker.process.pid}, at its start")
        del worker.waiting[number]
        batch = self._batches[number]
        batch.result = message
        if isinstance(message, Failed) or not message.nbytes or descriptor is not None:
            batch.free()
        if descriptor is not None:
            batch.file = Segment(descriptor)
            assert isinstance(message, Done)
            self._make_room(message.nbytes)
        if batch.forgotten:
            self._drop(number)

    def _make_room(self, nbytes: int) -> None:
        """Make a ring whose slots hold batches of this size, if they do not yet."""
        before = self._ring
        if before is not None:
            if nbytes <= before.slot_nbytes:
                return
            nbytes += nbytes // 8  # batches that vary in size make few rings
        try:
            self._ring = Ring(self._slots, nbytes)
        except MemoryError as error:
            self._failure = str(error)
            self.close()
            raise

    def _finish(self, number: int, batch: _Batch) -> Any:
        result = batch.result
        if isinstance(result, Failed):
            assert batch.worker is not None
            raise make_error(result, f"worker process {batch.worker.process.pid}")
        assert result is not None
        if not result.nbytes:
            return result.described
        # The callbacks hold a queue alone: a batch that the user keeps must not keep the pool.
        if batch.file is not None:
            self._mapped[number] = None
            release: Callable[[], object] = partial(self._mapped.pop, number)
            copy = len(self._mapped) > _MAX_MAPPED
            return map_arrays(batch.file.memory, 0, result.nbytes, result.described, release, copy)
        assert batch.ring is not None
        assert batch.offset is not None
        ring = batch.ring
        release = partial(ring.free.append, batch.offset)
        copy = not ring.free  # the next batch needs a slot, and who keeps this one keeps others
        return map_arrays(ring.memory, batch.offset, result.nbytes, result.described, release, copy)

    def _dead(self, worker: WorkerHandle) -> WorkerError:
        how = worker.how_it_ended()
        number = next(iter(worker.waiting), None)
        doing = ""
        if number is not None:
            doing = f" while loading dataset indices {_short(self._batches[number].indices)}"
        self._failure = (
            f"DataLoader: expected worker process {worker.process.pid} to run, it {how}{doing}; "
            "num_workers=0 loads in the main process, where a debugger reaches"
        )
        self.close()
        return WorkerError(self._failure)

    def _late(self, number: int, batch: _Batch, timeout_s: float) -> WorkerTimeoutError:
        self._drop(number)
        who = "any worker" if batch.worker is None else f"worker process {batch.worker.process.pid}"
        return WorkerTimeoutError(
            f"DataLoader: expected the batch of dataset indices {_short(batch.indices)} within "
            f"{timeout_s} s, got none from {who}; raise timeout, or look for what blocks the "
            "dataset with num_workers=0"
        )


def _write_file(parts: Sequence[bytes | memoryview]) -> tuple[list[tuple[int, int]], int]:
    """Write pickle and arrays of a dataset into one file, once for all workers.

    Returns:
        Start and size of each part, in bytes, and the file's descriptor.
    """
    places: list[tuple[int, int]] = []
    end = 0
    for part in parts:
        start = -(-end // 64) * 64
        places.append((start, len(part)))
        end = start + len(part)
    descriptor = new_file(end, "the dataset", "take thread_pool=True, which shares no memory")
    memory = np.frombuffer(Segment(os.dup(descriptor)).memory, np.uint8)
    for (start, nbytes), part in zip(places, parts, strict=True):
        memory[start : start + nbytes] = np.frombuffer(part, np.uint8)
    return places, descriptor


def _compact(indices: Sequence[Any]) -> Any:
    """Return indices that take fewer bytes, and no time for each, where they are NumPy's."""
    kinds = set(map(type, indices))
    if len(kinds) == 1 and issubclass(kind := kinds.pop(), np.integer):
        return np.array(indices, dtype=kind)
    return indices


def _short(indices: Sequence[Any]) -> str:
    shown = ", ".join(str(index) for index in list(indices)[:8])
    return f"[{shown}, ... {len(indices)} in all]" if len(indices) > 8 else f"[{shown}]"
