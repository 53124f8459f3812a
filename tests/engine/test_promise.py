"""Promises: variables that wait for a writer which is pushed after their readers."""

import os
import random
import threading
from typing import Any

import pytest

from gluonish_engine import Engine, EngineError, Var
from gluonish_engine.promise import Promise
from tests.engine.test_streams import FakeDevice, FakeStream

pytestmark = pytest.mark.timeout(60)
LANE = ("cpu", 0, "compute")
OTHER = ("cpu", 1, "compute")
LONG_S = 30


def fail() -> None:
    raise ZeroDivisionError("division by zero")


def promised(engine: Engine, var: Var) -> Promise:
    promise = engine.promise(var)
    assert promise is not None
    return promise


def read(engine: Engine, *reads: Var, out: list[str], word: str = "read") -> Var:
    made = Var()
    engine.push(lambda: out.append(word), reads, (made,), LANE, inline=True)
    return made


def test_reader_pushed_before_the_writer_runs_after_it(threaded: Engine) -> None:
    var = Var()
    out: list[str] = []
    promise = promised(threaded, var)
    last = read(threaded, var, out=out)
    threaded.fulfill(promise, lambda: out.append("write"), (), OTHER)
    threaded.wait(last)
    assert out == ["write", "read"]
    assert not promise.pending


def test_keeper_waits_for_what_it_reads(threaded: Engine) -> None:
    var, source = Var(), Var()
    out: list[str] = []
    go = threading.Event()
    threaded.push(lambda: out.append(str(go.wait(LONG_S))), (), (source,), LANE)
    promise = promised(threaded, var)
    threaded.fulfill(promise, lambda: out.append("write"), (source,), OTHER)
    go.set()
    threaded.wait(var)
    assert out == ["True", "write"]


def test_nothing_blocks_the_caller_meanwhile(threaded: Engine) -> None:
    var = Var()
    out: list[str] = []
    promise = promised(threaded, var)
    made = read(threaded, var, out=out)
    threaded.wait_written(made)
    assert out == []
    read(threaded, out=out, word="other")
    assert out == ["other"]
    promise.fail("test", ValueError("over"))


def test_failure_of_the_keeper_goes_to_the_readers(threaded: Engine) -> None:
    var = Var()
    promise = promised(threaded, var)
    last = read(threaded, var, out=[])
    threaded.fulfill(promise, fail, (), LANE, "divide")
    with pytest.raises(EngineError, match="divide: failed with ZeroDivisionError"):
        threaded.wait(last)


def test_failure_in_what_the_keeper_reads_goes_to_the_readers(threaded: Engine) -> None:
    var, source = Var(), Var()
    out: list[str] = []
    threaded.push(fail, (), (source,), LANE, name="divide")
    promise = promised(threaded, var)
    threaded.fulfill(promise, lambda: out.append("write"), (source,), LANE)
    with pytest.raises(EngineError, match="divide: failed with ZeroDivisionError"):
        threaded.wait(var)
    assert out == []


def test_promise_that_is_given_up_fails_its_readers(threaded: Engine) -> None:
    var = Var()
    promise = promised(threaded, var)
    last = read(threaded, var, out=[])
    promise.fail("meeting", ValueError("nobody came"))
    with pytest.raises(EngineError, match="meeting: failed with ValueError: nobody came"):
        threaded.wait(last)
    promise.fail("meeting", ValueError("again"))
    with pytest.raises(EngineError, match="nobody came"):
        threaded.wait(var)


def test_wait_all_waits_for_promises(threaded: Engine) -> None:
    var = Var()
    out: list[str] = []
    promise = promised(threaded, var)
    keeper = threading.Timer(
        0.05, lambda: threaded.fulfill(promise, lambda: out.append("write"), (), LANE)
    )
    keeper.start()
    threaded.wait_all()
    assert out == ["write"]
    keeper.join(LONG_S)


def test_keeper_that_reads_the_promised_variable_is_stuck(threaded: Engine) -> None:
    var = Var()
    promise = promised(threaded, var)
    assert not promise.is_deadlocked()
    made = read(threaded, var, out=[])
    threaded.fulfill(promise, lambda: None, (made,), LANE)
    assert promise.is_deadlocked()
    promise.fail("meeting", ValueError("in a circle"))
    with pytest.raises(EngineError, match="in a circle"):
        threaded.wait(made)


def test_variable_in_use_cannot_be_promised(threaded: Engine) -> None:
    var, go = Var(), threading.Event()
    out: list[bool] = []
    threaded.push(lambda: out.append(go.wait(LONG_S)), (), (var,), LANE)
    with pytest.raises(EngineError, match="promise: expected a variable without pending work"):
        threaded.promise(var)
    go.set()


def test_shutdown_fails_what_waits_for_a_promise(make_engine: Any) -> None:
    engine, var = make_engine(), Var()
    promise = promised(engine, var)
    assert not engine.shutdown(timeout_s=0.05)
    assert not promise.pending
    with pytest.raises(EngineError, match="the engine stopped before it was fulfilled"):
        engine.wait(var)
    with pytest.raises(EngineError, match="promise: expected a running engine"):
        engine.promise(Var())


def test_promise_that_nobody_has_any_more_fails_its_readers(threaded: Engine) -> None:
    var = Var()
    promised(threaded, var)
    with pytest.raises(
        EngineError, match=r"promise: failed .* was dropped before it was fulfilled"
    ):
        threaded.wait(var)


def test_naive_engine_makes_none(make_engine: Any) -> None:
    assert make_engine("NaiveEngine").promise(Var()) is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_child_of_a_fork_has_no_promises(make_engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gluonish_engine.forking._FORK_S", 0.05)
    engine, var = make_engine(), Var()
    promise = promised(engine, var)
    child = os.fork()
    if child == 0:
        promise.fail("late", ValueError("late"))
        engine.wait_all()
        os._exit(0 if not promise.pending else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    promise.fail("test", ValueError("over"))


def test_launch_that_waits_for_a_promise_does_not_block_its_caller(threaded: Engine) -> None:
    device = FakeDevice()
    lanes = [("gpu", i, "compute") for i in range(2)]
    for lane in lanes:
        threaded.register_stream_lane(lane, FakeStream(device, str(lane)))
    var, made, ready = Var(), [Var(), Var()], Var()
    out: list[int] = []
    promise = promised(threaded, var)

    def launch(i: int, reads: list[Var], write: Var) -> None:
        threaded.push(lambda: device.kernel(lambda: out.append(i)), reads, (write,), lanes[i])

    launch(0, [var], made[0])
    launch(1, [], ready)
    launch(1, [var, ready], made[1])
    threaded.fulfill(promise, lambda: out.append(7), [ready], LANE)
    for write in made:
        threaded.wait(write)
    assert out[:2] == [1, 7]
    assert sorted(out[2:]) == [0, 1]
    launch(0, [made[1]], made[0])  # with no promise left, at once
    threaded.wait(made[0])
    assert out[4:] == [0]


def hashed(word: object, arguments: list[Any]) -> int:
    return hash((word, *arguments))


class Program:
    """Random writes, each of a new variable, some of them promised and kept in another order.

    A value is a hash of what its operator read. ``needs`` has the promises that a value waits for,
    so that no promise is kept by what waits for it.
    """

    def __init__(self, engine: Engine, seed: int) -> None:
        self.engine, self.random = engine, random.Random(seed)
        self.vars: list[Var] = []
        self.found: list[Any] = []
        self.reads: list[list[int]] = []
        self.needs: list[set[int]] = []
        self.open: dict[int, Promise] = {}

    def run(self, length: int) -> None:
        for _ in range(length):
            self.random.choice((self.push, self.push, self.promise, self.fulfill))()
        while self.open:
            self.fulfill()

    def add(self, reads: list[int]) -> int:
        self.vars.append(Var())
        self.found.append(None)
        self.reads.append(reads)
        self.needs.append(set().union(*(self.needs[i] for i in reads)))
        return len(self.vars) - 1

    def sample(self, among: list[int]) -> list[int]:
        return self.random.sample(among, min(len(among), self.random.randrange(4)))

    def operator(self, target: int) -> tuple[Any, list[Var], Any]:
        def fn() -> None:
            self.found[target] = hashed(target, [self.found[i] for i in self.reads[target]])

        held = [self.vars[i] for i in self.reads[target]]
        return fn, held, self.random.choice((LANE, OTHER))

    def push(self) -> None:
        target = self.add(self.sample(list(range(len(self.vars)))))
        fn, held, lane = self.operator(target)
        inline = self.random.random() < 0.5
        self.engine.push(fn, held, (self.vars[target],), lane, inline=inline)

    def promise(self) -> None:
        target = self.add([])
        self.needs[target] = {target}
        self.open[target] = promised(self.engine, self.vars[target])

    def fulfill(self) -> None:
        if not self.open:
            return
        target = self.random.choice(list(self.open))
        free = [i for i, needs in enumerate(self.needs) if target not in needs]
        self.reads[target] = self.sample(free)
        gained = set().union(*(self.needs[i] for i in self.reads[target]))
        for needs in self.needs:  # whoever waits for this one waits for those, too
            if target in needs:
                needs |= gained
        fn, held, lane = self.operator(target)
        self.engine.fulfill(self.open.pop(target), fn, held, lane)

    def expected(self, target: int, known: dict[int, int]) -> int:
        if target not in known:
            arguments = [self.expected(i, known) for i in self.reads[target]]
            known[target] = hashed(target, arguments)
        return known[target]


@pytest.mark.usefixtures("eager_switching")
@pytest.mark.parametrize("bulk", [0, 3])
def test_random_programs_compute_what_their_reads_say(threaded: Engine, bulk: int) -> None:
    for seed in range(40):
        program = Program(threaded, seed)
        with threaded.bulk(bulk):
            program.run(60)
        threaded.wait_all()
        known: dict[int, int] = {}
        assert program.found == [program.expected(i, known) for i in range(len(program.vars))]
