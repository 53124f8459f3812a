"""Operators in the calling thread: what others do to their variables meanwhile and after."""

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from gluonish_engine import Engine, EngineError, Var
from gluonish_engine.errors import Failure

pytestmark = pytest.mark.timeout(60)
LANE = ("cpu", 0, "compute")
OTHER = ("cpu", 1, "compute")
LONG_S = 30


@pytest.fixture(autouse=True, params=[False, True], ids=["unfailed", "failed"])
def history(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if no operator of the process had ever failed, or some had."""
    monkeypatch.setattr(Failure, "happened", request.param)


def started(function: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    return thread


def joined(*threads: threading.Thread) -> bool:
    for thread in threads:
        thread.join(LONG_S)
    return not any(thread.is_alive() for thread in threads)


def until(true: Callable[[], Any]) -> None:
    deadline = time.monotonic() + LONG_S
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0)


@pytest.mark.parametrize("write", [False, True])
def test_thread_that_waits_meanwhile_goes_on_at_the_end(threaded: Engine, write: bool) -> None:
    var, other, waiters, order = Var(), Var(), [], []

    def wait() -> None:
        (threaded.wait_to_write if write else threaded.wait)(other if write else var)
        order.append("waited")

    def run() -> None:
        waiters.append(started(wait))
        until(lambda: (other if write else var).queue)
        order.append("ran")

    threaded.push(run, (var, other), (var,), LANE, inline=True)
    assert joined(*waiters)
    assert order == ["ran", "waited"]
    assert (var.active, var.queue, other.active, other.queue) == (0, None, 0, None)


@pytest.mark.parametrize("inline", [False, True])
def test_operator_pushed_meanwhile_runs_after(threaded: Engine, inline: bool) -> None:
    var, order = Var(), []

    def push() -> None:
        threaded.push(lambda: order.append("second"), (var,), (), OTHER, inline=inline)

    def run() -> None:
        assert joined(started(push))
        order.append("first")

    threaded.push(run, (var,), (var,), LANE, inline=True)
    threaded.wait_all()
    assert order == ["first", "second"]
    assert (var.active, var.queue) == (0, None)


def test_readers_of_two_threads_share_a_variable(threaded: Engine) -> None:
    shared, both = Var(), threading.Barrier(2)

    def push(lane: Any) -> None:
        threaded.push(lambda: both.wait(LONG_S) and None, (shared, shared), (Var(),), lane, 0, "")

    def push_inline(lane: Any) -> None:
        threaded.push(
            lambda: both.wait(LONG_S) and None, (shared, shared), (Var(),), lane, inline=True
        )

    for first, second in ((push_inline, push), (push_inline, push_inline)):
        threads = [started(partial(first, LANE)), started(partial(second, OTHER))]
        assert joined(*threads)
        threaded.wait_all()
        assert (shared.active, shared.queue) == (0, None)


def test_operator_of_many_variables_leaves_all_of_them_free(threaded: Engine) -> None:
    weights, grads = [Var() for _ in range(300)], [Var() for _ in range(300)]
    for _ in range(3):
        threaded.push(lambda: None, weights + grads, weights, LANE, inline=True)
    assert {var.active for var in weights + grads} == {0}
    assert {var.version for var in weights} == {3}
    assert {var.version for var in grads} == {0}


def test_first_failure_stops_what_reads_it(threaded: Engine) -> None:
    var, out, ran = Var(), Var(), []

    def fail() -> None:
        raise ValueError("bad")

    threaded.push(fail, (), (var,), LANE, name="first", inline=True)
    threaded.push(lambda: ran.append(1), (var,), (out,), LANE, inline=True)
    with pytest.raises(EngineError, match="first: failed"):
        threaded.wait(out)
    assert ran == []
    assert Failure.happened


def test_operator_alone_marks_no_variable(threaded: Engine) -> None:
    reads, out, seen = Var(), Var(), []
    threaded.push(
        lambda: seen.append((reads.active, out.active)), (reads,), (out,), LANE, 0, "", True
    )
    assert seen == [(0, 0)]
    assert out.version == 1


def test_operator_alone_is_marked_as_soon_as_somebody_asks(threaded: Engine) -> None:
    reads, out, free, seen = Var(), Var(), Var(), []

    def run() -> None:
        assert joined(started(lambda: threaded.wait(free)))
        seen.append((reads.active, out.active))

    threaded.push(run, (reads,), (out,), LANE, inline=True)
    assert seen == [(1, -1)]
    assert (reads.active, out.active) == (0, 0)


def test_operator_alone_may_push_and_wait(threaded: Engine) -> None:
    source, inner, out, order = Var(), Var(), Var(), []

    def run() -> None:
        threaded.push(lambda: order.append("inner"), (source,), (inner,), LANE, inline=True)
        threaded.wait(inner)
        threaded.wait(source)
        order.append("outer")

    threaded.push(run, (source,), (out,), LANE, inline=True)
    assert order == ["inner", "outer"]
    assert [var.active for var in (source, inner, out)] == [0, 0, 0]


def test_operator_alone_finds_what_it_writes_ready(threaded: Engine) -> None:
    out = Var()
    threaded.push(lambda: threaded.wait(out), (), (out,), LANE, inline=True)
    threaded.wait(out)


def test_wait_all_of_another_thread_waits_for_the_operator_alone(threaded: Engine) -> None:
    waiters, order = [], []

    def wait() -> None:
        threaded.wait_all()
        order.append("waited")

    def run() -> None:
        waiters.append(started(wait))
        until(lambda: threaded._core.waiters)  # type: ignore[attr-defined]
        order.append("ran")

    threaded.push(run, (), (Var(),), LANE, inline=True)
    assert joined(*waiters)
    assert order == ["ran", "waited"]


def test_waits_of_other_threads_never_see_half_of_an_operator(
    threaded: Engine, eager_switching: None
) -> None:
    pair, var, done, torn = [0, 0], Var(), threading.Event(), []

    def step() -> None:
        pair[0] += 1
        pair[1] += 1

    def compare() -> None:
        if pair[0] != pair[1]:
            torn.append(tuple(pair))

    def look() -> None:
        while not done.is_set():
            threaded.push(compare, (var,), (), OTHER, inline=True)
            threaded.wait(var)

    threads = [started(look) for _ in range(3)]
    for _ in range(2000):
        threaded.push(step, (var,), (var,), LANE, inline=True)
    done.set()
    assert joined(*threads)
    threaded.wait_all()
    assert (torn, pair) == ([], [2000, 2000])
    assert (var.active, var.queue) == (0, None)
