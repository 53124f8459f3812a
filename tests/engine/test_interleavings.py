"""Whatever comes in the middle of the engine's code: interrupts, handlers, destructors, threads.

Each small program is run once for every place at which CPython may do something else (see
`tests.engine.places`), and there comes

- an exception, as of Ctrl-C or at the limit of recursion;
- work of the same thread on the same variables, as of a signal's handler or a destructor;
- the same in another thread, for which the first one waits, as a handler may that joins a thread.

Afterwards everything that was pushed has run once and in order, and nothing is held or pending.
"""

import contextlib
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from gluonish_engine import Engine, EngineError, Var
from gluonish_engine.idle import wait_idle
from tests.engine.places import act_at

pytestmark = pytest.mark.timeout(280)
LANE, OTHER = ("cpu", 0, "compute"), ("cpu", 1, "compute")
WAIT_S = 20.0
MOST = 3000


class Bench:
    """An engine, a lane that is held up, and a list of numbers that operators work on."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.go = threading.Event()
        self.held, self.waits, self.free, self.out = Var(), Var(), Var(), Var()
        self.values = {"free": 0, "out": 0}
        self.pushed = 0
        self.acted = 0
        engine.push(lambda: self.go.wait(WAIT_S), (self.held,), (self.waits,), OTHER)

    def add(self, lane: Any = LANE, inline: bool = False, priority: int = 0) -> None:
        """Push an operator that counts ``free`` up; what it leaves in between is odd."""

        def fn() -> None:
            self.values["free"] += 1
            self.values["free"] += 1

        before = self.free.version
        try:
            self.engine.push(fn, (self.free,), (self.free,), lane, priority, "add", inline)
        finally:
            self.pushed += self.free.version > before

    # The programs

    def inline(self) -> None:
        """Run inline while something is pending."""
        self.add(inline=True)

    def nested(self) -> None:
        """Run inline what pushes and waits itself."""

        def fn() -> None:
            self.engine.push(lambda: None, (self.free,), (self.out,), LANE, inline=True)
            self.engine.wait(self.out)

        self.engine.push(fn, (self.held,), (self.free,), LANE, inline=True)

    def lane(self) -> None:
        """Push what can start and what cannot."""
        self.add()
        self.engine.push(lambda: None, (self.held, self.free), (self.out,), LANE)
        self.engine.push(lambda: None, (self.waits,), (self.out,), LANE, priority=1)
        self.add(priority=2)

    def bulk(self) -> None:
        """Gather bulks."""
        with self.engine.bulk(3):
            self.add()
            self.engine.push(lambda: None, (self.free, self.held), (self.out,), LANE)
            self.add()
            self.add()
            self.engine.push(lambda: None, (self.waits,), (self.out,), OTHER)

    def promise(self) -> None:
        """Make a promise and keep it."""
        var = Var()
        promise = self.engine.promise(var)
        try:
            self.engine.push(lambda: None, (var,), (self.out,), LANE)
            self.engine.fulfill(promise, lambda: None, (self.free,), LANE)
        finally:
            promise.fail("promise", EngineError("interrupted"))

    def wait(self) -> None:
        """Wait for what is ready, and for what is not."""
        self.add()
        self.engine.wait(self.free)
        self.go.set()
        self.engine.wait_to_write(self.held)
        self.engine.wait(self.waits)
        self.engine.wait_all()

    def fork_hold(self) -> None:
        """Hold pushes back as around a fork."""
        self.go.set()
        # As `os.fork` does; for the parent twice, see gluonish_engine.lifecycle.
        after = self.engine.after_fork_in_parent
        for hook in (self.engine.before_fork, after, after):
            with contextlib.suppress(KeyboardInterrupt, RecursionError):
                hook()

    # What comes in between

    def interrupt(self) -> None:
        """Raise what Ctrl-C raises."""
        raise KeyboardInterrupt

    def recursion(self) -> None:
        """Raise what the limit of recursion raises."""
        raise RecursionError("injected")

    def work(self) -> None:
        """Push, and wait for what that and all before it leave."""
        self.add()
        out = Var()
        seen: list[int] = []
        self.engine.push(lambda: seen.append(self.values["free"]), (self.free,), (out,), LANE)
        self.engine.wait(out)
        if self.go.is_set():
            self.engine.wait_all()
        assert seen, "the wait returned before the work"
        self.acted += 1

    def thread(self) -> None:
        """Let another thread work, and join it."""
        done: list[int] = []

        def run() -> None:
            self.add()
            if not self.engine._fork._owner:
                self.engine.wait(Var())
            done.append(1)

        if not self.engine._fork._owner:  # a push would wait for this very thread
            thread = threading.Thread(target=run, daemon=True)
            thread.start()
            thread.join(WAIT_S)
            assert done, "the thread is stuck"
        self.acted += 1

    def ends(self) -> None:
        """Hold the engine to its invariants when everything is done."""
        self.go.set()
        engine, core = self.engine, self.engine._core
        engine.set_bulk_size(0)
        assert wait_idle(core, WAIT_S), "something stays pending"
        core.catch_up()
        assert engine._thread.state.running is None
        assert (core.pending, core.blocked, core.flushes, core.stuck) == (0, 0, 0, 0)
        for left in (core.open, core.first, core.last, core.inline, core.untracked, core.orphans):
            assert not left
        for left in (core.entering, core.leaving, core.freed, core.promises):
            assert not left
        for var in (self.held, self.waits, self.free, self.out):
            assert (var.active, var.queue) == (0, None)
        for lane in engine._lanes.values():
            assert (lane.load, lane.backlog, lane.first) == (0, 0, None)
        ran = threading.Event()
        out = Var()
        engine.push(ran.set, (), (out,), LANE)
        engine.wait(out)
        assert ran.is_set()


PROGRAMS = ("inline", "nested", "lane", "bulk", "promise", "wait", "fork_hold")
RAISING = ("interrupt", "recursion")
WORKING = ("work", "thread")


def outcome(program: Callable[[], None]) -> None:
    """Run a program that may be interrupted, or find work of it interrupted."""
    with contextlib.suppress(KeyboardInterrupt, RecursionError, EngineError):
        program()


@pytest.mark.parametrize("comes", RAISING + WORKING)
@pytest.mark.parametrize("program", PROGRAMS)
def test_every_place(make_engine: Any, program: str, comes: str) -> None:
    engine = make_engine()
    place = 0
    for place in range(MOST):
        bench = Bench(engine)
        with act_at(place, getattr(bench, comes)) as at:
            outcome(getattr(bench, program))
        bench.ends()
        if at.left >= 0:
            break
        if comes in WORKING:
            assert bench.acted == 1
            assert bench.values["free"] == 2 * bench.pushed, "an operator ran not once"
    assert 10 < place < MOST - 1


# Where a thread dies before its first line, Python reports it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("comes", ["work", "recursion"])
@pytest.mark.parametrize("priority", [0, 1])
def test_every_place_of_a_worker(make_engine: Any, comes: str, priority: int) -> None:
    if comes == "recursion" and sys.version_info[:2] == (3, 12):
        pytest.skip("Python 3.12 crashes where the hook of a thread other than the first raises")
    place = 0
    for place in range(MOST):
        engine: Engine = make_engine()
        with act_at(place, lambda: None, threads=True) as at:
            bench = Bench(engine)
            at._act = getattr(bench, comes)
            bench.go.set()
            bench.add(priority=priority)
            bench.add(OTHER)
            engine.push(lambda: None, (bench.free,), (bench.out,), LANE)
            outcome(lambda bench=bench: bench.engine.wait(bench.out))
        bench.ends()
        engine.shutdown()
        if at.left >= 0:
            break
    assert 10 < place < MOST - 1
