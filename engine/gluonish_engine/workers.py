"""Workers: the threads of an engine's lanes, and their loop.

Invariants: threads are daemons, started at the first task of their lane. The state of lanes
(`gluonish_engine.lanes`) changes in steps (docs/engine.md); the state of a thread is private to it.
While a thread runs a task, it owns the task's variables.
"""

import contextlib
import itertools
import threading
from collections.abc import Callable, Hashable, Iterator
from typing import Any

from gluonish_engine.errors import EngineError
from gluonish_engine.idle import poll_interval_s
from gluonish_engine.lanes import WorkerLane
from gluonish_engine.scheduler import Scheduler
from gluonish_engine.streams import StreamLane
from gluonish_engine.var import BlockingCall, Call, HostWait, tasks_behind, waits_for


class Workers:
    """Makes worker lanes, starts their threads and runs their tasks.

    Args:
        counts: Number of threads by lane kind; see `gluonish_engine.threaded.ThreadedEngine`.
        per_device: See `ThreadedEngine`.
        core: The engine's scheduler.
        thread: The engine's thread-local state.
        run: Runs a call whose variables are granted, on a stream if there is one.
        fail_call: Fails the task of a thread that died with an exception.
        limit: Number of pending tasks of a lane beyond which pushes wait.
    """

    __slots__ = (
        "_core",
        "_counts",
        "_fail_call",
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
        fail_call: Callable[[Call, BaseException], None],
        limit: int,
    ) -> None:
        self._counts = counts
        self._per_device = per_device
        self._core = core
        self._thread = thread
        self._run = run
        self._fail_call = fail_call
        self._limit = limit
        core.revive = self._revive
        self.reset()

    def reset(self) -> None:
        """Drop the threads; called in a forked child."""
        self._pool = None
        if not self._per_device:
            count = self._counts["compute"] + self._counts["copy"]
            self._pool = WorkerLane("pool", count, limit=self._limit)

    def lane(self, key: Hashable) -> WorkerLane:
        """Return the lane for a new key: a new lane, or the pool."""
        kind = key[-1] if isinstance(key, tuple) and key else key
        count = self._counts.get(kind) if isinstance(kind, str) else None
        return self._pool or WorkerLane(key, count or self._counts["compute"], limit=self._limit)

    def launcher(self, key: Hashable, stream: StreamLane) -> WorkerLane:
        """Return a new lane whose threads launch on a stream."""
        kind = stream.key[-1] if isinstance(stream.key, tuple) and stream.key else ""
        count = self._counts.get(f"launch {kind}", self._counts["launch compute"])
        return WorkerLane(key, count, stream, self._limit)

    def start(self, lane: WorkerLane) -> bool:
        """Start the threads of a lane at its first job; return False if no thread can start."""
        begun: list[threading.Thread] = []
        if lane.started:  # a step
            return True
        lane.started = True
        try:
            if lane not in self._core.lanes:
                self._core.lanes.append(lane)
            for _ in range(lane.workers):
                begun.append(self._new_thread(lane))
                begun[-1].start()
        except BaseException as error:
            # The next push starts all threads again, so those that are running are surplus.
            lane.started = False
            lane.surplus += sum(thread.is_alive() for thread in begun)
            # Python starts no new threads at interpreter exit; the pushing thread runs the job.
            if isinstance(error, RuntimeError):
                return False
            raise
        return True

    def block(self, task: BlockingCall | HostWait, local: Any) -> None:
        """Block until an entered task is granted.

        Raises:
            EngineError: The task can never be granted.
        """
        core, lane = self._core, local.lane
        core.catch_up()
        if not task.wait:
            return
        if task.owner is not None:
            later = tasks_behind(task.owner)
            if task in later:
                core.overtake(task, later - {task})
        with self.away(lane):
            found = 0
            for turn in itertools.count():
                if not task.wait:
                    return
                if not task.gate.acquire(True, poll_interval_s(turn)):
                    core.catch_up()
                    core.wake_lanes()
                    found = found + 1 if task.owner and waits_for(task, task.owner) else 0
                    if found > 1 and task.wait:  # the cycle persists
                        raise EngineError(
                            "wait: expected work that can end, "
                            "got work that waits for this same operator"
                        )

    @contextlib.contextmanager
    def away(self, lane: WorkerLane | None) -> Iterator[None]:
        """Scope in which the calling thread waits, and a spare worker replaces it in its lane.

        Args:
            lane: The thread's lane; None if the thread is not a worker.
        """
        if lane is None:
            yield
            return
        if lane.needs_spare():
            self._new_thread(lane).start()
        try:
            yield
        finally:
            lane.surplus += 1

    def _new_thread(self, lane: WorkerLane) -> threading.Thread:
        thread = threading.Thread(
            target=self._work, args=(lane,), name=f"gluonish-engine {lane.key}", daemon=True
        )
        lane.threads = [one for one in lane.threads if one.is_alive() or one.ident is None]
        lane.threads.append(thread)
        return thread

    def _revive(self, lane: WorkerLane) -> None:
        """Start a thread for a lane whose threads all ended without a replacement."""
        if lane.started and not lane.stopped:
            with contextlib.suppress(RuntimeError):  # at interpreter exit
                self._new_thread(lane).start()

    def _work(self, lane: WorkerLane) -> None:
        local = self._thread.state
        local.lane = lane
        try:
            self._work_for(lane, local)
        except BaseException as error:
            # Not from an operator, whose errors `_run` stores: an asynchronous exception, or no
            # memory. A new thread replaces this one.
            self._replace_thread(lane, local, error)

    def _work_for(self, lane: WorkerLane, local: Any) -> None:
        core, run, stream = self._core, self._run, lane.stream
        leaving = core.leaving
        while True:
            task = lane.next_task(local)
            while task is not None:
                run(task, stream, local)
                # A step. From here on the scheduler finishes it, even if this thread dies.
                leaving[task] = None
                local.running = local.task = None
                core.release(task)
                # The task keeps arrays alive, and the next task may come much later.
                del task
                if lane.surplus and lane.retires():
                    return
                task = lane.next_task(local)
            if lane.stopped:
                return
            lane.tokens.get()

    def _replace_thread(self, lane: WorkerLane, local: Any, error: BaseException) -> None:
        """End the task of a dead thread, and start a new thread in its place."""
        core, task = self._core, local.task
        if task is not None:
            self._fail_call(task, error)
            local.running = local.task = None
            core.leave(task)
        core.catch_up()
        lane.wake()
        if not lane.stopped:
            try:
                self._new_thread(lane).start()
            except RuntimeError:
                lane.started = False  # the next push tries again
