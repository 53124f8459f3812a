"""One worker process of a DataLoader, as the main process sees it."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from functools import partial
from typing import Any

from gluonish.core.config import (
    MXNET_MP_OPENCV_NUM_THREADS,
    MXNET_MP_WORKER_NTHREADS,
    flags_without_effect,
)
from gluonish.core.numpy_mode import is_np_array, is_np_shape
from gluonish.data.channel import Channel, channel_pair
from gluonish.data.endings import endings
from gluonish.data.worker_process import Start

__all__ = ["Waiter", "WorkerHandle", "stop_workers"]

# The libraries read their variables when they are loaded, which is after this. Several workers with
# a pool of threads for every core would wait for one another, so the main process's numbers of
# threads do not count here.
_BOOT = """\
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
import json, os, sys
descriptor, parent, variables, path = json.loads(sys.argv[1])
os.environ.update(variables)
sys.argv[:] = ["-c"]
sys.path[:] = path
from gluonish.data.worker_process import main
main(descriptor, parent)
"""
_THREAD_VARIABLES: tuple[str, ...] = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "MXNET_CPU_WORKER_NTHREADS",
)
# How long workers may take to end after their channels closed, in seconds; then they are killed.
_END_TIMEOUT_S = 2.0
# How often processes are asked whether they ended, where the system cannot tell by itself.
_LOOK_S = 1.0


class WorkerHandle:
    """A process, and the channel to it.

    Args:
        places: Where the parts of the dataset's pickle lie in the file.
        file: The file's descriptor.

    Attributes:
        process: The process.
        channel: This end of the channel.
        waiting: Numbers of the batches that it was told to load and has not answered, in order.
        ring: The ring that it knows of, or None.
        started: Whether it has answered.

    Raises:
        OSError: It cannot be started.
    """

    def __init__(self, places: list[tuple[int, int]], file: int) -> None:
        opencv_threads = MXNET_MP_OPENCV_NUM_THREADS.value
        threads = str(MXNET_MP_WORKER_NTHREADS.value)
        variables = dict.fromkeys(_THREAD_VARIABLES, threads)
        # The main process's log has told of them; empty is unset.
        variables.update((flag.name, "") for flag in flags_without_effect())
        variables["OPENCV_FOR_THREADS_NUM"] = str(max(1, opencv_threads))
        ours, theirs = channel_pair()
        with theirs:
            arguments = json.dumps([theirs.fileno(), os.getpid(), variables, sys.path])
            self.process = subprocess.Popen(
                [sys.executable, "-c", _BOOT, arguments],
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                process_group=0,  # Ctrl-C is for the main process alone
            )
        self.channel = Channel(ours)
        self.waiting: dict[int, None] = {}
        self.ring: Any = None
        self.started = False
        self.channel.send(Start(places, is_np_shape(), is_np_array(), opencv_threads), file)

    def how_it_ended(self) -> str:
        """Wait for the end of the process, which has begun, and say how it came."""
        try:
            code = self.process.wait(_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return "closed its channel"
        if code >= 0:
            return f"exited with code {code}"
        name = signal.Signals(-code).name if -code in set(signal.Signals) else "unknown"
        hint = ", as the system does when memory runs out" if -code == signal.SIGKILL else ""
        return f"was killed by signal {-code} ({name}){hint}"


class Waiter:
    """Waits for messages of workers, and for the end of one.

    Args:
        workers: The workers.
    """

    def __init__(self, workers: Iterable[WorkerHandle]) -> None:
        self._poll = select.poll()
        self._by_descriptor: dict[int, WorkerHandle] = {}
        self._ends: dict[int, WorkerHandle] = {}
        for worker in workers:
            number = worker.channel.socket.fileno()
            self._poll.register(number, select.POLLIN)
            self._by_descriptor[number] = worker
            # A process that the worker forked may keep its end of the channel open.
            if hasattr(os, "pidfd_open"):
                number = os.pidfd_open(worker.process.pid)
                self._poll.register(number, select.POLLIN)
                self._ends[number] = worker

    def wait(self, timeout_s: float) -> tuple[list[WorkerHandle], list[WorkerHandle]]:
        """Return the workers that sent a message, and those that ended and sent none."""
        limit_s = timeout_s if self._ends else min(timeout_s, _LOOK_S)
        numbers = [number for number, _ in self._poll.poll(max(0.0, limit_s) * 1000)]
        talking = [self._by_descriptor[one] for one in numbers if one in self._by_descriptor]
        ended = [self._ends[one] for one in numbers if one in self._ends]
        if not self._ends:
            workers = self._by_descriptor.values()
            ended = [worker for worker in workers if worker.process.poll() is not None]
        return talking, [worker for worker in ended if worker not in talking]

    def close(self) -> None:
        """Give the system back what waiting for the ends of processes takes."""
        while self._ends:
            os.close(self._ends.popitem()[0])


def stop_workers(owner: int, workers: list[WorkerHandle], waiters: list[Waiter]) -> None:
    """Have worker processes end within seconds; for finalizers, as it waits for nothing.

    Args:
        owner: The process that started them; in a fork of it this does nothing.
        workers: The workers; empty afterwards.
        waiters: What waits for them; empty afterwards.
    """
    if os.getpid() == owner:
        endings.add(partial(_stop, workers, waiters))


def _stop(workers: list[WorkerHandle], waiters: list[Waiter]) -> None:
    for worker in workers:
        worker.channel.close()
        if not worker.started:
            worker.process.kill()
    while waiters:
        waiters.pop().close()
    deadline = time.monotonic() + _END_TIMEOUT_S
    for worker in workers:
        try:
            worker.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            worker.process.kill()
            worker.process.wait()
    workers.clear()
