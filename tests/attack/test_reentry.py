"""Array work of a signal's handler or a destructor, at places in the middle of our own code.

It comes on the same thread, wherever CPython may run it: what is held there must not be waited
for, and what is half done must not be seen. A hang ends the test by its timeout.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, gluon, nd, profiler
from gluonish.core.allocation_observers import AllocationTally
from gluonish.core.context import cpu
from gluonish.core.random_state import next_key
from gluonish.gluon import nn
from gluonish.profiler.events import TraceEvent
from gluonish.profiler.recorder import Recorder
from gluonish_engine import MemoryPool, linear_sizes
from tests.engine.places import act_at

pytestmark = [pytest.mark.slow, pytest.mark.timeout(100)]

# At most so many places of one program are tried, spread over all that it has.
MOST = 250
X = np.arange(6, dtype=np.float32).reshape(2, 3)


def attack(
    program: Callable[[], Any],
    nested: Callable[[], Any],
    check: Callable[[], None],
    files: tuple[str, ...] = ("/gluonish/",),
    most: int = MOST,
) -> int:
    """Run a program with other work at one place after the other; return how many there were."""
    with act_at(1 << 40, lambda: None, files=files) as at:
        program()
    places = (1 << 40) - at.left
    step = max(1, places // most)
    for place in range(0, places, step):
        with act_at(place, nested, files=files):
            program()
        check()
    return len(range(0, places, step))


def network(*, static_alloc: bool = True) -> tuple[Any, np.ndarray[Any, Any]]:
    """Return a network of known numbers, not called yet, and what it gives for X."""
    net = nn.HybridSequential()
    net.add(nn.Dense(4, in_units=3, activation="relu"), nn.Dense(2, in_units=4))
    net.initialize(mx.init.Constant(0.5))
    net.hybridize(static_alloc=static_alloc)
    hidden = np.maximum(X @ np.full((3, 4), 0.5, np.float32), 0)
    return net, hidden @ np.full((4, 2), 0.5, np.float32)


class Calls:
    """Results of calls of a network, from a program and from what comes in between."""

    def __init__(self, net: Any, expected: np.ndarray[Any, Any]) -> None:
        self.net = net
        self.expected = expected
        self.outputs: list[Any] = []

    def infer(self) -> None:
        self.outputs.append(self.net(nd.array(X)))

    def train(self) -> None:
        with autograd.record():
            y = self.net(nd.array(X))
        y.backward()
        self.outputs.append(y)

    def check(self) -> None:
        """Hold all that was computed since the last time to what is right."""
        assert self.outputs
        for y in self.outputs:
            np.testing.assert_allclose(y.asnumpy(), self.expected, rtol=1e-5)
        self.outputs.clear()


def everything(calls: Calls, folder: Path) -> Callable[[], None]:
    """Return work that touches much: arrays, random numbers, files, another network."""
    other, expected = network()

    def work() -> None:
        assert (nd.ones((3,)) + 1).asnumpy().tolist() == [2, 2, 2]
        assert nd.random.uniform(shape=(4,)).shape == (4,)
        with autograd.pause():
            np.testing.assert_allclose(other(nd.array(X)).asnumpy(), expected, rtol=1e-5)
        calls.net.save_parameters(str(folder / "nested.params"))

    return work


@pytest.mark.parametrize("static_alloc", [False, True])
@pytest.mark.parametrize("way", ["infer", "train"])
@pytest.mark.parametrize("who", ["same", "others"])
def test_work_in_the_middle_of_a_hybridized_call(
    way: str, who: str, static_alloc: bool, tmp_path: Path, record_property: Any
) -> None:
    calls = Calls(*network(static_alloc=static_alloc))
    run = getattr(calls, way)
    run()
    nested = run if who == "same" else everything(calls, tmp_path)
    record_property("places", attack(run, nested, calls.check))


@pytest.mark.parametrize("who", ["same", "others"])
def test_work_in_the_middle_of_a_first_call(who: str, tmp_path: Path, record_property: Any) -> None:
    calls = Calls(*network())
    calls.infer()

    def first() -> None:
        calls.net.hybridize(static_alloc=True)
        calls.infer()

    nested = calls.infer if who == "same" else everything(calls, tmp_path)
    record_property("places", attack(first, nested, calls.check, most=80))


def test_work_in_the_middle_of_a_step_with_a_store(tmp_path: Path, record_property: Any) -> None:
    calls = Calls(*network())
    store = mx.kv.create("local")
    rate = {"learning_rate": 0.0}
    trainer = gluon.Trainer(calls.net.collect_params(), "sgd", rate, kvstore=store)

    def step() -> None:
        calls.train()
        trainer.step(2)

    step()
    record_property("places", attack(step, everything(calls, tmp_path), calls.check))


def test_work_in_the_middle_of_the_profilers(tmp_path: Path, record_property: Any) -> None:
    calls = Calls(*network())
    profiler.set_config(
        profile_all=True, aggregate_stats=True, filename=str(tmp_path / "trace.json")
    )
    profiler.set_state("run")
    try:
        tried = attack(calls.train, everything(calls, tmp_path), calls.check)
        tried += attack(calls.infer, profiler.dump, calls.check, ("gluonish/profiler/",))
        tried += attack(profiler.dump, profiler.dump, lambda: None, ("gluonish/profiler/",))
    finally:
        profiler.set_state("stop")
        profiler.set_config()
    record_property("places", tried)


def test_numbers_drawn_in_the_middle_of_drawing_are_others(record_property: Any) -> None:
    keys: list[tuple[int, int]] = []

    def draw() -> None:
        keys.append(next_key(cpu(), 1))

    def check() -> None:
        assert len(set(keys)) == len(keys)

    record_property("places", attack(draw, draw, check, ("core/random_state",)))


def test_sums_of_a_recorder_miss_nothing_that_comes_in_the_middle(record_property: Any) -> None:
    recorder = Recorder()
    recorder.active = recorder.keeps_totals = True
    added = 0

    def add() -> None:
        nonlocal added
        added += 1
        recorder.memory("cpu/0", 3)
        recorder.memory("cpu/0", 4)
        recorder.span("category", f"{added // 3}", 0, 5)

    def check() -> None:
        totals = recorder.totals()
        spans = [found for (category, _), found in totals.items() if category == "category"]
        assert sum(found.count for found in spans) == added
        events = [event for event in recorder.events() if isinstance(event, TraceEvent)]
        values = [event.value for event in events if event.kind == "count"]
        assert max(values) == 7 * added

    tried = sum(attack(add, act, check, ("profiler/recorder",)) for act in (add, recorder.events))
    record_property("places", tried)


def test_sums_of_allocations_miss_nothing_that_comes_in_the_middle(record_property: Any) -> None:
    tally = AllocationTally()
    added = 0

    def add() -> None:
        nonlocal added
        added += 1
        tally.freed(cpu(), 0, "name")
        tally.freed(cpu(), 1, "name")
        tally.allocated(cpu(), 3, "name")

    def check() -> None:
        assert tally.nbytes(cpu()) == 2 * added
        assert tally.total(cpu()) == 3 * added
        assert tally.peak(cpu()) >= 2 * added

    tried = attack(add, add, check, ("core/allocation_watch",))
    tried += attack(add, tally.holdings, check, ("core/allocation_watch",))
    record_property("places", tried)


class _Memory:
    def allocate(self, nbytes: int) -> bytearray:
        return bytearray(nbytes)

    def free_and_total(self) -> tuple[int, int]:
        return 1 << 30, 1 << 30


def test_pool_used_in_the_middle_of_its_own_code_gives_each_block_once(
    record_property: Any,
) -> None:
    pool = MemoryPool(_Memory(), linear_sizes(64, 1 << 20))
    held: list[Any] = []

    def take() -> None:
        block = pool.allocate(64)
        other = pool.allocate(64)
        assert all(block is not one and other is not one for one in held)
        held.extend((block, other))
        pool.free(held.pop(0))
        pool.free(held.pop(0))
        held.append(pool.allocate(64))

    def check() -> None:
        assert len({id(block) for block in held}) == len(held)
        assert pool.statistics().used == 64 * len(held)
        while len(held) > 2:
            pool.free(held.pop())

    tried = attack(take, take, check, ("memory_pool",))
    tried += attack(take, pool.release, check, ("memory_pool",))
    tried += attack(take, pool.statistics, check, ("memory_pool",))
    record_property("places", tried)
