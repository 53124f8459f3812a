"""The service thread of a pool of worker processes: starts them, sends tasks, receives batches.

Python runs signal handlers, and raises KeyboardInterrupt, in the main thread only, between any two
bytecodes. So the state of a pool is changed by a dedicated thread, which is never interrupted.
Invariants: other threads put requests into queues and wait for a batch's lock; both are atomic, and
may be interrupted before and after. The thread detects the end of its pool by itself within
`_POLL_S`. A batch owns a slot of the ring from when it is sent to a worker until its result
arrives; then `Batch.memory` owns the slot, which is released with it.
"""

import ctypes
import os
import socket
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from operator import methodcaller
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np

from gluonish.core.finalizer import Leases
from gluonish.core.operating_system import block_interrupts
from gluonish.gluon.data.channel import MAX_UNANSWERED, Failed, Ring, WorkerError, make_error
from gluonish.gluon.data.shared_memory import Segment
from gluonish.gluon.data.worker_handle import Launch, Waiter, WorkerHandle, end_workers
from gluonish.gluon.data.worker_process import Done, RingFile, SlotRetained, Task

# Interval in which the thread checks that its pool is alive, in seconds.
_POLL_S = 1.0

# The byte that is sent when the pool is dropped.
_DROPPED = b"x"
# A function that creates the error of a batch.
Failure = Callable[[], Exception]


class Batch:
    """The state of a batch: its worker, its slot, and its result."""

    __slots__ = (
        "done",
        "failure",
        "forgotten",
        "indices",
        "is_mapped",
        "memory",
        "number",
        "offset",
        "result",
        "ring",
        "seed",
        "worker",
    )

    def __init__(self, indices: Sequence[Any], seed: int) -> None:
        self.number = 0
        self.indices = indices
        self.seed = seed
        self.worker: WorkerHandle | None = None
        self.ring: Ring | None = None
        self.offset: int | None = None
        self.result: Done | Failed | None = None
        self.failure: Failure | None = None
        self.memory: Any = None  # written by the worker, in a slot or a file
        self.is_mapped = False  # whether the memory is that of a separate file
        self.forgotten = False
        self.done = threading.Lock()  # free when there is a result or a failure
        self.done.acquire()


_no_op = threading.get_ident  # any function in C without effect


class _PoolRef(weakref.ref[Any]):
    """A weak reference to a pool that wakes the service when the pool is dropped.

    The callback runs no Python code, in which an interrupt would be lost.
    """

    on_drop: Callable[[], object] = _no_op


class WorkerService:
    """Runs the worker processes of a pool, in the service thread, which owns the pool's state.

    Args:
        pool: The pool; the workers end when it is dropped.
        launch: Start arguments of the workers.
        file: Descriptor of the file with the dataset; `run` closes it.
        num_workers: Number of processes.
        slots: Number of slots of the ring.

    Attributes:
        requests: Batches to load.
        dropped: Discarded batches.
        stopping: Whether the workers must end; any thread may set it.
        failure: Creates the error of all further batches; None while the pool works.
        ended: Whether all workers have ended, and the thread is about to end.
        workers: The processes.
        batches: Batches that were submitted and have no result yet, by number.
        backlog: Numbers of the batches that were not sent to a worker yet.
        ring: The ring for batches, created with the first one.
        mapped: The batches in separate files that are still in use.
    """

    def __init__(
        self, pool: object, launch: Launch, file: int, num_workers: int, slots: int
    ) -> None:
        self.requests: SimpleQueue[Batch] = SimpleQueue()
        self.dropped: deque[Batch] = deque()
        self.stopping = False
        self.failure: Failure | None = None
        self.ended = False
        self.workers: list[WorkerHandle] = []
        self.batches: dict[int, Batch] = {}
        self.backlog: deque[int] = deque()
        self.ring: Ring | None = None
        self.mapped: Leases[None] = Leases()
        self._launch = launch
        self._files = [file]
        self._num_workers = num_workers
        self._slots = slots
        self._count = 0
        self._asleep = False
        self._wake_sender: socket.socket | None = None
        self._pool = _PoolRef(pool, methodcaller("on_drop"))

    def wake(self) -> None:
        """Process requests now instead of within a second; may be called from any thread."""
        wake_sender = self._wake_sender
        if self._asleep and wake_sender is not None:
            self._asleep = False
            with suppress(OSError):  # already woken, or ended
                wake_sender.send(b"!")

    def stop(self) -> None:
        """Stop the workers without waiting."""
        self.stopping = True
        self.wake()

    def close_file(self) -> None:
        """Close the dataset's file if `run` has not started; `run` then starts no processes."""
        with suppress(IndexError):
            os.close(self._files.pop())

    def run(self) -> None:
        """Serve the pool until it ends."""
        waiter: Waiter | None = None
        # Workers inherit the mask: a Ctrl-C would kill a starting worker before it has its own
        # group.
        block_interrupts()
        try:
            wake_receiver, wake_sender = socket.socketpair()
            with wake_receiver, wake_sender:
                wake_receiver.setblocking(False)
                wake_sender.setblocking(False)
                self._wake_sender = wake_sender
                self._pool.on_drop = partial(wake_sender.send, _DROPPED)
                try:
                    if self._start():
                        waiter = Waiter(self.workers, wake_receiver)
                        while not self._is_over():
                            self._serve_once(waiter)
                finally:
                    self._pool.on_drop = _no_op
                    if self._pool() is None and (waiter is None or _DROPPED not in waiter.received):
                        _listen(wake_receiver)
        except BaseException as error:
            if self.failure is None:
                self.failure = partial(_unexpected, error)
        finally:
            self._end(waiter)

    def fail(self, error: Exception) -> None:
        """Fail all batches, because `run` cannot start."""
        self.failure = partial(_unexpected, error)
        self.close_file()
        self._end(None)

    def _is_over(self) -> bool:
        return self.stopping or self.failure is not None or self._pool() is None

    def _start(self) -> bool:
        """Start the processes; return whether all were started."""
        if not self._files:
            return False
        file = self._files.pop()
        try:
            for i in range(self._num_workers):
                if self._is_over():
                    return False
                self.workers.append(
                    WorkerHandle(self._launch, file, self._launch.numbers.first + i)
                )
        except OSError as error:
            self.failure = partial(
                WorkerError,
                f"DataLoader: expected to start {self._num_workers} processes, got {error}; "
                "lower num_workers",
            )
            return False
        finally:
            os.close(file)
        return True

    def _end(self, waiter: Waiter | None) -> None:
        self.stopping = True
        with suppress(Empty):
            while True:
                self._admit(self.requests.get_nowait())
        failure = self.failure or ended
        for batch in self.batches.values():
            batch.failure = failure
            batch.done.release()
        self.batches.clear()
        if waiter is not None:
            waiter.close()
        if self.ring is not None:
            self.ring.close()
        try:
            end_workers(self.workers)
        finally:
            self.ended = True

    def _serve_once(self, waiter: Waiter) -> None:
        """Process all requests, then wait for messages and process them."""
        self._asleep = True  # from here on `wake` sends a byte
        with suppress(Empty):
            while True:
                self._admit(self.requests.get_nowait())
        while self.dropped:
            self._drop(self.dropped.popleft())
        self._dispatch()
        if self._is_over():
            return
        readable, ended = waiter.wait(_POLL_S)
        self._asleep = False
        for worker in readable:
            try:
                message, descriptor = worker.channel.receive()
            except (EOFError, OSError):
                ended.append(worker)
            else:
                self._receive(worker, message, descriptor)
        if ended and self.failure is None:
            self._fail_dead(ended[0])

    def _admit(self, batch: Batch) -> None:
        if batch.forgotten:
            return
        self._count += 1
        batch.number = self._count
        self.batches[batch.number] = batch
        self.backlog.append(batch.number)

    def _drop(self, batch: Batch) -> None:
        batch.forgotten = True  # its request may not be processed yet
        if batch.worker is None:
            self.batches.pop(batch.number, None)

    def _dispatch(self) -> None:
        """Send batches to the workers with the fewest pending batches."""
        while self.backlog and self.failure is None:
            worker = min(self.workers, key=lambda one: len(one.waiting))
            if len(worker.waiting) >= MAX_UNANSWERED:
                return
            batch = self.batches.get(self.backlog.popleft())
            if batch is not None:
                self._send(worker, batch)

    def _send(self, worker: WorkerHandle, batch: Batch) -> None:
        ring = self.ring
        if ring is not None:
            batch.ring, batch.offset = ring, ring.acquire()
        batch.worker = worker
        worker.waiting[batch.number] = None
        try:
            if ring is not None and worker.ring is not ring:
                worker.channel.send(RingFile(ring.slot_nbytes), ring.descriptor)
                worker.ring = ring
            indices = _compact(batch.indices)
            worker.channel.send(Task(batch.number, indices, batch.seed, batch.offset))
        except MemoryError as error:
            self.failure = partial(type(error), str(error))
        except OSError:
            self._fail_dead(worker)

    def _receive(
        self, worker: WorkerHandle, message: Done | Failed | SlotRetained, descriptor: int | None
    ) -> None:
        worker.started = True
        if isinstance(message, SlotRetained):
            self.batches[message.number].offset = None  # so that the slot is never released
            return
        number = message.number
        if number is None:
            assert isinstance(message, Failed)
            worker_name = f"worker process {worker.process.pid}, at its start"
            self.failure = partial(make_error, message, worker_name)
            return
        del worker.waiting[number]
        batch = self.batches.pop(number)
        nbytes = message.nbytes if isinstance(message, Done) else 0
        if descriptor is not None:
            batch.memory, batch.is_mapped = self._mapped(descriptor, nbytes), True
            self._fit_ring(nbytes)
        if batch.ring is not None and batch.offset is not None:
            if nbytes and descriptor is None:
                batch.memory = batch.ring.view(batch.offset, nbytes)
            else:
                batch.ring.release(batch.offset)
        batch.result = message
        batch.failure = self.failure
        batch.done.release()

    def _mapped(self, descriptor: int, nbytes: int) -> Any:
        """Return the memory of a batch in a separate file."""
        memory = (ctypes.c_ubyte * nbytes).from_buffer(Segment(descriptor).memory)
        deque(self.mapped.reclaim(), maxlen=0)
        self.mapped.grant(None, memory)
        return memory

    def _fit_ring(self, nbytes: int) -> None:
        """Create a ring with larger slots if a batch of this size does not fit."""
        before = self.ring
        if before is not None:
            if nbytes <= before.slot_nbytes:
                return
            nbytes += nbytes // 8  # so that batches of varying sizes need few rings
        try:
            self.ring = Ring(self._slots, nbytes)
        except MemoryError as error:
            self.failure = partial(type(error), str(error))
        else:
            if before is not None:
                before.close()

    def _fail_dead(self, worker: WorkerHandle) -> None:
        how = worker.how_it_ended()
        number = next(iter(worker.waiting), None)
        doing = ""
        if number is not None:
            doing = f" while loading dataset indices {format_indices(self.batches[number].indices)}"
        self.failure = partial(
            WorkerError,
            f"DataLoader: expected worker process {worker.process.pid} to run, it {how}{doing}; "
            "use num_workers=0 to load in the main process, under a debugger",
        )


def _listen(wake_receiver: socket.socket) -> None:
    """Wait until the callback of a dropped pool has sent its byte and needs no socket any more."""
    wake_receiver.settimeout(_POLL_S)
    with suppress(OSError):
        while _DROPPED not in wake_receiver.recv(4096):
            pass


def ended() -> Exception:
    """Return the error for batches that no worker will load."""
    return WorkerError("DataLoader: expected running workers, got ended ones")


def _unexpected(error: BaseException) -> Exception:
    made = WorkerError(f"DataLoader: expected to serve the workers, got {error!r}")
    made.__cause__ = error
    return made


def _compact(indices: Sequence[Any]) -> Any:
    """Convert NumPy integers to an array, which is smaller and faster to pickle."""
    kinds = set(map(type, indices))
    if len(kinds) == 1 and issubclass(kind := kinds.pop(), np.integer):
        return np.array(indices, dtype=kind)
    return indices


def format_indices(indices: Sequence[Any]) -> str:
    """Format indices for a message: the first eight, and their number."""
    shown = ", ".join(str(index) for index in list(indices)[:8])
    return f"[{shown}, ... {len(indices)} in all]" if len(indices) > 8 else f"[{shown}]"
