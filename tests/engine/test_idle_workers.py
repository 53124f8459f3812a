"""`Engine.call_in_idle_workers`: what every worker thread calls once, if nothing is pending."""

import threading
from collections.abc import Iterator

import pytest

from gluonish_engine import Engine, Var, create_engine

LANES = [("cpu", 0, "compute"), ("cpu", 0, "copy")]


@pytest.fixture
def engine() -> Iterator[Engine]:
    made = create_engine("ThreadedEnginePerDevice", cpu_workers=1)
    yield made
    made.shutdown()


def test_every_worker_calls_it(engine: Engine) -> None:
    workers: set[int] = set()
    for lane in LANES:
        engine.push(lambda: workers.add(threading.get_ident()), (), [Var()], lane)
    engine.wait_all()
    called: list[int] = []
    assert engine.call_in_idle_workers(lambda: called.append(threading.get_ident()), "call")
    engine.wait_all()
    assert sorted(called) == sorted(workers)
    assert len(called) == len(LANES)


def test_nobody_does_while_something_is_pending(engine: Engine) -> None:
    go = threading.Event()
    engine.push(lambda: go.wait(10) and None, (), [Var()], LANES[0])
    assert not engine.call_in_idle_workers(pytest.fail, "call")
    go.set()
    engine.wait_all()


def test_nor_in_a_lane_of_several_threads() -> None:
    engine = create_engine("ThreadedEnginePerDevice", cpu_workers=2)
    try:
        engine.push(lambda: None, (), [Var()], LANES[0])
        engine.wait_all()
        assert not engine.call_in_idle_workers(pytest.fail, "call")
    finally:
        engine.shutdown()


def test_an_engine_without_workers_has_nothing_to_do() -> None:
    assert create_engine("NaiveEngine").call_in_idle_workers(pytest.fail, "call")


def test_an_engine_that_was_shut_down_has_none_left() -> None:
    engine = create_engine("ThreadedEnginePerDevice")
    engine.push(lambda: None, (), [Var()], LANES[0])
    engine.shutdown()
    assert engine.call_in_idle_workers(pytest.fail, "call")
