"""Workers: the threads of an engine's lanes, and what each of them does.

Invariants: threads are daemons, started at the first task of their lane. What lanes hold
(`gluonish_engine.lanes`) and ``started`` change in steps (docs/engine.md); a thread's own state is
its own. A thread that runs a task owns the task's variables meanwhile.
"""

import contextlib
import itertools
import threading
from collections.abc import Callable, Hashable, Iterator
from typing import Any

from gluonish_engine.errors import EngineError
from gluonish_engine.idle import patience
from gluonish_engine.lanes import WorkerLane
from gluonish_engine.scheduler import Scheduler
from gluonish_engine.streams import StreamLane
from gluonish_engine.var import Call, HereCall, HostWait, tasks_behind, waits_for


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
        give_up: Callable[[Call, BaseException], None],
        limit: int,
    ) -> None:
        self._counts = counts
        self._per_device = per_device
        self._core = core
        self._thread = thread
        self._run = run
        self._give_up = give_up
        self._limit = limit
        core.revive = self._revive
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
            # The next push starts all, so that those that run already are too many.
            lane.started = False
            lane.surplus += sum(thread.is_alive() for thread in begun)
            # Python refuses new threads while the interpreter ends; the pushing thread takes over.
            if isinstance(error, RuntimeError):
                return False
            raise
        return True

    def block(self, task: HereCall | HostWait, local: Any) -> None:
        """Block until a task that entered is granted.

        Raises:
            EngineError: if that can never be.
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
                if not task.gate.acquire(True, patience(turn)):
                    core.catch_up()
                    core.wake_lanes()
                    found = found + 1 if task.owner and waits_for(task, task.owner) else 0
                    if found > 1 and task.wait:  # it was no cycle of a moment
                        raise EngineError(
                            "wait: expected work that can end, "
                            "got work that waits for this very operator"
                        )

    @contextlib.contextmanager
    def away(self, lane: WorkerLane | None) -> Iterator[None]:
        """Scope in which the calling thread waits; if it works for a lane, another steps in.

        Args:
            lane: That lane; None: the thread is no worker.
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
        """Start a thread for a lane whose threads all ended before they could be replaced."""
        if lane.started and not lane.stopped:
            with contextlib.suppress(RuntimeError):  # the interpreter ends
                self._new_thread(lane).start()

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
        leaving = core.leaving
        while True:
            task = lane.take(local)
            while task is not None:
                run(task, stream, local)
                # A step. From here on it is the scheduler's, whatever becomes of this thread.
                leaving[task] = None
                local.running = local.task = None
                core.let_go(task)
                # It keeps arrays alive, and the next one may be long in coming.
                del task
                if lane.surplus and lane.leaves():
                    return
                task = lane.take(local)
            if lane.stopped:
                return
            lane.tokens.get()

    def _bury(self, lane: WorkerLane, local: Any, error: BaseException) -> None:
        """Take a dead thread's task to its end, and start a thread in the place of the dead one."""
        core, task = self._core, local.task
        if task is not None:
            self._give_up(task, error)
            local.running = local.task = None
            core.leave(task)
        core.catch_up()
        lane.wake()
        if not lane.stopped:
            try:
                self._new_thread(lane).start()
            except RuntimeError:
                lane.started = False  # the next push tries again
