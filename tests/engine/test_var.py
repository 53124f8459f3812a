from gluonish_engine import Var
from gluonish_engine.errors import Failure, Stale
from gluonish_engine.grants import extend, grant, release, request, withdraw
from gluonish_engine.var import Job, reclaim, skip, standing_failure, waits_for


def job(**held: tuple[Var, bool]) -> Job:
    made = Job([], dict(held.values()))
    request(made, [])
    return made


def test_reads_share_and_a_write_waits_for_all_of_them() -> None:
    var = Var()
    first, second = job(a=(var, False)), job(a=(var, False))
    writer = job(a=(var, True))
    ready: list[Job] = []
    release(first, ready)
    assert (second.wait, ready) == (0, [])
    release(first, ready)  # once more lets nothing go
    assert ready == []
    release(second, ready)
    assert ready == [writer]


def test_a_read_does_not_overtake_a_waiting_write() -> None:
    var = Var()
    first, writer, late = job(a=(var, False)), job(a=(var, True)), job(a=(var, False))
    ready: list[Job] = []
    release(first, ready)
    assert ready == [writer]
    assert late.wait == 1
    release(writer, ready)
    assert ready == [writer, late]
    assert var.queue is None


def test_grant_without_change_hands_out_nothing() -> None:
    var = Var()
    job(a=(var, True))
    job(a=(var, False))
    ready: list[Job] = []
    grant(var, ready)
    assert ready == []


def test_extend_takes_free_variables_and_turns_the_only_read_into_a_write() -> None:
    held, free = Var(), Var()
    bulk = job(a=(held, False))
    assert extend(bulk, {held: True, free: False})
    assert (held.active, free.active) == (-1, 1)
    assert bulk.held == {held: True, free: False}


def test_extend_that_would_wait_changes_nothing() -> None:
    held, free, busy = Var(), Var(), Var()
    bulk, _ = job(a=(held, True)), job(a=(busy, True))
    assert not extend(bulk, {free: True, busy: False})
    assert free.active == 0
    assert bulk.held == {held: True}


def test_extend_does_not_write_what_others_read() -> None:
    var = Var()
    bulk, _ = job(a=(var, False)), job(a=(var, False))
    assert not extend(bulk, {var: True})
    assert var.active == 2


def test_withdraw_frees_what_was_granted_and_leaves_the_queues() -> None:
    free, busy = Var(), Var()
    holder = job(a=(busy, False))
    gone = job(a=(free, True), b=(busy, True))
    reader = job(b=(busy, False))
    ready: list[Job] = []
    withdraw(gone, ready)
    assert ready == [reader]
    assert (free.active, busy.active, busy.queue) == (0, 2, None)
    release(holder, ready)


def test_waits_for_follows_a_chain_of_queues() -> None:
    x, y, z = Var(), Var(), Var()
    job(a=(x, True))
    job(a=(x, False), b=(y, True))
    blocked, unrelated = job(a=(y, False)), job(a=(z, False))
    assert waits_for(blocked, ([], [x], None))
    assert not waits_for(unrelated, ([], [x], None))


def test_waits_for_ignores_jobs_ahead_in_a_queue() -> None:
    x, y = Var(), Var()
    job(a=(x, True))
    job(a=(y, True))
    ahead = job(b=(y, True))
    job(a=(x, True), b=(y, True))
    assert not waits_for(ahead, ([], [x], None))


def test_waits_for_sees_through_another_waiting_operator() -> None:
    x, y = Var(), Var()
    job(a=(x, True))
    job(a=(y, True))
    other = job(a=(x, False))
    other.owner = ([], [y], None)
    target = job(a=(y, False))
    assert waits_for(target, ([], [x], None))


def test_reclaim_frees_variables_and_marks_what_was_never_written() -> None:
    read, written, own = Var(), Var(), Var()
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
