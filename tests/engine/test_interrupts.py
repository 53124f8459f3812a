"""Ctrl-C anywhere in the engine's own bookkeeping: nothing stays held, pending or queued for.

CPython raises what a signal's handler raises behind a call or at a function's beginning (and at the
end of a turn of a loop). The profiler's hook is called at just these places, so a test can have the
interrupt at each of them in turn.
"""

import threading
from typing import Any

import pytest

from gluonish_engine import Var
from gluonish_engine.idle import wait_idle
from tests.engine.places import interrupted_at

pytestmark = pytest.mark.timeout(60)
LANE, OTHER = ("cpu", 0, "compute"), ("cpu", 1, "compute")
WAIT_S = 20.0
MOST = 400  # places in one program


def nothing() -> None:
    pass


class Busy:
    """An engine with a lane that waits for the test, and variables that its operator holds."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.go = threading.Event()
        self.read, self.written, self.free = Var(), Var(), Var()
        engine.push(lambda: self.go.wait(WAIT_S), (self.read,), (self.written,), OTHER)

    def inline(self) -> None:
        """Run inline while work is pending, so that the variables are marked."""
        self.engine.push(nothing, (self.read, self.free), (Var(),), LANE, inline=True)

    def inline_with_a_queue(self) -> None:
        """Run inline, and have others queue for the variables meanwhile."""

        def push() -> None:
            for _ in range(2):
                self.engine.push(nothing, (self.free,), (self.free,), LANE)

        self.engine.push(push, (self.read,), (self.free, self.free), LANE, inline=True)

    def lane(self) -> None:
        """Push to a lane what can start and what cannot."""
        self.engine.push(nothing, (self.read,), (self.free,), LANE)
        self.engine.push(nothing, (self.written,), (self.free,), LANE, priority=1)

    def bulk(self) -> None:
        """Gather bulks: one that grows, one that ends it, and one that has to wait."""
        with self.engine.bulk(3):
            self.engine.push(nothing, (self.free,), (self.free,), LANE)
            self.engine.push(nothing, (self.free, self.read), (Var(),), LANE)
            self.engine.push(nothing, (), (self.free,), LANE, priority=1, flush=True)
            self.engine.push(nothing, (self.written,), (self.free,), OTHER)

    def wait(self) -> None:
        """Wait for what is ready, and for what another thread lets go of."""
        self.engine.push(nothing, (), (self.free,), LANE)
        self.engine.wait_to_write(self.free)
        threading.Timer(0.001, self.go.set).start()
        self.engine.wait(self.written)

    def ends(self) -> None:
        """Hold the engine to its invariants when everything is done."""
        self.go.set()
        core = self.engine._core
        assert wait_idle(core, WAIT_S), "something stays pending"
        core.catch_up()
        assert (core.pending, core.blocked, core.flushes, core.stuck) == (0, 0, 0, 0)
        for left in (core.open, core.first, core.last, core.inline, core.untracked, core.orphans):
            assert not left
        for left in (core.entering, core.leaving, core.freed, core.promises):
            assert not left
        assert self.engine._thread.state.running is None
        for var in (self.read, self.written, self.free):
            assert (var.active, var.queue) == (0, None)
        for lane in self.engine._lanes.values():
            assert (lane.load, lane.backlog) == (0, 0)


@pytest.mark.parametrize("program", ["inline", "inline_with_a_queue", "lane", "bulk"])
def test_interrupt_anywhere_in_a_push_leaves_nothing_held(make_engine: Any, program: str) -> None:
    engine = make_engine()
    place = 0
    for place in range(MOST):
        busy = Busy(engine)
        reached = interrupted_at(place, getattr(busy, program))
        engine.set_bulk_size(0)
        busy.ends()
        if not reached:
            break
    assert 10 < place < MOST - 1


def test_interrupt_anywhere_in_a_wait_leaves_nothing_held(make_engine: Any) -> None:
    engine = make_engine()
    place = 0
    for place in range(MOST):
        busy = Busy(engine)
        reached = interrupted_at(place, busy.wait)
        busy.ends()
        if not reached:
            break
    assert 10 < place < MOST - 1


def test_interrupt_anywhere_in_a_quiet_operator_lets_the_next_one_run(make_engine: Any) -> None:
    engine, var = make_engine(), Var()
    place = 0
    for place in range(MOST):
        reached = interrupted_at(
            place, lambda: engine.push(nothing, (var,), (var,), LANE, inline=True)
        )
        assert not engine._core.pending
        assert not engine._core.untracked
        assert engine._thread.state.running is None
        engine.push(nothing, (), (var,), LANE)
        engine.wait(var)
        if not reached:
            break
    assert 3 < place < MOST - 1
