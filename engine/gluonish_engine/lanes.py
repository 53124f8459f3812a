"""Worker lanes: the jobs that are ready to run, and the number of threads that run them.

Invariants: the engine's lock guards every field but ``tokens``. ``tokens`` holds one item for each
job in the heap and one for each thread that was told to stop, so a thread that gets an item while
the heap is empty has to stop. ``load`` counts the jobs from ready to done. A thread that blocks
inside a job is replaced by a spare one until it comes back; then one thread too many is left,
counted by ``surplus``, and the next to finish a job goes.
"""

import heapq
from collections.abc import Hashable
from queue import SimpleQueue

from gluonish_engine.streams import StreamLane
from gluonish_engine.var import Job

__all__ = ["WorkerLane"]


class WorkerLane:
    """A priority queue of ready jobs for one set of threads.

    Args:
        key: Lane key of its first push, for the names of the threads.
        workers: Number of threads.
        stream: Where the threads launch what they run; None: they run it themselves.
    """

    __slots__ = ("heap", "key", "load", "started", "stream", "surplus", "tokens", "workers")

    def __init__(self, key: Hashable, workers: int, stream: StreamLane | None = None) -> None:
        self.key = key
        self.workers = workers
        self.stream = stream
        self.started = False
        self.load = 0
        self.surplus = 0
        self.heap: list[tuple[int, int, Job]] = []
        self.tokens: SimpleQueue[None] = SimpleQueue()

    def add(self, job: Job) -> None:
        """Queue a ready job: the highest priority first, then in push order."""
        self.load += 1
        heapq.heappush(self.heap, (-job.priority, job.sequence, job))
        self.tokens.put(None)

    def take(self) -> Job | None:
        """Return the next job for a thread that got a token; None tells it to stop."""
        return heapq.heappop(self.heap)[2] if self.heap else None

    def stop(self) -> None:
        """Tell every thread to end; the heap must be empty and stay so."""
        for _ in range(self.workers + self.surplus):
            self.tokens.put(None)

    def leaves(self) -> bool:
        """Whether the thread that has just finished a job is one too many, and counts it off."""
        if not self.surplus:
            return False
        self.surplus -= 1
        return True

    def needs_spare(self) -> bool:
        """Note that a thread will block inside a job; whether a new thread has to step in."""
        if self.surplus:
            self.surplus -= 1
            return False
        return True
