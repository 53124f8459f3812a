import threading
import time
from typing import Any

import pytest

from gluonish_engine import Engine, EngineError, Var

pytestmark = pytest.mark.timeout(60)
LANE = ("cpu", 0, "compute")
OTHER = ("cpu", 1, "compute")
LONG_S = 30


def hold(engine: Engine, *writes: Var, lane: Any = LANE) -> threading.Event:
    """Push an operator that runs until the returned event is set; it is running on return."""
    started, go = threading.Event(), threading.Event()

    def run() -> None:
        started.set()
        assert go.wait(LONG_S)

    engine.push(run, (), writes, lane, name="hold")
    assert started.wait(LONG_S)
    return go


def pushed_thread(engine: Engine, *reads: Var, lane: Any = LANE, inline: bool = True) -> list[int]:
    where: list[int] = []
    engine.push(lambda: where.append(threading.get_ident()), reads, (Var(),), lane, inline=inline)
    return where


def test_ready_cheap_operator_runs_in_the_calling_thread(threaded: Engine) -> None:
    assert pushed_thread(threaded, Var()) == [threading.get_ident()]


def test_operator_that_is_not_cheap_runs_in_a_worker(threaded: Engine) -> None:
    where = pushed_thread(threaded, inline=False)
    threaded.wait_all()
    assert where != [threading.get_ident()]


def test_pending_variable_sends_a_cheap_operator_to_its_lane(make_engine: Any) -> None:
    engine, var = make_engine(), Var()
    go = hold(engine, var)
    where = pushed_thread(engine, var, lane=OTHER)
    assert where == []
    go.set()
    engine.wait_all()
    assert len(where) == 1
    assert where != [threading.get_ident()]


def test_busy_lane_takes_a_cheap_operator_into_its_queue(threaded: Engine) -> None:
    go = hold(threaded, Var())
    where = pushed_thread(threaded)
    go.set()
    threaded.wait_all()
    assert where != [threading.get_ident()]


def test_lanes_of_their_own_do_not_hold_each_other_up(make_engine: Any) -> None:
    engine, var = make_engine(), Var()
    go = hold(engine, Var(), lane=LANE)
    engine.push(lambda: None, (), (var,), OTHER)
    engine.wait(var)
    go.set()


def test_readers_run_at_the_same_time(make_engine: Any) -> None:
    engine, var, meet = make_engine(priority_workers=2), Var(), threading.Barrier(2, timeout=LONG_S)
    for _ in range(2):
        engine.push(lambda: meet.wait() and None, (var,), (), ("cpu", 0, "priority"))
    engine.wait_all()


def test_workers_of_a_lane_are_as_many_as_asked_for(make_engine: Any) -> None:
    engine, meet = make_engine(cpu_workers=3), threading.Barrier(3, timeout=LONG_S)
    for _ in range(3):
        engine.push(lambda: meet.wait() and None, (), (Var(),), LANE)
    engine.wait_all()


def test_higher_priority_starts_first_and_equals_keep_their_order(make_engine: Any) -> None:
    engine, order = make_engine(), []
    go = hold(engine, Var())
    for priority, name in ((0, "a"), (5, "b"), (0, "c"), (5, "d"), (-1, "e")):
        engine.push(lambda name=name: order.append(name), (), (), LANE, priority)
    go.set()
    engine.wait_all()
    assert order == ["b", "d", "a", "c", "e"]


def test_duplicates_and_a_variable_in_both_sets_are_one_write(engine: Engine) -> None:
    a, b, ran = Var(), Var(), []
    for inline in (False, True):
        engine.push(lambda: ran.append(1), (a, a, b, b), (b, b, a), LANE, name="op", inline=inline)
        engine.wait_to_write(a)
        engine.wait_to_write(b)
    assert ran == [1, 1]


def test_wait_returns_while_readers_run_and_wait_to_write_does_not(make_engine: Any) -> None:
    engine, var, go, order = make_engine(), Var(), threading.Event(), []

    def read() -> None:
        assert go.wait(LONG_S)
        order.append("read")

    engine.push(read, (var,), (), LANE)
    engine.wait(var)
    assert order == []
    go.set()
    engine.wait_to_write(var)
    assert order == ["read"]


def test_wait_sees_writes_queued_behind_readers(make_engine: Any) -> None:
    engine, var, go, order = make_engine(), Var(), threading.Event(), []
    engine.push(lambda: go.wait(LONG_S) and None, (var,), (), LANE)
    engine.push(lambda: order.append("write"), (), (var,), OTHER)
    go.set()
    engine.wait(var)
    assert order == ["write"]


def test_operator_finds_what_it_writes_ready(engine: Engine) -> None:
    for inline in (False, True):
        var, other = Var(), Var()

        def run(var: Var = var, other: Var = other) -> None:
            engine.wait(var)
            engine.wait_to_write(other)

        engine.push(run, (other,), (var,), LANE, name="op", inline=inline)
        engine.wait(var)


def test_push_that_depends_on_the_operator_around_it_runs_at_once(engine: Engine) -> None:
    for inline in (False, True):
        var, out, order = Var(), Var(), []  # type: ignore[var-annotated]

        def run(var: Var = var, out: Var = out, order: list[str] = order) -> None:
            order.append("before")
            engine.push(lambda: order.append("reads"), (var,), (out,), OTHER)
            engine.push(lambda: order.append("writes"), (out,), (var,), OTHER)
            engine.wait(out)
            order.append("after")

        engine.push(run, (), (var,), LANE, inline=inline)
        engine.wait(var)
        assert order == ["before", "reads", "writes", "after"]
        engine.wait_to_write(out)


def test_reader_inside_an_operator_comes_before_a_later_writer(threaded: Engine) -> None:
    weight, out, seen, value = Var(), Var(), [], [1]
    started, go = threading.Event(), threading.Event()

    def run() -> None:
        started.set()
        assert go.wait(LONG_S)
        inner = Var()
        threaded.push(lambda: seen.append(value[0]), (weight,), (inner,), OTHER)
        threaded.wait(inner)

    threaded.push(run, (weight,), (out,), LANE)
    assert started.wait(LONG_S)
    threaded.push(lambda: value.__setitem__(0, 2), (), (weight,), LANE)  # behind `run`
    go.set()
    threaded.wait(out)
    threaded.wait(weight)
    assert (seen, value) == ([1], [2])


def test_work_inside_an_operator_overtakes_what_waits_for_the_operator(threaded: Engine) -> None:
    x, y, order = Var(), Var(), []
    started, go = threading.Event(), threading.Event()

    def run() -> None:
        started.set()
        assert go.wait(LONG_S)
        threaded.wait(y)  # as it was before "later", which waits for this operator
        order.append("first")

    threaded.push(run, (), (x,), LANE)
    assert started.wait(LONG_S)
    threaded.push(lambda: order.append("later"), (x,), (y,), OTHER)
    go.set()
    threaded.wait(y)
    assert order == ["first", "later"]


def test_operator_may_wait_for_what_it_reads(threaded: Engine) -> None:
    var, out = Var(), Var()
    started, go = threading.Event(), threading.Event()

    def read() -> None:
        started.set()
        assert go.wait(LONG_S)
        threaded.wait(var)

    threaded.push(read, (var,), (out,), LANE)
    assert started.wait(LONG_S)
    # A later write queues behind the reader and must not hold its wait up.
    threaded.push(lambda: None, (), (var,), LANE)
    go.set()
    threaded.wait(out)


def test_operator_may_push_to_its_own_lane_and_wait(threaded: Engine) -> None:
    out, depth = Var(), []

    def nest(level: int) -> None:
        depth.append(level)
        if level:
            inner = Var()
            threaded.push(lambda: nest(level - 1), (), (inner,), LANE)
            threaded.wait(inner)

    threaded.push(lambda: nest(6), (), (out,), LANE)
    threaded.wait(out)
    assert depth == [6, 5, 4, 3, 2, 1, 0]
    # The spare threads have gone or go with their next job; the lane works on.
    for _ in range(20):
        threaded.push(lambda: None, (), (out,), LANE)
    threaded.wait(out)


def test_operators_that_wait_for_each_other_get_an_error(make_engine: Any) -> None:
    engine, x, y, meet = make_engine(), Var(), Var(), threading.Barrier(2, timeout=LONG_S)

    def cross(other: Var) -> None:
        meet.wait()
        engine.wait(other)

    engine.push(lambda: cross(y), (), (x,), LANE, name="left")
    engine.push(lambda: cross(x), (), (y,), OTHER, name="right")
    with pytest.raises(EngineError, match="wait: expected work that can end"):
        engine.wait_all()


def test_wait_all_inside_an_operator_waits_for_what_can_end(threaded: Engine) -> None:
    var, out, free, order = Var(), Var(), Var(), []
    started, go = threading.Event(), threading.Event()

    def run() -> None:
        started.set()
        assert go.wait(LONG_S)
        threaded.wait_all()
        order.append("waited")

    threaded.push(run, (), (var,), LANE)
    assert started.wait(LONG_S)
    threaded.push(lambda: order.append("behind"), (var,), (out,), OTHER)
    threaded.push(lambda: time.sleep(0.05) or order.append("free"), (), (free,), OTHER)
    go.set()
    threaded.wait_all()
    assert order == ["free", "waited", "behind"]


def test_shutdown_inside_an_operator_is_refused(threaded: Engine) -> None:
    var = Var()
    threaded.push(lambda: threaded.shutdown() and None, (), (var,), LANE, name="op")
    with pytest.raises(EngineError, match="shutdown: expected a call from outside"):
        threaded.wait(var)


def test_many_waiters_are_all_woken(threaded: Engine) -> None:
    var = Var()
    go = hold(threaded, var)
    woken: list[int] = []
    waiters = [
        threading.Thread(target=lambda: (threaded.wait(var), woken.append(1)), daemon=True)
        for _ in range(8)
    ]
    for waiter in waiters:
        waiter.start()
    go.set()
    for waiter in waiters:
        waiter.join(LONG_S)
    assert len(woken) == 8


def test_version_counts_pushed_writes_at_once(make_engine: Any) -> None:
    engine, var = make_engine(), Var()
    go = hold(engine, var)
    engine.push(lambda: None, (), (var,), LANE)
    assert var.version == 2
    go.set()


def test_push_hook_sees_lane_and_name_and_runs_in_the_operators_place(engine: Engine) -> None:
    seen: list[tuple[Any, ...]] = []
    ran: list[str] = []

    def hook(fn: Any, lane: Any, name: str) -> Any:
        seen.append((lane, name, threading.get_ident()))
        return lambda: (ran.append(f"before {name}"), fn())

    engine.on_push = hook
    engine.push(lambda: ran.append("a"), (), (), LANE, name="a", inline=True)
    engine.push(lambda: ran.append("b"), (), (), LANE, name="b")
    engine.wait_all()
    engine.on_push = None
    engine.push(lambda: ran.append("c"), (), (), LANE, name="c")
    engine.wait_all()
    assert seen == [(LANE, name, threading.get_ident()) for name in "ab"]
    assert ran == ["before a", "a", "before b", "b", "c"]


def test_operator_that_fails_under_a_push_hook_fails_as_without(engine: Engine) -> None:
    failed: list[str] = []

    def hook(fn: Any, lane: Any, name: str) -> Any:
        def run() -> None:
            try:
                fn()
            except ValueError as error:
                failed.append(str(error))
                raise

        return run

    def fail() -> None:
        raise ValueError("bad")

    var = Var()
    engine.on_push = hook
    engine.push(fail, (), (var,), LANE, name="a")
    with pytest.raises(EngineError, match="a: failed with ValueError: bad"):
        engine.wait(var)
    assert failed == ["bad"]


def test_shutdown_runs_what_is_pending_and_then_refuses(threaded: Engine) -> None:
    ran: list[int] = []
    for _ in range(50):
        threaded.push(lambda: ran.append(1), (), (Var(),), LANE)
    assert threaded.shutdown(timeout_s=LONG_S)
    assert len(ran) == 50
    with pytest.raises(EngineError, match="shut down"):
        threaded.push(lambda: None, (), (), LANE)


def test_shutdown_in_time_fails_the_rest(make_engine: Any) -> None:
    engine, var = make_engine(), Var()
    go = hold(engine, var)
    engine.push(lambda: None, (var,), (var,), LANE, name="late")
    assert not engine.shutdown(timeout_s=0.01)
    go.set()
    with pytest.raises(EngineError, match="late: failed"):
        engine.wait(var)


def test_threads_end_at_shutdown(make_engine: Any) -> None:
    engine = make_engine(cpu_workers=2)
    lane = ("cpu", "test_threads_end", "compute")
    engine.push(lambda: None, (), (), lane)
    mine = [thread for thread in threading.enumerate() if "test_threads_end" in thread.name]
    assert len(mine) == 2
    engine.shutdown()
    for thread in mine:
        thread.join(LONG_S)
        assert not thread.is_alive()


def test_lane_without_threads_runs_in_the_calling_thread(
    make_engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    engine, var = make_engine(), Var()
    monkeypatch.setattr(threading.Thread, "start", refuse)
    where = pushed_thread(engine, var, inline=False)
    assert where == [threading.get_ident()]
