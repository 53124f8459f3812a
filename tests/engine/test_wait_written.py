import threading
from typing import Any

import pytest

from gluonish_engine import Engine, EngineError, Var

pytestmark = pytest.mark.timeout(60)
LANE = ("cpu", 0, "compute")
LONG_S = 30


def fail() -> None:
    raise ValueError("wrong")


def test_it_waits_for_the_write(threaded: Engine) -> None:
    var, go, done = Var(), threading.Event(), []

    def write() -> None:
        assert go.wait(LONG_S)
        done.append(True)

    threaded.push(write, (), (var,), LANE)
    threading.Timer(0.05, go.set).start()
    threaded.wait_written(var)
    assert done == [True]


def test_an_error_is_left_to_the_wait(engine: Engine) -> None:
    var = Var()
    engine.push(fail, (), (var,), LANE)
    engine.wait_written(var)
    with pytest.raises(EngineError, match="wrong"):
        engine.wait(var)


def test_a_variable_that_nothing_writes_is_settled(engine: Engine) -> None:
    engine.wait_written(Var())


def test_inside_an_operator_it_returns_at_once(threaded: Engine) -> None:
    var, go, inside = Var(), threading.Event(), threading.Event()

    def write() -> None:
        assert go.wait(LONG_S)

    def wait_written() -> None:
        threaded.wait_written(var)
        inside.set()

    threaded.push(write, (), (var,), LANE)
    threaded.push(wait_written, (), (Var(),), ("cpu", 1, "compute"))
    assert inside.wait(LONG_S)
    go.set()
    threaded.wait_all()


def test_a_bulk_that_is_gathered_stays_open(make_engine: Any) -> None:
    engine = make_engine()
    engine.set_bulk_size(8)
    var, ran = Var(), []
    engine.push(lambda: ran.append(1), (), (var,), LANE)
    engine.wait_written(var)
    assert ran == []
    engine.wait(var)
    assert ran == [1]
