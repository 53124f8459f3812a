"""Worker lanes: the tasks that are ready to run, and the number of threads that run them.

Invariants: fields change in steps (docs/engine.md). ``first`` to ``last`` are the
tasks that are ready, in the order in which they became so, linked by ``Task.next``; ``ranked``
counts those of them that have a priority. A thread that finds one moves these to ``heap``, which
only that and `take` touch. ``idle`` is at least the number of threads that wait for a token and
have not been given one; a thread that gets a token and finds no task, because another was quicker,
waits again. ``load`` counts the tasks from ready to done, ``backlog`` those from push to done:
while it is above ``limit``, pushes block. A thread that blocks inside a task is replaced by a spare
one until it comes back; then one thread too many is left, counted by ``surplus``, and the next to
finish a task goes. ``threads`` are those that were started, some of which may have ended.
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
        key: Lane key of its first push, for the names of the threads.
        workers: Number of threads.
        stream: Where the threads launch what they run; None: they run it themselves.
        limit: How many tasks may be pending before pushes wait.
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

    def take(self, state: Any) -> Call | None:
        """Return the next task; without one, count the calling thread as idle.

        A thread that finds none and is not told to stop waits for a token then.

        Args:
            state: The thread's, whose ``task`` it becomes before the lane loses it.
        """
        if self.ranked or self.heap:
            return self._take_ranked(state)
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

    def _take_ranked(self, state: Any) -> Call | None:
        """Take the one of the highest priority, of equal ones the one that was pushed first."""
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
                except MemoryError:  # as it was
                    task.next, self.first, self.last = behind, task, last
                    self.ranked = ranked
                    raise
        if self.heap:  # a step, up to the call
            state.task = state.running = self.heap[0][2]
            try:
                heapq.heappop(self.heap)
            except MemoryError:  # it is still there
                state.task = state.running = None
                raise
        elif not self.stopped:
            self.idle += 1
        return state.task  # type: ignore[no-any-return]

    def wake(self) -> None:
        """Have every thread that waits look again."""
        for _ in range(max(self.idle, self.workers)):
            self.tokens.put(None)
        self.idle = 0

    def wake_again(self) -> bool:
        """Wake threads for tasks that nobody was told of, if that seems to have happened.

        Returns:
            Whether there are such tasks and no thread is left that could hear of it.
        """
        if self.first is None:
            return False
        if self.tokens.empty():
            self.wake()
        return not any(thread.is_alive() for thread in self.threads)

    def stop(self) -> None:
        """Tell every thread to end when it finds no task; none may be added any more."""
        self.stopped = True
        self.wake()

    def leaves(self) -> bool:
        """Whether the thread that has just finished a task is one too many, and counts it off."""
        if self.surplus > 0:  # a step
            self.surplus -= 1
            return True
        return False

    def needs_spare(self) -> bool:
        """Note that a thread will block inside a task; whether a new thread has to step in."""
        return not self.leaves()
