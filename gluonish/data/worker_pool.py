"""Worker processes of a DataLoader, seen from the main process.

Invariants: workers are new interpreters, never forks, so that threads of the main process do not
matter. A batch keeps its number from `submit` to `take` or `forget`; one that was forgotten frees
its segment on arrival. ``_lock`` guards everything but the queues of freed segments, which are
filled from wherever an array is dropped, a garbage collection inside our own calls included.
"""

import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from gluonish.core.errors import GluonishError
from gluonish.data.by_value import ByValuePickler, dumps
from gluonish.data.channel import Channel, ready
from gluonish.data.shared_batch import Segment, map_arrays, new_file, over
from gluonish.data.worker_process import Done, Failed, Task
from gluonish.ndarray import NDArray

__all__ = ["Payload", "WorkerError", "WorkerPool", "WorkerTimeoutError", "pack"]

# Several workers with a pool of threads for every core would wait for one another.
_BOOT = """\
import json, os, sys
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
sys.path[:] = json.loads(sys.argv[2])
from gluonish.data.worker_process import main
main(int(sys.argv[1]))
"""
# How long a worker may take to end after its channel closed, in seconds; then it is killed.
_END_TIMEOUT_S = 2.0
# Every mapping keeps a descriptor open: a user who keeps more batches than this gets copies.
_MAX_MAPPED = 32
# How long one thread waits for messages before it lets another thread look, in seconds.
_SLICE_S = 0.2

Payload = tuple[bytes, list[pickle.PickleBuffer]]


class WorkerError(GluonishError, RuntimeError):
    """A worker process of a DataLoader ended, or raised what cannot be sent."""


class WorkerTimeoutError(WorkerError, TimeoutError):
    """A batch of a DataLoader did not come in time."""


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


class _Worker:
    """One process, the channel to it, and its segments that are mapped here."""

    def __init__(self, places: list[tuple[int, int]], file: int) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-c", _BOOT, str(theirs.fileno()), json.dumps(sys.path)],
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
            )
        self.channel = Channel(ours)
        self.segments: dict[int, Segment] = {}
        self.freed: deque[int] = deque()
        self.waiting: set[int] = set()
        self.started = False
        self.channel.send(places, file)

    def drain_freed(self) -> tuple[int, ...]:
        """Return the segments that were freed since the last call."""
        return tuple(self.freed.popleft() for _ in range(len(self.freed)))

    def end_of(self) -> str:
        """Say how the process ended."""
        try:
            code = self.process.wait(_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return "closed its channel"
        if code >= 0:
            return f"exited with code {code}"
        return f"was killed by signal {-code} ({signal.Signals(-code).name})"


class WorkerPool:
    """Processes that load batches of one dataset.

    Args:
        payload: What `pack` returned.
        num_workers: How many processes.
    """

    def __init__(self, payload: Payload, num_workers: int) -> None:
        pickled, buffers = payload
        places, file = _write_file([pickled, *(buffer.raw() for buffer in buffers)])
        self._lock = threading.Lock()
        self._workers: list[_Worker] = []
        self._finalizer = weakref.finalize(self, _stop, os.getpid(), self._workers)
        self._owners: dict[int, _Worker] = {}
        self._indices: dict[int, Sequence[Any]] = {}
        self._results: dict[int, Done | Failed] = {}
        self._forgotten: set[int] = set()
        self._count = 0
        try:
            for _ in range(num_workers):
                self._workers.append(_Worker(places, file))
        except OSError as error:
            self.close()
            raise WorkerError(f"DataLoader: expected to start {num_workers} processes") from error
        finally:
            os.close(file)

    @property
    def closed(self) -> bool:
        """Whether the processes were ended."""
        return not self._finalizer.alive

    def close(self) -> None:
        """End the processes; batches that were taken stay valid."""
        self._finalizer()

    def submit(self, indices: Sequence[Any], seed: int) -> int:
        """Have a batch loaded; return its number.

        Args:
            indices: Indices into the dataset.
            seed: What the worker's random generators start from for this batch.

        Raises:
            WorkerError: A worker ended.
        """
        with self._lock:
            self._count += 1
            number = self._count
            worker = min(self._workers, key=lambda one: len(one.waiting))
            worker.waiting.add(number)
            self._owners[number] = worker
            self._indices[number] = indices
            task = Task(number, indices, seed, worker.drain_freed())
            try:
                worker.channel.send(task)
            except OSError as error:
                raise self._dead(worker) from error
            return number

    def take(self, number: int, timeout_s: float) -> Any:
        """Wait for a batch and return it; its arrays lie in memory that the worker wrote.

        Args:
            number: What `submit` returned; a batch can be taken once.
            timeout_s: How long to wait, in seconds.

        Raises:
            WorkerTimeoutError: It did not come in time.
            WorkerError: A worker ended, or raised what cannot be sent.
            Exception: what loading the batch raised, with the worker's traceback as a note.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            with self._lock:
                result = self._results.pop(number, None)
                if result is not None:
                    return self._finish(number, result)
                rest = deadline - time.monotonic()
                if rest <= 0:
                    raise self._late(number, timeout_s)
                self._receive(min(rest, _SLICE_S))

    def forget(self, numbers: Iterable[int]) -> None:
        """Drop batches that nobody will take."""
        with self._lock:
            for number in numbers:
                result = self._results.pop(number, None)
                if result is not None:
                    self._discard(number, result)
                elif number in self._owners:
                    self._forgotten.add(number)

    def _receive(self, timeout_s: float) -> None:
        channels = {worker.channel: worker for worker in self._workers}
        for channel in ready(list(channels), timeout_s):
            worker = channels[channel]
            try:
                message, descriptor = channel.receive()
            except (EOFError, OSError) as error:
                raise self._dead(worker) from error
            worker.started = True
            self._file(worker, message, descriptor)

    def _file(self, worker: _Worker, message: Done | Failed, descriptor: int | None) -> None:
        if isinstance(message, Done) and message.segment is not None:
            for dropped in message.dropped:
                del worker.segments[dropped]
            if descriptor is not None:
                worker.segments[message.segment] = Segment(descriptor)
        number = message.number
        if number is None:
            self.close()
            assert isinstance(message, Failed)
            raise _as_error(message, f"worker process {worker.process.pid}, at its start")
        worker.waiting.discard(number)
        if number in self._forgotten:
            self._forgotten.discard(number)
            self._discard(number, message)
        else:
            self._results[number] = message

    def _discard(self, number: int, result: Done | Failed) -> None:
        worker = self._owners.pop(number)
        del self._indices[number]
        if isinstance(result, Done) and result.segment is not None:
            worker.freed.append(result.segment)

    def _finish(self, number: int, result: Done | Failed) -> Any:
        worker = self._owners.pop(number)
        del self._indices[number]
        if isinstance(result, Failed):
            raise _as_error(result, f"worker process {worker.process.pid}")
        if result.segment is None:
            return result.described
        # The callback holds the queue alone: a batch that the user keeps must not keep the pool.
        release = partial(worker.freed.append, result.segment)
        copy = len(worker.segments) > _MAX_MAPPED
        return map_arrays(worker.segments[result.segment], result.described, release, copy)

    def _dead(self, worker: _Worker) -> WorkerError:
        how = worker.end_of()
        what = [list(self._indices[number]) for number in sorted(worker.waiting)][:1]
        while_loading = f" while loading dataset indices {_short(what[0])}" if what else ""
        pid = worker.process.pid
        self.close()
        return WorkerError(
            f"DataLoader: expected worker process {pid} to run, it {how}{while_loading}; "
            "num_workers=0 loads in the main process, where a debugger reaches"
        )

    def _late(self, number: int, timeout_s: float) -> WorkerTimeoutError:
        worker = self._owners[number]
        indices = _short(list(self._indices[number]))
        self._forgotten.add(number)
        return WorkerTimeoutError(
            f"DataLoader: expected the batch of dataset indices {indices} within {timeout_s} s, "
            f"got none from worker process {worker.process.pid}; raise timeout, or look for what "
            "blocks the dataset with num_workers=0"
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
    descriptor = new_file(end)
    memory = np.frombuffer(Segment(os.dup(descriptor)).memory, np.uint8)
    for (start, nbytes), part in zip(places, parts, strict=True):
        memory[start : start + nbytes] = np.frombuffer(part, np.uint8)
    return places, descriptor


def _short(indices: list[Any]) -> str:
    shown = ", ".join(str(index) for index in indices[:8])
    return f"[{shown}, ... {len(indices)} in all]" if len(indices) > 8 else f"[{shown}]"


def _as_error(failed: Failed, where: str) -> Exception:
    if failed.error is None:
        return WorkerError(f"DataLoader: {where} raised an error:\n{failed.text}")
    error: Exception = pickle.loads(failed.error)
    error.add_note(f"DataLoader: in {where}:\n{failed.text}")
    return error


def _stop(owner: int, workers: list[_Worker]) -> None:
    """End worker processes; also called when the pool is collected, and at exit."""
    if os.getpid() != owner:
        return  # a fork of the main process; the workers are not its own
    for worker in workers:
        worker.channel.close()
        if not worker.started:
            worker.process.kill()
    for worker in workers:
        try:
            worker.process.wait(_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            worker.process.kill()
            worker.process.wait()
    workers.clear()
