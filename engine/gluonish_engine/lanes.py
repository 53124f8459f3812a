"""Worker lanes: the tasks that are ready to run, and the number of threads that run them.

Invariants: the engine's lock guards every field but ``tokens``. ``line`` has ready tasks of
priority 0 in push order; those that cannot go to its end are in ``heap``. ``idle`` is at least the
number of threads that wait for a token and have not been given one; a thread that gets a token and
finds no task, because another was quicker, waits again. ``load`` counts the tasks from ready to
done, ``backlog`` those from push to done: while it is above ``limit``, pushes block; see
`gluonish_engine.scheduler`. A thread that blocks inside a task is replaced by a spare one until it
comes back; then one thread too many is left, counted by ``surplus``, and the next to finish a task
goes.
"""

import heapq
from collections import deque
from collections.abc import Hashable
from queue import SimpleQueue
from typing import Any

from gluonish_engine.streams import StreamLane
from gluonish_engine.var import Task

__all__ = ["WorkerLane"]


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
        "heap",
        "idle",
        "key",
        "limit",
        "line",
        "load",
        "low",
        "started",
        "stopped",
        "stream",
        "surplus",
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
        self.line: deque[Task] = deque()
        self.heap: list[tuple[int, int, Task]] = []
        self.tokens: SimpleQueue[None] = SimpleQueue()

    def add(self, task: Task) -> None:
        """Queue a ready task: the highest priority first, then in push order."""
        self.load += 1
        line = self.line
        if not task.priority and (not line or line[-1].sequence < task.sequence):
            line.append(task)
        else:
            heapq.heappush(self.heap, (-task.priority, task.sequence, task))
        if self.idle:
            self.idle -= 1
            self.tokens.put(None)

    def take(self, state: Any) -> Task | None:
        """Return the next task; without one, count the calling thread as idle.

        A thread that finds none and is not told to stop waits for a token then.

        Args:
            state: The thread's, whose ``task`` it becomes before the lane loses it.
        """
        line, heap = self.line, self.heap
        if heap and (not line or heap[0][:2] < (0, line[0].sequence)):
            state.task = heap[0][2]
            heapq.heappop(heap)
        elif line:
            state.task = line[0]
            del line[0]
        elif not self.stopped:
            self.idle += 1
        task: Task | None = state.task
        return task

    def has(self, task: Task) -> bool:
        """Whether a task waits here to be taken."""
        return task in self.line or any(task is other for *_, other in self.heap)

    def remove(self, task: Task) -> None:
        """Take a task out that was added."""
        self.load -= 1
        if task in self.line:
            self.line.remove(task)
        else:
            self.heap[:] = [entry for entry in self.heap if entry[2] is not task]
            heapq.heapify(self.heap)

    def wake(self) -> None:
        """Have every thread that waits look again."""
        for _ in range(self.idle):
            self.tokens.put(None)
        self.idle = 0

    def stop(self) -> None:
        """Tell every thread to end when it finds no task; none may be added any more."""
        self.stopped = True
        self.wake()

    def leaves(self) -> bool:
        """Whether the thread that has just finished a task is one too many, and counts it off."""
        if not self.surplus:
            return False
        self.surplus -= 1
        return True

    def needs_spare(self) -> bool:
        """Note that a thread will block inside a task; whether a new thread has to step in."""
        if self.surplus:
            self.surplus -= 1
            return False
        return True
