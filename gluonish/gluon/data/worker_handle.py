"""The main process's side of one worker process of a DataLoader."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable
from typing import Any, NamedTuple

from gluonish.core.config import (
    MXNET_MP_OPENCV_NUM_THREADS,
    MXNET_MP_WORKER_NTHREADS,
    flags_without_effect,
)
from gluonish.core.mxnet_rules import Rules, current_rules
from gluonish.core.numpy_mode import is_np_array, is_np_shape
from gluonish.core.operating_system import KILL, has_ended
from gluonish.gluon.data.channel import Channel, channel_pair
from gluonish.gluon.data.connection import Events
from gluonish.gluon.data.worker_process import Start

# The variables must be set before the libraries are loaded. Several workers with a thread for every
# core each would oversubscribe the machine, so the main process's thread counts do not apply.
_BOOT = """\
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
if hasattr(signal, "pthread_sigmask"):
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
import json, os, sys
descriptor, parent, variables, path = json.loads(sys.argv[1])
os.environ.update(variables)
sys.argv[:] = ["-c"]
sys.path[:] = path
from gluonish.gluon.data.worker_process import main
main(descriptor, parent)
"""
_THREAD_VARIABLES: tuple[str, ...] = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "MXNET_CPU_WORKER_NTHREADS",
)
# Time for workers to end after their channels are closed, in seconds; then they are killed.
_END_TIMEOUT_S = 1.0


class WorkerNumbers(NamedTuple):
    """Numbers of a pool's workers: of the first one, of all in the loader; and their seed.

    The seed of worker i is ``seed + i``.
    """

    first: int
    total: int
    seed: int


class Launch(NamedTuple):
    """The start arguments of workers: offset and size of each chunk of the dataset; settings."""

    chunks: list[tuple[int, int]]
    variables: dict[str, str]
    rules: Rules
    np_shape: bool
    np_array: bool
    opencv_threads: int
    numbers: WorkerNumbers


def launch_settings() -> tuple[dict[str, str], Rules, bool, bool, int]:
    """Return the settings for `Launch`, from the calling thread and the environment."""
    opencv_threads = MXNET_MP_OPENCV_NUM_THREADS.value
    variables = dict.fromkeys(_THREAD_VARIABLES, str(MXNET_MP_WORKER_NTHREADS.value))
    # The main process has warned about these variables; an empty variable counts as unset.
    variables.update((flag.name, "") for flag in flags_without_effect())
    variables["OPENCV_FOR_THREADS_NUM"] = str(max(1, opencv_threads))
    return variables, current_rules(), is_np_shape(), is_np_array(), opencv_threads


class WorkerHandle:
    """A worker process and its channel; not thread-safe, except `has_ended`.

    Args:
        launch: Start arguments.
        file: Descriptor of the file with the dataset.
        worker: Number of the worker.

    Attributes:
        process: The process.
        channel: This end of the channel.
        waiting: Numbers of the batches that were sent to the worker and are pending, in order.
        ring: The ring that the worker has mapped, or None.
        started: Whether the worker has sent a message.

    Raises:
        OSError: The process cannot be started.
    """

    def __init__(self, launch: Launch, file: int, worker: int) -> None:
        local_end, remote_end = channel_pair()
        with remote_end:
            arguments = json.dumps([remote_end.fileno(), os.getpid(), launch.variables, sys.path])
            self.process = subprocess.Popen(
                [sys.executable, "-c", _BOOT, arguments],
                stdin=subprocess.DEVNULL,
                pass_fds=(remote_end.fileno(),),
                process_group=0,  # Ctrl-C must reach only the main process
            )
        self.channel = Channel(local_end)
        self.waiting: dict[int, None] = {}
        self.ring: Any = None
        self.started = False
        total, seed = launch.numbers.total, launch.numbers.seed + worker
        start = Start(
            launch.chunks,
            launch.rules,
            launch.np_shape,
            launch.np_array,
            launch.opencv_threads,
            worker,
            total,
            seed,
        )
        self.channel.send(start, file)

    def has_ended(self) -> bool:
        """Whether the process has ended. May be called from any thread."""
        return has_ended(self.process)

    def how_it_ended(self) -> str:
        """Wait for the ending process and describe its exit."""
        try:
            code = self.process.wait(_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return "closed its channel"
        if code >= 0:
            return f"exited with code {code}"
        name = signal.Signals(-code).name if -code in set(signal.Signals) else "unknown"
        hint = ", as the system does when memory runs out" if -code == KILL else ""
        return f"was killed by signal {-code} ({name}){hint}"


class Waiter:
    """Waits for messages from workers, and for the end of a worker.

    Args:
        workers: The workers.
        wake_receiver: Socket that ends the wait when it is readable.

    Attributes:
        received: The bytes last read from ``wake_receiver``.
    """

    def __init__(self, workers: Iterable[WorkerHandle], wake_receiver: socket.socket) -> None:
        self._workers = list(workers)
        self._wake_receiver = wake_receiver
        self.received = b""
        self._events = Events()
        self._events.add(wake_receiver, None)
        for worker in self._workers:
            # A process forked by the worker may keep the worker's end of the channel open.
            self._events.add(worker.channel.socket, worker, worker.process.pid)

    def wait(self, timeout_s: float) -> tuple[list[WorkerHandle], list[WorkerHandle]]:
        """Return the workers that sent a message, and the workers that ended without a message."""
        readable, ended = self._events.wait(timeout_s)
        if None in readable:
            self.received = self._wake_receiver.recv(4096)
            readable.remove(None)
        if not self._events.sees_ends:
            ended = [worker for worker in self._workers if worker.has_ended()]
        return readable, [worker for worker in ended if worker not in readable]

    def close(self) -> None:
        """Close the process descriptors."""
        self._events.close()


def end_workers(workers: list[WorkerHandle]) -> None:
    """End worker processes, within `_END_TIMEOUT_S`."""
    for worker in workers:
        worker.channel.close()
        if not worker.started:
            worker.process.kill()
    deadline = time.monotonic() + _END_TIMEOUT_S
    for worker in workers:
        try:
            worker.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            worker.process.kill()
            worker.process.wait()
