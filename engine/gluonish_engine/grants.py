"""Grants: how jobs get variables and let go of them, whatever interrupts the thread meanwhile.

Invariants: everything here is called with the lock of the engine held, and `gluonish_engine.var`
says what holds between two calls. An exception (Ctrl-C in the main thread, or what another thread
raises in this one) can come behind any call and at the end of any turn of a loop, and nowhere else.
So a step of one variable, from the mark on it to the count, has no call in between, and what may
end in the middle of the variables can be gone on with or undone:

- `request` takes back what it took before the exception goes on; ``Job.asked`` is set by its last
  step.
- `release` counts every variable that it lets go of off ``wait``, from 0 down, so that a second
  call goes on where the first one ended.
- `unmark` takes iterators, which know what is left.
- `grant` may be called once too often.

Jobs that are granted are added to a list, for the scheduler to start.
"""

from collections import deque
from collections.abc import Iterator

from gluonish_engine.var import Job, Task, Var

__all__ = ["extend", "grant", "release", "request", "take_back", "unmark", "withdraw"]


def request(job: Job, ready: list[Task]) -> None:
    """Take every variable of the job that is free, and queue for the others.

    Args:
        job: What asks; its ``asked`` is set at the end.
        ready: Gets the jobs that are set free when the request is taken back.
    """
    taken = 0
    try:
        for var, write in job.held.items():
            if var.queue is not None:
                job.wait += 1
                var.queue.append(job)
            elif var.active if write else var.active < 0:
                job.wait += 1
                var.queue = deque((job,))
            else:
                var.active = -1 if write else var.active + 1
            taken += 1
    except BaseException:
        take_back(job, taken, ready)
        raise
    job.asked = True


def take_back(task: Task, taken: int, ready: list[Task]) -> None:
    """Undo a request that an exception ended.

    Args:
        task: What asked.
        taken: How many of its variables were seen to.
        ready: Gets the jobs that are set free.
    """
    for place, (var, write) in enumerate(task.held.items()):
        if var.queue is not None and task in var.queue:
            var.queue.remove(task)
        elif place < taken:
            var.active = 0 if write else var.active - 1
        grant(var, ready)


def extend(job: Task, held: dict[Var, bool]) -> bool:
    """Take more variables for a job that has not started, only if that needs no waiting.

    A job that held some variables and queued for others later could close a cycle, so it must not.

    Returns:
        Whether the variables were taken; if not, nothing has changed.
    """
    gained = []
    for var, write in held.items():
        has = job.held.get(var)
        if has or (has is False and not write):
            continue
        # The own read grant may become a write grant when it is the only one.
        if var.queue is not None or (var.active != int(has is False) if write else var.active < 0):
            return False
        gained.append((var, write))
    for var, write in gained:
        var.active = -1 if write else var.active + 1
        job.held[var] = write
    return True


def release(task: Task, ready: list[Task]) -> None:
    """Let go of what a granted task (still) holds, and add the jobs set free to ``ready``."""
    for place, (var, write) in enumerate(task.held.items()):
        if place >= -task.wait:
            var.active = 0 if write else var.active - 1
            task.wait -= 1
        if var.queue is not None:
            grant(var, ready)


def unmark(reads: Iterator[Var], writes: Iterator[Var]) -> bool:
    """Let go of what an inline operator holds; whether somebody queues for any of it."""
    queued = False
    for var in reads:
        if var.active > 0:  # not where it is among the writes
            var.active -= 1
        if var.queue is not None:
            queued = True
    for var in writes:
        var.active = 0
        if var.queue is not None:
            queued = True
    return queued


def withdraw(job: Task, ready: list[Task]) -> None:
    """Take back a job that has not started: from the queues, and off what it was granted."""
    for var, write in job.held.items():
        if var.queue is None or job not in var.queue:
            var.active = 0 if write else var.active - 1
        else:
            var.queue.remove(job)
        grant(var, ready)


def grant(var: Var, ready: list[Task]) -> None:
    """Hand the variable to as many jobs from the head of its queue as may have it now."""
    queue = var.queue
    while queue:
        job = queue[0]
        if job.held[var]:
            if var.active:
                return
            var.active = -1
        else:
            if var.active < 0:
                return
            var.active += 1
        # Not `popleft`: after a call an exception may be raised in this thread.
        del queue[0]
        job.wait -= 1
        if not job.wait:
            ready.append(job)
    var.queue = None
