import ctypes
import threading
from typing import Any

import pytest

from gluonish_engine import Engine, EngineError, Var

pytestmark = pytest.mark.timeout(60)
LANE = ("cpu", 0, "compute")
OTHER = ("cpu", 1, "compute")
LONG_S = 30


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


def test_a_name_that_the_cause_begins_with_is_said_once(engine: Engine) -> None:
    def refuse() -> None:
        raise ValueError("take: expected positions below 3, got 5")

    var = Var()
    engine.push(refuse, (), (var,), LANE, name="take")
    with pytest.raises(
        EngineError, match=r"^take: failed with ValueError: expected positions below 3, got 5$"
    ):
        engine.wait(var)


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


def test_error_type_goes_by_the_first_class_that_the_cause_is_of(engine: Engine) -> None:
    class Lookup(Exception):
        pass

    class Other(Exception):
        pass

    def seek() -> None:
        raise IndexError("no 7")

    engine.error_types = ((MemoryError, Other), (LookupError, Lookup), (Exception, Other))
    var, dependent = Var(), Var()
    engine.push(seek, (), (var,), LANE, name="take")
    engine.push(succeed, (var,), (dependent,), LANE)
    for waited in (dependent, var):
        with pytest.raises(Lookup, match=r"^take: failed with IndexError: no 7$"):
            engine.wait(waited)
    engine.push(seek, (), (var,), LANE, name="take")
    with pytest.raises(Lookup, match="no 7"):
        engine.wait_all()


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


class Weight:
    """A variable with a value that starts at 1, and what its readers saw."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.var = Var()
        self.value = 1
        self.seen: list[int] = []

    def update(self, *reads: Var, inline: bool = False) -> None:
        def run() -> None:
            self.value += 1

        self.engine.push(run, (*reads, self.var), (self.var,), LANE, name="sgd", inline=inline)

    def read(self, lane: Any = LANE, inline: bool = False) -> Var:
        out = Var()
        self.engine.push(
            lambda: self.seen.append(self.value), (self.var,), (out,), lane, inline=inline
        )
        return out


@pytest.fixture
def weight(engine: Engine) -> Weight:
    return Weight(engine)


def fail_and_update(weight: Weight, inline: bool = False) -> Var:
    """Push an operator that fails and an update that reads its result; the result is returned."""
    bad = Var()
    push_failing(weight.engine, bad)
    weight.update(bad, inline=inline)
    return bad


def raises_at(engine: Engine, var: Var) -> bool:
    try:
        engine.wait(var)
    except EngineError as error:
        return str(error).startswith("conv0: failed")
    return False


@pytest.mark.parametrize("inline", [False, True])
def test_skipped_update_is_forgiven_after_the_raise_of_its_failure(
    weight: Weight, inline: bool
) -> None:
    bad = fail_and_update(weight, inline)
    assert raises_at(weight.engine, bad)
    out = weight.read(inline=inline)
    weight.update(inline=inline)
    weight.engine.wait(out)
    weight.engine.wait(weight.var)
    assert (weight.seen, weight.value) == ([1], 2)


def test_reader_pushed_before_the_raise_is_skipped_for_good(weight: Weight) -> None:
    bad = fail_and_update(weight)
    out = weight.read()
    assert [raises_at(weight.engine, bad) for bad in (bad, weight.var, out, out)] == [
        True,
        False,
        True,
        True,
    ]
    assert weight.seen == []


def test_wait_for_a_stale_variable_raises_once(weight: Weight) -> None:
    fail_and_update(weight)
    weight.update()
    assert [raises_at(weight.engine, weight.var) for _ in range(3)] == [True, False, False]
    assert weight.value == 1


def test_wait_all_is_a_raise_too_and_for_all_failures(weight: Weight) -> None:
    other = Weight(weight.engine)
    fail_and_update(weight)
    fail_and_update(other)
    with pytest.raises(EngineError, match=r"^conv0: (?s:.*)Also failed: conv0"):
        weight.engine.wait_all()
    weight.engine.wait(weight.var)
    weight.engine.wait(other.var)


def test_one_raise_forgives_no_other_failure(weight: Weight) -> None:
    other = Weight(weight.engine)
    bad = fail_and_update(weight)
    fail_and_update(other)
    assert raises_at(weight.engine, bad)
    assert [raises_at(weight.engine, other.var) for _ in range(2)] == [True, False]


def test_update_skipped_after_the_raise_of_its_failure_is_forgiven_at_once(weight: Weight) -> None:
    bad = Var()
    push_failing(weight.engine, bad)
    assert raises_at(weight.engine, bad)
    weight.update(bad)
    weight.engine.wait(weight.var)
    assert weight.value == 1


@pytest.mark.parametrize("inline", [False, True])
def test_update_that_ran_and_failed_stays_failed(engine: Engine, inline: bool) -> None:
    var = Var()
    engine.push(fail, (var,), (var,), LANE, name="conv0", inline=inline)
    engine.push(succeed, (var,), (var,), LANE, name="sgd", inline=inline)
    assert [raises_at(engine, var) for _ in range(2)] == [True, True]
    with pytest.raises(EngineError, match=r"^conv0"):
        engine.wait_to_write(var)


def test_value_that_was_never_computed_is_not_made_stale_by_an_update(engine: Engine) -> None:
    bad, worse = Var(), Var()
    push_failing(engine, bad)
    push_failing(engine, worse, name="conv1")
    engine.push(succeed, (bad, worse), (worse, bad), LANE, name="sgd")
    assert [raises_at(engine, var) for var in (bad, worse, bad, worse)] == [True] * 4


def test_what_a_skipped_operator_only_writes_stays_failed(engine: Engine) -> None:
    bad, out = Var(), Var()
    push_failing(engine, bad)
    engine.push(succeed, (bad,), (out,), LANE)
    assert [raises_at(engine, var) for var in (bad, out, out)] == [True] * 3


def test_raise_inside_an_operator_forgives_nothing(weight: Weight) -> None:
    engine, caught = weight.engine, []

    def look() -> None:
        caught.append(raises_at(engine, weight.var))

    fail_and_update(weight)
    for inline in (False, True):
        out = Var()
        engine.push(look, (), (out,), OTHER, inline=inline)
        engine.wait(out)
    assert caught == [True, True]
    assert [raises_at(engine, weight.var) for _ in range(2)] == [True, False]


def test_raise_in_one_thread_counts_in_another(weight: Weight) -> None:
    bad = fail_and_update(weight)
    raised: list[bool] = []
    thread = threading.Thread(target=lambda: raised.append(raises_at(weight.engine, bad)))
    thread.start()
    thread.join(LONG_S)
    weight.engine.wait(weight.read())
    assert raised == [True]
    assert weight.seen == [1]


@pytest.mark.parametrize("inline", [False, True])
def test_the_push_decides_what_came_after_the_raise(threaded: Engine, inline: bool) -> None:
    weight, started, go = Weight(threaded), threading.Event(), threading.Event()

    def hold() -> None:
        started.set()
        assert go.wait(LONG_S)

    bad = fail_and_update(weight)
    threaded.push(hold, (), (), LANE)
    assert started.wait(LONG_S)
    before = weight.read(LANE)
    assert raises_at(threaded, bad)
    after = weight.read(OTHER, inline)
    go.set()
    assert [raises_at(threaded, out) for out in (before, after)] == [True, False]
    assert weight.seen == [1]


def test_push_inside_an_operator_comes_after_what_the_operator_came_after(
    threaded: Engine,
) -> None:
    weight, outs, go = Weight(threaded), [], threading.Event()  # type: ignore[var-annotated]

    def nest() -> None:
        assert go.wait(LONG_S)
        outs.extend((weight.read(), weight.read(OTHER, inline=True)))

    bad, done = fail_and_update(weight), Var()
    threaded.push(nest, (), (done,), LANE)
    assert raises_at(threaded, bad)
    go.set()
    threaded.wait(done)
    assert [raises_at(threaded, out) for out in outs] == [True, True]
    threaded.wait(weight.read())
    assert weight.seen == [1]


def test_forgiven_variable_is_inline_again(threaded: Engine) -> None:
    weight, where = Weight(threaded), []
    assert raises_at(threaded, fail_and_update(weight))
    threaded.wait_all()
    threaded.push(lambda: where.append(threading.get_ident()), (weight.var,), (), LANE, inline=True)
    assert where == [threading.get_ident()]
    assert weight.var.error is None


@pytest.mark.parametrize("inline", [False, True])
def test_an_interrupted_update_leaves_its_variable_usable(engine: Engine, inline: bool) -> None:
    weight, result = Var(), Var()
    seen: list[str] = []

    def interrupt() -> None:
        raise KeyboardInterrupt

    pushed_here = inline or type(engine).__name__ == "NaiveEngine"
    if not pushed_here:
        pytest.skip("an interrupt reaches only the main thread, which runs no lane operator")
    with pytest.raises(KeyboardInterrupt):
        engine.push(interrupt, (weight,), (weight, result), LANE, name="update", inline=inline)
    engine.wait(weight)
    engine.push(lambda: seen.append("ran"), (weight,), (weight,), LANE, name="update")
    engine.wait(weight)
    assert seen == ["ran"]
    with pytest.raises(EngineError, match="update: failed with KeyboardInterrupt"):
        engine.wait(result)


def test_outputs_beside_the_one_that_raised_can_be_read(engine: Engine) -> None:
    first, second, sum_ = Var(), Var(), Var()
    push_failing(engine, first, second)
    engine.push(succeed, (second,), (sum_,), LANE, name="sum")
    with pytest.raises(EngineError):
        engine.wait(first)
    engine.wait(second)
    engine.push(succeed, (second,), (third := Var(),), LANE)
    engine.wait(third)
    engine.wait_all()
    for never_computed in (first, sum_):
        with pytest.raises(EngineError, match="conv0: failed with ValueError: bad shape"):
            engine.wait(never_computed)


def test_after_a_raise_for_all_an_output_raises_for_the_others(engine: Engine) -> None:
    first, second = Var(), Var()
    push_failing(engine, first, second)
    with pytest.raises(EngineError):
        engine.wait_all()
    with pytest.raises(EngineError):
        engine.wait(second)
    engine.wait(first)
    engine.wait_all()


def test_several_weights_of_an_update_that_raised_stay_lost(engine: Engine) -> None:
    weights = [Var(), Var()]
    engine.push(fail, weights, weights, LANE, name="update")
    for weight in weights:
        with pytest.raises(EngineError, match="update: failed"):
            engine.wait(weight)


def overflow() -> None:
    overflow()


def wrapped() -> None:
    try:
        overflow()
    except RecursionError as error:
        raise ValueError("node3 failed") from error


def from_ctypes() -> None:
    class Argument:
        @classmethod
        def from_param(cls, value: object) -> None:
            overflow()

    function = ctypes.CDLL(None).abs
    argument: Any = Argument
    function.argtypes = [argument]
    function(1)


@pytest.mark.parametrize("fn", [overflow, wrapped, from_ctypes])
def test_full_stack_is_raised_by_the_push_and_by_nothing_else(engine: Engine, fn: Any) -> None:
    out, weight = Var(), Var()
    with pytest.raises(RecursionError):
        engine.push(fn, (weight,), (out, weight), LANE, name="deep", inline=True)
    engine.wait_all()
    engine.wait(weight)  # as after an interrupt
    with pytest.raises(EngineError, match="deep: failed with"):
        engine.wait(out)
    engine.wait_all()


def test_full_stack_of_a_worker_is_its_operators(threaded: Engine) -> None:
    out = Var()
    threaded.push(overflow, (), (out,), LANE, name="deep")
    with pytest.raises(EngineError, match="deep: failed with RecursionError"):
        threaded.wait(out)
    threaded.wait_all()
