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
from gluonish_engine.var import Call, Job, Task

__all__ = ["Workers"]


class Workers:
    """Makes lanes of workers, starts their threads and takes jobs to their end.

    Args:
        counts: Number of threads by the last part of a lane key; other keys get those of "compute".
            Behind "launch " those of the threads that launch on a stream.
        per_device: Whether each lane key has threads of its own. If not, one pool with the threads
            of "compute" and "copy" runs all of them.
        core: The engine's scheduler.
        thread: Its state by thread.
        run: Runs a call whose variables are granted, on a stream if there is one.
        give_up: Fails a task of a thread that died with an exception.
        limit: How many tasks may be pending in a lane before pushes wait.
    """

    __slots__ = (
        "_core",
        "_counts",
        "_give_up",
        "_limit",
        "_per_device",
        "_pool",
        "_run",
        "_thread",
    )

    def __init__(
        self,
        counts: dict[str, int],
        per_device: bool,
        core: Scheduler,
        thread: Any,
        run: Callable[[Call, StreamLane | None, Any], object],
        give_up: Callable[[Task, BaseException], None],
        limit: int,
    ) -> None:
        self._counts = counts
        self._per_device = per_device
        self._core = core
        self._thread = thread
        self._run = run
        self._give_up = give_up
        self._limit = limit
        self.reset()

    def reset(self) -> None:
        """Forget the threads; for a fork's child."""
        self._pool = None
        if not self._per_device:
            count = self._counts["compute"] + self._counts["copy"]
            self._pool = WorkerLane("pool", count, limit=self._limit)

    def lane(self, key: Hashable) -> WorkerLane:
        """Return the lane for a key that has none yet: a new one, or the pool."""
        kind = key[-1] if isinstance(key, tuple) and key else key
        count = self._counts.get(kind) if isinstance(kind, str) else None
        return self._pool or WorkerLane(key, count or self._counts["compute"], limit=self._limit)

    def launcher(self, key: Hashable, stream: StreamLane) -> WorkerLane:
        """Return a new lane whose threads launch on a stream."""
        kind = stream.key[-1] if isinstance(stream.key, tuple) and stream.key else ""
        count = self._counts.get(f"launch {kind}", self._counts["launch compute"])
        return WorkerLane(key, count, stream, self._limit)

    def start(self, lane: WorkerLane) -> bool:
        """Start the threads of a lane at its first job; False where no thread can start."""
        begun: list[threading.Thread] = []
        mine = False
        try:
            with self._core.lock:
                if lane.started:
                    return True
                lane.started = mine = True
            for _ in range(lane.workers):
                begun.append(self._new_thread(lane))
                begun[-1].start()
        except BaseException as error:
            if mine:
                with self._core.lock:
                    # The next push starts all, so that those that run already are too many.
                    lane.started = False
                    lane.surplus += sum(thread.is_alive() for thread in begun)
            # Python refuses new threads while the interpreter ends; the pushing thread takes over.
            if isinstance(error, RuntimeError):
                return False
            raise
        return True

    def await_job(self, job: Job) -> None:
        """Block until a job is granted.

        Raises:
            EngineError: if that can never be.
        """
        local = self._thread.state
        try:
            if self._core.enter(job, local.running):
                return
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
            self._new_thread(lane).start()
        try:
            job.gate.acquire()
        finally:
            with self._core.lock:
                lane.surplus += 1

    def _new_thread(self, lane: WorkerLane) -> threading.Thread:
        return threading.Thread(
            target=self._work, args=(lane,), name=f"gluonish-engine {lane.key}", daemon=True
        )

    def _work(self, lane: WorkerLane) -> None:
        local = self._thread.state
        local.lane = lane
        try:
            self._work_for(lane, local)
        except BaseException as error:
            # None of an operator's, which `_run` keeps: somebody raises in this thread, or it has
            # no memory. Another goes on in its place.
            self._bury(lane, local, error)

    def _work_for(self, lane: WorkerLane, local: Any) -> None:
        core, run, stream = self._core, self._run, lane.stream
        lock = core.lock
        line, heap = lane.line, lane.heap
        while True:
            with lock:
                task = lane.take(local)
            while task is not None:
                if type(task) is Call:  # `Call.frame`, written out
                    local.running = (task.inputs, task.writes, None)
                    run(task, stream, local)
                else:
                    local.running = task.frame()
                    for call in task.calls:  # type: ignore[attr-defined]  # a Job
                        run(call, stream, local)
                local.running = None
                with lock:
                    try:
                        core.finish(task)
                    except BaseException:
                        core.finish_late(task)
                        local.task = None
                        raise
                    local.task = None
                    if lane.surplus and lane.leaves():
                        return
                    # It keeps arrays alive, and the next one may be long in coming.
                    if line and not heap:  # `take`, written out
                        local.task = task = line[0]
                        del line[0]
                    else:
                        task = lane.take(local)
            if lane.stopped:
                return
            lane.tokens.get()

    def _bury(self, lane: WorkerLane, local: Any, error: BaseException) -> None:
        """Take a dead thread's task to its end, and start a thread in the place of the dead one."""
        core, task = self._core, local.task
        if task is not None:
            self._give_up(task, error)
        with core.lock:
            if task is not None:
                core.finish(task)
            lane.wake()
        local.task = local.running = None
        if not lane.stopped:
            try:
                self._new_thread(lane).start()
            except RuntimeError:
                lane.started = False  # the next push tries again
