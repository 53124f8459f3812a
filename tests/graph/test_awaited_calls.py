"""Calls that the caller waits for at once run in the calling thread; others go to a worker."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import engine, nd
from gluonish.gluon import nn
from gluonish.graph import awaited_calls
from gluonish.graph.executable import Executable
from gluonish.kernels import openmp, teams

CALLS = 40  # more than the team needs to come to the caller


@pytest.fixture(autouse=True)
def threaded() -> Iterator[None]:
    """Run on a threaded engine whose workers have the team, as after the first large call."""
    with engine.use_engine("ThreadedEnginePerDevice"):
        teams.hand_over()
        yield
    openmp.enable_teams()
    teams._State.owner = teams._State.worker_runs = teams._State.small_calls = 0
    teams._State.ended = False


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Collects the threads that run the calls."""
    seen: list[int] = []
    run = Executable._run_all

    def noted(self: Executable, *args: Any) -> None:
        seen.append(threading.get_ident())
        run(self, *args)

    monkeypatch.setattr(Executable, "_run_all", noted)
    return seen


def network() -> Callable[[], nd.NDArray]:
    """Return a call of a network that is too large to be small, but short."""
    net = nn.HybridSequential()
    net.add(nn.Conv2D(64, 3, padding=1, in_channels=64))
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True, static_shape=True)
    x = mx.nd.random.uniform(shape=(2, 64, 32, 32))
    net(x).wait_to_read()
    return lambda: net(x)


def overlapped(call: Callable[[], nd.NDArray], threads: list[int]) -> nd.NDArray:
    """Call, and do something else until the call has begun."""
    begun = len(threads)
    y = call()
    while len(threads) == begun:
        time.sleep(1e-4)
    return y


def here(seen: list[int]) -> list[bool]:
    return [ident == threading.get_ident() for ident in seen]


@pytest.mark.parametrize("wait", ["wait_to_read", "asnumpy", "argmax"])
def test_awaited_calls_come_to_the_caller(threads: list[int], wait: str) -> None:
    call = network()
    threads.clear()
    for _ in range(CALLS):
        if wait == "argmax":  # waits for what depends on the call
            call().argmax(axis=1).asnumpy()
        else:
            getattr(call(), wait)()
    assert not any(here(threads)[: awaited_calls._ENOUGH])
    assert all(here(threads)[-10:])


def test_results_are_the_same_bits(threads: list[int]) -> None:
    call = network()
    first = call().asnumpy()
    for _ in range(CALLS):
        np.testing.assert_array_equal(call().asnumpy(), first)
    assert here(threads)[-1]


def test_calls_that_overlap_with_the_caller_stay_in_a_worker(threads: list[int]) -> None:
    call = network()
    threads.clear()
    for _ in range(CALLS):
        overlapped(call, threads).wait_to_read()
    assert not any(here(threads))


def test_calls_that_another_thread_waits_for_stay_in_a_worker(threads: list[int]) -> None:
    call = network()
    threads.clear()
    for _ in range(CALLS):
        y = call()
        waiter = threading.Thread(target=y.wait_to_read)
        waiter.start()
        waiter.join()
    assert not any(here(threads))


def test_a_caller_that_stops_to_wait_is_noticed(
    threads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(awaited_calls, "_TIGHT", -1)
    monkeypatch.setattr(awaited_calls, "_AGAIN", 8)
    call = network()
    for _ in range(CALLS):
        call().wait_to_read()
    assert any(here(threads))
    threads.clear()
    for _ in range(CALLS):
        overlapped(call, threads).wait_to_read()
    assert not any(here(threads)[-10:])


def test_a_failure_reaches_the_waiter_in_either_place(monkeypatch: pytest.MonkeyPatch) -> None:
    call = network()
    run = Executable._run
    fail: list[bool] = []

    def failing(self: Executable, *args: Any) -> None:
        if fail:
            raise ValueError("on purpose")
        run(self, *args)

    monkeypatch.setattr(Executable, "_run", failing)
    for _ in range(CALLS):
        call().wait_to_read()
    good = call().asnumpy()
    fail.append(True)
    y = call()
    with pytest.raises(mx.MXNetError, match="on purpose"):
        y.wait_to_read()
    fail.clear()
    np.testing.assert_array_equal(call().asnumpy(), good)


def test_long_networks_never_come_to_the_caller(
    threads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gluonish.graph.execution_plan.is_short", lambda nodes: False)
    call = network()
    for _ in range(CALLS):
        call().wait_to_read()
    assert not any(here(threads))
