"""Worker lanes: the tasks that are ready to run, and the number of threads that run them.

Invariants: fields change in steps (docs/engine.md). ``first`` to ``last`` are the ready tasks, in
the order in which they became ready, linked by ``Task.next``; ``ranked`` counts those with a
priority. If there are any, `next_task` moves the list to ``heap``. ``idle`` is at least the number
of threads that wait for a token and have not been sent one; a thread that gets a token and finds no
task waits again. ``load`` counts the tasks from ready to done, ``backlog`` those from push to done:
while ``backlog`` is above ``limit``, pushes block. A spare thread replaces one that blocks inside a
task. When that thread resumes, there is one thread too many, counted by ``surplus``, and the next
to finish a task ends. ``threads`` are all that were started, some of which may have ended.
"""

import heapq
import threading
from collections.abc import Hashable
from queue import SimpleQueue
from typing import Any

from gluonish_engine.streams import StreamLane
from gluonish_engine.var import Call, Task


class WorkerLane:
    """A priority queue of ready tasks for one set of threads.

    Args:
        key: Lane key of the first push, used in the names of the threads.
        workers: Number of threads.
        stream: Stream that the threads launch tasks on; None if they run the tasks themselves.
        limit: Number of pending tasks beyond which pushes wait.
    """

    __slots__ = (
        "backlog",
        "first",
        "heap",
        "idle",
        "key",
        "last",
        "limit",
        "load",
        "low",
        "ranked",
        "started",
        "stopped",
        "stream",
        "surplus",
        "threads",
        "tokens",
        "workers",
    )

    is_stream = False

    def __init__(
        self, key: Hashable, workers: int, stream: StreamLane | None = None, limit: int = 1 << 30
    ) -> None:
        self.key = key
        self.workers = workers
        self.stream = stream
        self.started = False
        self.stopped = False
        self.limit = limit
        self.low = limit // 2
        self.load = 0
        self.backlog = 0
        self.surplus = 0
        self.idle = 0
        self.ranked = 0
        self.first: Any = None
        self.last: Any = None
        self.heap: list[tuple[int, int, Task]] = []
        self.tokens: SimpleQueue[None] = SimpleQueue()
        self.threads: list[threading.Thread] = []

    def next_task(self, state: Any) -> Call | None:
        """Return the next task; if there is none, count the calling thread as idle.

        An idle thread then waits for a token, unless the lane is stopped.

        Args:
            state: State of the thread; its ``task`` is set before the task leaves the lane.
        """
        if self.ranked or self.heap:
            return self._next_ranked(state)
        task = self.first
        if task is not None:  # a step
            state.task = state.running = task
            self.first = task.next
            if self.first is None:
                self.last = None
            task.next = None
        elif not self.stopped:
            self.idle += 1
        return state.task  # type: ignore[no-any-return]

    def _next_ranked(self, state: Any) -> Call | None:
        """Return the task with the highest priority, the first pushed among equals."""
        while self.first is not None:
            task = self.first
            entry = (-task.priority, task.sequence, task)
            if self.first is task:  # a step, up to the call
                behind = task.next
                last = self.last
                ranked = self.ranked
                self.ranked -= task.priority != 0
                self.first = behind
                if behind is None:
                    self.last = None
                task.next = None
                try:
                    heapq.heappush(self.heap, entry)
                except MemoryError:  # restore
                    task.next, self.first, self.last = behind, task, last
                    self.ranked = ranked
                    raise
        if self.heap:  # a step, up to the call
            state.task = state.running = self.heap[0][2]
            try:
                heapq.heappop(self.heap)
            except MemoryError:  # the task is still in the heap
                state.task = state.running = None
                raise
        elif not self.stopped:
            self.idle += 1
        return state.task  # type: ignore[no-any-return]

    def wake(self) -> None:
        """Wake every waiting thread."""
        for _ in range(max(self.idle, self.workers)):
            self.tokens.put(None)
        self.idle = 0

    def wake_unserved(self) -> bool:
        """Wake threads for ready tasks whose token was lost.

        Returns:
            Whether there are such tasks and no thread is alive to run them.
        """
        if self.first is None:
            return False
        if self.tokens.empty():
            self.wake()
        return not any(thread.is_alive() for thread in self.threads)

    def stop(self) -> None:
        """Let threads end when they find no task; no task may be added after this call."""
        self.stopped = True
        self.wake()

    def retires(self) -> bool:
        """Whether the calling thread is surplus and must end; if so, it is no longer counted."""
        if self.surplus > 0:  # a step
            self.surplus -= 1
            return True
        return False

    def needs_spare(self) -> bool:
        """Whether a thread that is about to block inside a task needs a replacement."""
        return not self.retires()
