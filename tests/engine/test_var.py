from typing import Any

from gluonish_engine import Var
from gluonish_engine.errors import Failure, Stale
from gluonish_engine.scheduler import Scheduler
from gluonish_engine.var import (
    BlockingCall,
    HostWait,
    conflicts,
    reclaim,
    skip,
    standing_failure,
    waits_for,
)


class _Gate:
    def release(self) -> None:
        """Nobody waits here."""


class Tasks:
    """A scheduler and the tasks that entered it; none of them runs by itself."""

    def __init__(self) -> None:
        self.core = Scheduler()

    def __call__(self, **held: tuple[Var, bool]) -> Any:
        made = BlockingCall()
        reads = [var for var, write in held.values() if not write]
        writes = [var for var, write in held.values() if write]
        made.fill(lambda: None, reads, writes, None, None, 0, "", False, None)
        made.gate, made.owner, made.outer = _Gate(), None, None
        self.core.submit(made)
        return made

    def end(self, task: Any) -> None:
        self.core.leave(task)


def test_reads_share_and_a_write_waits_for_all_of_them() -> None:
    var, job = Var(), Tasks()
    first, second = job(a=(var, False)), job(a=(var, False))
    writer = job(a=(var, True))
    job.end(first)
    assert (second.wait, writer.wait) == (0, 1)
    job.core.release(first)  # once more lets nothing go
    assert (writer.wait, var.active) == (1, 1)
    job.end(second)
    assert (writer.wait, var.active) == (0, -1)
    assert (job.core.pending, job.core.blocked) == (1, 0)


def test_a_read_does_not_overtake_a_waiting_write() -> None:
    var, job = Var(), Tasks()
    first, writer, late = job(a=(var, False)), job(a=(var, True)), job(a=(var, False))
    job.end(first)
    assert (writer.wait, late.wait) == (0, 1)
    job.end(writer)
    assert (late.wait, var.active, var.queue) == (0, 1, None)


def test_a_task_that_enters_half_way_is_helped_by_the_next(monkeypatch: Any) -> None:
    x, y, job = Var(), Var(), Tasks()
    holder = job(a=(y, True))
    made = BlockingCall()
    made.fill(lambda: None, (), (x, y), None, None, 0, "", False, None)
    made.gate, made.owner, made.outer = _Gate(), None, None
    with monkeypatch.context() as patch:
        patch.setattr(Scheduler, "help", lambda *_: None)  # as if its thread had gone
        job.core.submit(made)
    assert job.core.entering is made
    reader = job(a=(x, False))
    assert job.core.entering is None
    assert (x.active, made.wait, reader.wait) == (-1, 1, 1)
    job.end(holder)
    assert (made.wait, reader.wait) == (0, 1)


def test_a_task_that_lets_go_half_way_is_helped_by_the_next() -> None:
    x, y, job = Var(), Var(), Tasks()
    gone, waiting = job(a=(x, True), b=(y, True)), job(a=(x, False), b=(y, False))
    gone.to_release = iter(gone.held.items())
    next(gone.to_release)
    x.active = 0
    job.core.freed[x] = job.core.leaving[gone] = None  # as if its thread had ended here
    assert waiting.wait == 2
    job.core.catch_up()
    assert (waiting.wait, x.active, y.active, job.core.pending) == (0, 1, 1, 1)


def test_a_host_wait_holds_nothing_and_lets_others_pass() -> None:
    var, job = Var(), Tasks()
    writer, wait = job(a=(var, True)), HostWait(var, True, None)
    job.core.enter_wait(wait)
    reader = job(a=(var, False))
    assert (wait.wait, reader.wait, wait.gate.locked()) == (1, 1, True)
    job.end(writer)
    assert (wait.wait, reader.wait, var.active, wait.gate.locked()) == (0, 0, 1, False)
    assert (job.core.pending, job.core.blocked) == (1, 0)


def test_overtake_puts_a_task_before_what_waits_for_the_same() -> None:
    var, job = Var(), Tasks()
    holder, writer, reader = job(a=(var, False)), job(a=(var, True)), job(a=(var, False))
    job.core.overtake(reader, {writer})
    assert (reader.wait, writer.wait, var.active) == (0, 1, 2)
    for task in (holder, reader):
        job.end(task)
    assert writer.wait == 0


def test_overtake_takes_back_what_a_later_task_holds_and_cannot_use() -> None:
    x, y, job = Var(), Var(), Tasks()
    operator, later = job(a=(x, True)), job(a=(x, False), b=(y, True))
    inner = job(b=(y, False))
    assert (later.wait, inner.wait, y.active) == (1, 1, -1)
    job.core.overtake(inner, {later})
    assert (later.wait, inner.wait, y.active) == (2, 0, 1)
    job.end(inner)
    assert (later.wait, y.active) == (1, -1)
    job.end(operator)
    assert (later.wait, x.active, job.core.pending) == (0, 1, 1)


def test_touches_says_what_would_wait_for_the_operators_around_it() -> None:
    read, written, other, job = Var(), Var(), Var(), Tasks()
    frame = ([read], [written], None)
    assert conflicts(frame, [written], [])
    assert conflicts(frame, [], [written])
    assert conflicts(frame, [other], [read])
    assert not conflicts(frame, [read, other], [Var()])
    job(a=(read, False))
    job(a=(read, True))  # which a new reader would have to wait for
    assert conflicts(([other], [], frame), [read], [])
    assert not conflicts(None, [read], [written])


def test_waits_for_follows_a_chain_of_queues() -> None:
    x, y, z, job = Var(), Var(), Var(), Tasks()
    job(a=(x, True))
    job(a=(x, False), b=(y, True))
    blocked, unrelated = job(a=(y, False)), job(a=(z, False))
    assert waits_for(blocked, ([], [x], None))
    assert not waits_for(unrelated, ([], [x], None))


def test_waits_for_ignores_jobs_ahead_in_a_queue() -> None:
    x, y, job = Var(), Var(), Tasks()
    job(a=(x, True))
    job(a=(y, True))
    ahead = job(b=(y, True))
    job(a=(x, True), b=(y, True))
    assert not waits_for(ahead, ([], [x], None))


def test_waits_for_sees_through_another_waiting_operator() -> None:
    x, y, job = Var(), Var(), Tasks()
    job(a=(x, True))
    job(a=(y, True))
    other = job(a=(x, False))
    other.owner = ([], [y], None)
    target = job(a=(y, False))
    assert waits_for(target, ([], [x], None))


def test_reclaim_frees_variables_and_marks_what_was_never_written() -> None:
    read, written, own, job = Var(), Var(), Var(), Tasks()
    job(a=(read, False), b=(written, True), c=(own, True))
    failure = Failure("fork", RuntimeError("pending"), 0)
    reclaim(failure, ([], [own], None))
    assert (read.active, written.active, own.active) == (0, 0, -1)
    assert (read.error, written.error, own.error) == (None, failure, None)


def test_skip_makes_intact_updated_variables_stale_and_fails_the_rest() -> None:
    updated, stale, lost, written = Var(), Var(), Var(), Var()
    old, new = Failure("old", RuntimeError(), 1), Failure("new", RuntimeError(), 2)
    stale.error, lost.error = Stale(old), old
    skip((updated, stale, lost), (written, lost, stale, updated, updated), new)
    assert (lost.error, written.error) == (new, new)
    assert isinstance(updated.error, Stale)
    assert isinstance(stale.error, Stale)
    assert (updated.error.failure, stale.error.failure) == (new, new)


def test_stale_mark_stands_until_the_raise_of_its_failure() -> None:
    var, failure = Var(), Failure("op", RuntimeError(), 1)
    var.error = Stale(failure)
    assert standing_failure((Var(), var), 7) is failure
    failure.raised_at = 3
    assert [standing_failure((var,), raises) for raises in (2, 3, 4)] == [failure, None, None]
    var.error = failure
    assert standing_failure((var,), 4) is failure
