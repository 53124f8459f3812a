"""The thread that a pool of worker processes is served by: starts them, sends tasks, files batches.

Python runs signal handlers, and raises Ctrl-C, in the main thread alone, between any two steps. So
what a pool knows is changed by a thread of its own, which nothing interrupts. Invariants: others
put requests into queues and wait for a batch's lock, each a single step of the interpreter, and may
be interrupted around it at will; nobody needs to tell the thread of its pool's end, which it sees
by itself within `_LOOK_S`. A batch has a slot of the ring from when it is sent to a worker until it
has come, and then `Batch.memory` has it: the slot is free once nothing holds that any more.
"""

import ctypes
import os
import signal
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

from gluonish.core.leases import Lending
from gluonish.gluon.data.channel import MAX_UNANSWERED, Ring
from gluonish.gluon.data.shared_memory import Segment
from gluonish.gluon.data.worker_errors import Failed, WorkerError, make_error
from gluonish.gluon.data.worker_handle import Launch, Waiter, WorkerHandle, end_workers
from gluonish.gluon.data.worker_process import Done, RingFile, SlotKept, Task

# How long the thread sleeps at most before it looks whether its pool is still there, in seconds.
_LOOK_S = 1.0

# What is heard when the pool is dropped.
_DROPPED = b"x"
# Makes the error that a batch fails with.
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
        self.memory: Any = None  # what the worker wrote, in a slot or a file of its own
        self.is_mapped = False  # whether in a file
        self.forgotten = False
        self.done = threading.Lock()  # free when there is a result or a failure
        self.done.acquire()


_silent = threading.get_ident  # anything that does nothing, and is not written in Python


class _PoolRef(weakref.ref[Any]):
    """Knows whether a pool is there, and rings when it is dropped.

    Nothing of that is a step in Python: an interrupt that came there would be lost.
    """

    ring: Callable[[], object] = _silent


class WorkerService:
    """The state of a pool, used only by its thread.

    Args:
        pool: The pool; the workers end when nothing refers to it any more.
        launch: What the workers start with.
        file: Descriptor of the file with the dataset; `run` closes it.
        num_workers: Number of processes.
        slots: Number of batches for which the ring has room.

    Attributes:
        requests: Batches to load.
        dropped: Batches that will not be taken.
        stopping: Whether the workers must end; any thread may set it.
        failure: Why no more batches can be loaded, or None.
        ended: Whether all workers have ended, and the thread is about to.
        workers: The processes.
        batches: Batches that were submitted and have no result yet, by number.
        backlog: Numbers of those that no worker has yet.
        ring: The ring for batches, created with the first one.
        mapped: Batches in files of their own that are still in use.
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
        self.mapped: Lending[None] = Lending()
        self._launch = launch
        self._files = [file]
        self._num_workers = num_workers
        self._slots = slots
        self._count = 0
        self._asleep = False
        self._ringer: socket.socket | None = None
        self._pool = _PoolRef(pool, methodcaller("ring"))

    def wake(self) -> None:
        """Process requests now instead of within a second; may be called from any thread."""
        ringer = self._ringer
        if self._asleep and ringer is not None:
            self._asleep = False
            with suppress(OSError):  # it has heard, or has ended
                ringer.send(b"!")

    def stop(self) -> None:
        """Tell the workers to end, without waiting."""
        self.stopping = True
        self.wake()

    def close_file(self) -> None:
        """Close the dataset's file if `run` has not started; then it starts no processes."""
        with suppress(IndexError):
            os.close(self._files.pop())

    def run(self) -> None:
        """Serve the pool until it ends."""
        waiter: Waiter | None = None
        # Workers inherit it: one that starts would die of a Ctrl-C until it has its own group.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            bell, ringer = socket.socketpair()
            with bell, ringer:
                bell.setblocking(False)
                ringer.setblocking(False)
                self._ringer, self._pool.ring = ringer, partial(ringer.send, _DROPPED)
                try:
                    if self._start():
                        waiter = Waiter(self.workers, bell)
                        while not self._is_over():
                            self._turn(waiter)
                finally:
                    self._pool.ring = _silent
                    if self._pool() is None and (waiter is None or _DROPPED not in waiter.heard):
                        _listen(bell)
        except BaseException as error:
            if self.failure is None:
                self.failure = partial(_unexpected, error)
        finally:
            self._end(waiter)

    def fail(self, error: Exception) -> None:
        """Let all batches fail, because `run` cannot start.

        Args:
            error: The cause.
        """
        self.failure = partial(_unexpected, error)
        self.close_file()
        self._end(None)

    def _is_over(self) -> bool:
        return self.stopping or self.failure is not None or self._pool() is None

    def _start(self) -> bool:
        """Start the processes; return whether all run."""
        if not self._files:
            return False
        file = self._files.pop()
        try:
            for _ in range(self._num_workers):
                if self._is_over():
                    return False
                self.workers.append(WorkerHandle(self._launch, file))
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

    def _turn(self, waiter: Waiter) -> None:
        """Do what was asked for, and file what has come; sleep where there is nothing."""
        self._asleep = True  # from here on who puts a request rings
        with suppress(Empty):
            while True:
                self._admit(self.requests.get_nowait())
        while self.dropped:
            self._drop(self.dropped.popleft())
        self._dispatch()
        if self._is_over():
            return
        talking, ended = waiter.wait(_LOOK_S)
        self._asleep = False
        for worker in talking:
            try:
                message, descriptor = worker.channel.receive()
            except (EOFError, OSError):
                ended.append(worker)
            else:
                self._file_message(worker, message, descriptor)
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
        batch.forgotten = True  # its request may not have been looked at yet
        if batch.worker is None:
            self.batches.pop(batch.number, None)

    def _dispatch(self) -> None:
        """Send batches to the workers that have least to do."""
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
            batch.ring, batch.offset = ring, ring.take()
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

    def _file_message(
        self, worker: WorkerHandle, message: Done | Failed | SlotKept, descriptor: int | None
    ) -> None:
        worker.started = True
        if isinstance(message, SlotKept):
            self.batches[message.number].offset = None  # never to be free again
            return
        number = message.number
        if number is None:
            assert isinstance(message, Failed)
            who = f"worker process {worker.process.pid}, at its start"
            self.failure = partial(make_error, message, who)
            return
        del worker.waiting[number]
        batch = self.batches.pop(number)
        nbytes = message.nbytes if isinstance(message, Done) else 0
        if descriptor is not None:
            batch.memory, batch.is_mapped = self._mapped(descriptor, nbytes), True
            self._make_room(nbytes)
        if batch.ring is not None and batch.offset is not None:
            if nbytes and descriptor is None:
                batch.memory = batch.ring.lend(batch.offset, nbytes)
            else:
                batch.ring.give_back(batch.offset)
        batch.result = message
        batch.failure = self.failure
        batch.done.release()

    def _mapped(self, descriptor: int, nbytes: int) -> Any:
        """Return the memory of a batch that came in a file of its own."""
        memory = (ctypes.c_ubyte * nbytes).from_buffer(Segment(descriptor).memory)
        deque(self.mapped.returned(), maxlen=0)
        self.mapped.lend(None, memory)
        return memory

    def _make_room(self, nbytes: int) -> None:
        """Make a ring whose slots hold batches of this size, if they do not yet."""
        before = self.ring
        if before is not None:
            if nbytes <= before.slot_nbytes:
                return
            nbytes += nbytes // 8  # batches that vary in size make few rings
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
            doing = f" while loading dataset indices {short(self.batches[number].indices)}"
        self.failure = partial(
            WorkerError,
            f"DataLoader: expected worker process {worker.process.pid} to run, it {how}{doing}; "
            "num_workers=0 loads in the main process, where a debugger reaches",
        )


def _listen(bell: socket.socket) -> None:
    """Wait until the ring of a dropped pool, which has begun, is over: then it needs no socket."""
    bell.settimeout(_LOOK_S)
    with suppress(OSError):
        while _DROPPED not in bell.recv(4096):
            pass


def ended() -> Exception:
    """Return the error of batches that no worker will load."""
    return WorkerError("DataLoader: expected running workers, got ended ones")


def _unexpected(error: BaseException) -> Exception:
    made = WorkerError(f"DataLoader: expected to serve the workers, got {error!r}")
    made.__cause__ = error
    return made


def _compact(indices: Sequence[Any]) -> Any:
    """Return indices that take fewer bytes, and no time for each, where they are NumPy's."""
    kinds = set(map(type, indices))
    if len(kinds) == 1 and issubclass(kind := kinds.pop(), np.integer):
        return np.array(indices, dtype=kind)
    return indices


def short(indices: Sequence[Any]) -> str:
    """Return indices as text for a message: the first eight, and their number.

    Args:
        indices: The indices.
    """
    shown = ", ".join(str(index) for index in list(indices)[:8])
    return f"[{shown}, ... {len(indices)} in all]" if len(indices) > 8 else f"[{shown}]"
