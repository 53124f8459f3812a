"""Watchers hear of what devices allocate, by whom, and of its end; nobody else pays for it."""

import gc
import threading

import numpy as np
import pytest

from gluonish import autograd, nd
from gluonish.core.allocation_observers import (
    AllocationTally,
    observe_allocations,
    stop_observing_allocations,
)
from gluonish.core.context import Context, cpu
from gluonish.core.device import CPUDevice
from gluonish.engine import use_engine
from gluonish.gluon.nn import Dense

KINDS = ["NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice"]


class Log:
    """Watcher that writes everything down."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, Context, int, str]] = []

    def allocated(self, context: Context, nbytes: int, name: str) -> None:
        self.lines.append(("+", context, nbytes, name))

    def freed(self, context: Context, nbytes: int, name: str) -> None:
        self.lines.append(("-", context, nbytes, name))


def test_nothing_is_there_while_nobody_watches() -> None:
    before = CPUDevice.__dict__["empty"]
    assert before.__func__ is np.empty
    with AllocationTally():
        assert CPUDevice.__dict__["empty"] is not before
    assert CPUDevice.__dict__["empty"] is before


@pytest.mark.parametrize("kind", KINDS)
def test_operators_and_their_arrays_ends_are_named(kind: str) -> None:
    log = Log()
    with use_engine(kind):
        x = nd.ones((3, 4))
        observe_allocations(log)
        y = x * 2
        z = nd.zeros((2, 3, 4, 5), ctx=cpu(1))
        view = y[1:]
        nd.waitall()
        del y
        assert [line[0] for line in log.lines] == ["+", "+"]
        del view, z
        nd.waitall()
        gc.collect()
        stop_observing_allocations(log)
    assert log.lines[:2] == [("+", cpu(), 48, "_mul_scalar"), ("+", cpu(1), 480, "_full")]
    assert sorted(line[2] for line in log.lines[2:]) == [48, 480]
    assert {line[0] for line in log.lines[2:]} == {"-"}


@pytest.mark.parametrize("kind", KINDS)
def test_accounts_of_a_training_loop_sum_to_zero(kind: str) -> None:
    with use_engine(kind), AllocationTally() as tally:
        layer = Dense(3, in_units=5, prefix="watched_")
        layer.initialize()
        layer.hybridize(static_alloc=True)
        for _ in range(3):
            with autograd.record():
                y = layer(nd.ones((2, 5)))
                loss = y.exp().sum()
            loss.backward()
        nd.waitall()
        assert any(h.name == "watched" for h in tally.holdings())
        assert 0 < tally.nbytes(cpu()) <= tally.peak(cpu()) < tally.total(cpu())
        del layer, y, loss
        gc.collect()
        nd.waitall()
        assert tally.nbytes(cpu()) == 0
        assert tally.holdings() == []


def test_memory_of_a_hybridized_block_has_its_name() -> None:
    with AllocationTally() as tally:
        layer = Dense(4, in_units=4, activation="sigmoid", prefix="named_")
        layer.initialize()
        layer.hybridize(static_alloc=True)
        with autograd.record():
            y = layer(nd.ones((2, 4))).exp()
        y.backward()
        nd.waitall()
        names = {h.name for h in tally.holdings()}
    assert names & {"named:kept for backward", "named:arena"}


def test_two_watchers_each_hear_of_what_came_while_they_watched() -> None:
    first, second = Log(), Log()
    observe_allocations(first)
    x = nd.ones((2,))
    observe_allocations(second)
    y = nd.ones((3,))
    nd.waitall()
    del x, y
    gc.collect()
    stop_observing_allocations(first)
    nd.ones((4,)).wait_to_read()
    stop_observing_allocations(second)
    assert [line[2] for line in first.lines if line[0] == "+"] == [8, 12]
    assert sorted(line[2] for line in first.lines if line[0] == "-") == [8, 12]
    assert [line[2] for line in second.lines if line[0] == "+"] == [12, 16]
    assert 8 not in [line[2] for line in second.lines]


def test_threads_lose_no_account() -> None:
    def work() -> None:
        for i in range(200):
            nd.ones((1 + i % 7,)) + 1

    with AllocationTally() as tally:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        nd.waitall()
        gc.collect()
        assert tally.nbytes(cpu()) == 0
        assert tally.total(cpu()) == 4 * 2 * sum(4 * (1 + i % 7) for i in range(200))
