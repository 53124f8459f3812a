"""Workers: the threads of an engine's lanes, and what each of them does.

Invariants: threads are daemons, started at the first job of their lane, never under the scheduler's
lock. That lock guards what lanes hold (`gluonish_engine.lanes`) and ``started``; a thread's own
state is its own. A thread that runs a job owns the job's variables meanwhile.
"""

import threading
from collections.abc import Callable, Hashable
from typing import Any

from gluonish_engine.lanes import WorkerLane
from gluonish_engine.scheduler import Scheduler
from gluonish_engine.streams import StreamLane
from gluonish_engine.var import Call, Job

__all__ = ["Workers"]


class Workers:
    """Makes lanes of workers, starts their threads and takes jobs to their end.

    Args:
        counts: Number of threads by the last part of a lane key; other keys get those of "compute".
        per_device: Whether each lane key has threads of its own. If not, one pool with the threads
            of "compute" and "copy" runs all of them.
        core: The engine's scheduler.
        thread: Its state by thread.
        run: Runs a call whose variables are granted, on a stream if there is one.
    """

    __slots__ = ("_core", "_counts", "_per_device", "_pool", "_run", "_thread")

    def __init__(
        self,
        counts: dict[str, int],
        per_device: bool,
        core: Scheduler,
        thread: Any,
        run: Callable[[Call, StreamLane | None], object],
    ) -> None:
        self._counts = counts
        self._per_device = per_device
        self._core = core
        self._thread = thread
        self._run = run
        self.reset()

    def reset(self) -> None:
        """Forget the threads; for a fork's child."""
        self._pool = None
        if not self._per_device:
            self._pool = WorkerLane("pool", self._counts["compute"] + self._counts["copy"])

    def lane(self, key: Hashable) -> WorkerLane:
        """Return the lane for a key that has none yet: a new one, or the pool."""
        kind = key[-1] if isinstance(key, tuple) and key else key
        count = self._counts.get(kind) if isinstance(kind, str) else None
        return self._pool or WorkerLane(key, count or self._counts["compute"])

    def start(self, lane: WorkerLane) -> bool:
        """Start the threads of a lane at its first job; False where no thread can start."""
        with self._core.lock:
            if lane.started:
                return True
            lane.started = True
        try:
            for _ in range(lane.workers):
                self._start_thread(lane)
        except RuntimeError:
            # Python refuses new threads while the interpreter ends; the pushing thread takes over.
            lane.started = False
            return False
        return True

    def await_job(self, job: Job) -> None:
        """Block until a job is granted.

        Raises:
            EngineError: if that can never be.
        """
        local = self._thread.state
        if self._core.enter(job, local.running):
            return
        try:
            if local.lane is None:
                job.gate.acquire()
            else:
                self._await_in_worker(job, local.lane)
        except BaseException:
            self._core.abandon(job)
            raise

    def _await_in_worker(self, job: Job, lane: WorkerLane) -> None:
        """Block a worker, while a spare thread takes its place."""
        with self._core.lock:
            needed = lane.needs_spare()
        if needed:
            self._start_thread(lane)
        try:
            job.gate.acquire()
        finally:
            with self._core.lock:
                lane.surplus += 1

    def _start_thread(self, lane: WorkerLane) -> None:
        threading.Thread(
            target=self._work, args=(lane,), name=f"gluonish-engine {lane.key}", daemon=True
        ).start()

    def _work(self, lane: WorkerLane) -> None:
        self._thread.state.lane = lane
        while True:
            lane.tokens.get()
            with self._core.lock:
                job = lane.take()
            if job is None or self._run_job(job, lane):
                return
            # It keeps arrays alive, and the next one may be long in coming.
            del job

    def _run_job(self, job: Job, lane: WorkerLane) -> bool:
        """Run a job in a worker; whether the lane has a thread too many now."""
        self._thread.state.running = job.frame()
        for call in job.calls:
            self._run(call, lane.stream)
        self._thread.state.running = None
        with self._core.lock:
            lane.load -= 1
            self._core.finish(job)
            return lane.leaves()
