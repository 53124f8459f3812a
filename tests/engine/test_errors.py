from typing import Any

import pytest

from gluonish_engine import Engine, EngineError, Var

pytestmark = pytest.mark.timeout(60)
LANE = ("cpu", 0, "compute")


def fail() -> None:
    raise ValueError("bad shape")


def succeed() -> None:
    pass


def push_failing(engine: Engine, *writes: Var, name: str = "conv0") -> None:
    engine.push(fail, (), writes, LANE, name=name)


def test_error_is_raised_at_the_wait_with_name_and_cause(engine: Engine) -> None:
    var = Var()
    push_failing(engine, var)
    with pytest.raises(EngineError, match=r"^conv0: failed with ValueError: bad shape$") as caught:
        engine.wait(var)
    assert isinstance(caught.value.__cause__, ValueError)


@pytest.mark.parametrize("inline", [False, True])
def test_where_it_was_pushed_is_shown_to_the_depth_asked_for(
    make_engine: Any, inline: bool
) -> None:
    for kind in ("NaiveEngine", "ThreadedEnginePerDevice"):
        engine, var = make_engine(kind, stack_trace_depth=1), Var()
        engine.push(fail, (), (var,), LANE, name="conv0", inline=inline)
        with pytest.raises(EngineError) as caught:
            engine.wait(var)
        shown = str(caught.value).partition("Pushed at (most recent call last):\n")[2]
        assert shown.count("File ") == 1
        assert "test_errors.py" in shown
        assert "engine.push(fail" in shown


def test_error_type_is_the_callers_choice(make_engine: Any) -> None:
    class MyError(Exception):
        pass

    engine, var = make_engine(error_type=MyError), Var()
    push_failing(engine, var)
    with pytest.raises(MyError, match="conv0"):
        engine.wait(var)


def test_error_flows_to_everything_that_depends_on_it(engine: Engine) -> None:
    first, second, third, free = Var(), Var(), Var(), Var()
    ran: list[int] = []
    push_failing(engine, first)
    engine.push(lambda: ran.append(1), (free, first), (second,), LANE, name="add")
    engine.push(lambda: ran.append(2), (second,), (third,), LANE, name="mul", inline=True)
    with pytest.raises(EngineError, match=r"^conv0"):
        engine.wait_to_write(third)
    engine.wait(free)
    assert ran == []


def test_read_and_write_of_a_failed_variable_does_not_run(engine: Engine) -> None:
    var = Var()
    push_failing(engine, var)
    engine.push(succeed, (var,), (var,), LANE, name="add")
    with pytest.raises(EngineError, match=r"^conv0"):
        engine.wait(var)


def test_write_without_read_clears_the_error(engine: Engine) -> None:
    var = Var()
    push_failing(engine, var)
    engine.push(succeed, (), (var,), LANE)
    engine.wait(var)


def test_error_is_raised_at_each_wait_but_not_by_wait_all_after_one(engine: Engine) -> None:
    var = Var()
    push_failing(engine, var)
    for _ in range(2):
        with pytest.raises(EngineError):
            engine.wait(var)
    engine.wait_all()


def test_wait_all_raises_the_first_names_the_others_and_is_silent_after(engine: Engine) -> None:
    first, second = Var(), Var()
    push_failing(engine, first, name="conv0")
    push_failing(engine, second, name="conv1")
    with pytest.raises(EngineError, match=r"^conv0: (?s:.*)Also failed: conv1"):
        engine.wait_all()
    engine.wait_all()
    with pytest.raises(EngineError, match=r"^conv1"):
        engine.wait(second)


def test_engine_goes_on_after_an_error(engine: Engine) -> None:
    bad, good, ran = Var(), Var(), []
    push_failing(engine, bad)
    with pytest.raises(EngineError):
        engine.wait_all()
    engine.push(lambda: ran.append(1), (), (good,), LANE)
    engine.wait(good)
    assert ran == [1]


def test_failures_that_nobody_waits_for_are_bounded(engine: Engine) -> None:
    for _ in range(600):
        push_failing(engine, Var())
    with pytest.raises(EngineError, match="conv0"):
        engine.wait_all()
    assert engine._unraised == []


@pytest.mark.parametrize("inline", [False, True])
def test_exit_in_a_worker_is_an_error_and_in_the_caller_an_exit(
    threaded: Engine, inline: bool
) -> None:
    def leave() -> None:
        raise SystemExit(3)

    var = Var()
    if inline:
        with pytest.raises(SystemExit):
            threaded.push(leave, (), (var,), LANE, name="op", inline=True)
    else:
        threaded.push(leave, (), (var,), LANE, name="op")
    with pytest.raises(EngineError, match="SystemExit"):
        threaded.wait(var)
    threaded.push(succeed, (), (var,), LANE)
    threaded.wait(var)
