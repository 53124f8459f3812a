import threading
from functools import partial
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.engine import current_engine, use_engine
from gluonish.profiler import pause, resume, scope
from gluonish.profiler.events import Job
from gluonish.profiler.operators import declared_operands, describe, running_job
from gluonish.profiler.recorder import recorder
from gluonish.profiler.state import recording
from gluonish_engine import Var
from tests.python_calls import python_calls

LANE = ("cpu", 0, "compute")


def nothing(*arguments: Any) -> None:
    pass


def shapes(fn: Any) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    inputs, outputs = describe(fn)
    return [x.shape for x in inputs], [x.shape for x in outputs]


def jobs(name: str) -> list[Job]:
    mx.nd.waitall()
    return [job for job in recorder.jobs() if job.name == name]


def array(*shape: int) -> Any:
    return np.zeros(shape, np.float32)


def test_kernels_write_what_follows_the_array_library() -> None:
    assert shapes(partial(nothing, np, array(2), array(3), array(4))) == ([(3,), (4,)], [(2,)])
    both = partial(nothing, np, (array(2), array(5)), array(3), axis=1)  # type: ignore[call-arg]
    assert shapes(both) == ([(3,)], [(2,), (5,)])


def test_other_functions_write_the_last_argument_with_arrays() -> None:
    assert shapes(partial(nothing, array(1), [array(2)], array(3), "x")) == ([(1,), (2,)], [(3,)])
    assert shapes(partial(nothing, [array(2)], {4: array(3)})) == ([(2,)], [(3,)])
    pair = partial(nothing, mx.nd.zeros((2, 3)), mx.nd.zeros((4,)))
    assert shapes(pair) == ([(2, 3)], [(4,)])


def test_functions_without_arrays_have_none() -> None:
    assert shapes(nothing) == ([], [])
    assert shapes(partial(nothing)) == ([], [])
    assert shapes(partial(nothing, 1, "x", None, np.float32(3), np.dtype("f4"))) == ([], [])


def test_arrays_are_told_by_shape_dtype_and_bytes() -> None:
    inputs, outputs = describe(partial(nothing, array(2, 3), np.zeros(4, np.int64)))
    assert [tuple(x) for x in (*inputs, *outputs)] == [((2, 3), "float32", 24), ((4,), "int64", 32)]


@pytest.mark.parametrize("kind", ["NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice"])
def test_operators_have_numbers_times_and_arrays(kind: str) -> None:
    with use_engine(kind), recording():
        x = mx.nd.ones((4, 5))
        y = mx.nd.dot(x, mx.nd.ones((5, 2)))
        y += 1
        y.copyto(mx.cpu(1))
        y[0] = 3
        found = {job.name: job for job in recorder.jobs()} if y.asnumpy() is not None else {}
    dot = found["dot"]
    assert [x.shape for x in (*dot.inputs, *dot.outputs)] == [(4, 5), (5, 2), (4, 2)]
    assert dot.lane == LANE
    assert dot.error == ""
    assert dot.steps is None
    assert found["_copyto"].lane == ("cpu", 1, "copy")
    assert found["_copyto"].outputs[0].nbytes == 32
    assert len({job.call for job in found.values()}) == len(found)
    for job in found.values():
        assert job.push_ns <= job.pushed_ns <= job.stop_ns
        assert job.push_ns <= job.start_ns <= job.stop_ns


def test_gradients_are_operators_with_arrays() -> None:
    x = mx.nd.ones((3, 4))
    x.attach_grad()
    with recording():
        with mx.autograd.record():
            y = mx.nd.FullyConnected(x, mx.nd.ones((2, 4)), no_bias=True, num_hidden=2)
        y.backward()
        (job,) = jobs("FullyConnected_backward")
    assert (3, 4) in [x.shape for x in job.outputs]
    assert (3, 2) in [x.shape for x in job.inputs]


def test_pushes_in_a_scope_tell_it() -> None:
    with recording():
        with scope("epoch"), scope("batch:"):
            mx.nd.relu(mx.nd.ones((2, 2)))
        (job,) = jobs("relu")
    assert job.scope == "epoch:batch:"


def test_an_operator_that_pushes_is_the_pusher() -> None:
    with use_engine("ThreadedEnginePerDevice") as engine, recording():
        inner = partial(engine.push, nothing, (), (), ("cpu", 0, "copy"), name="inner")
        engine.push(inner, (), (), LANE, name="outer")
        (outer,), (found,) = jobs("outer"), jobs("inner")
    assert found.pusher == outer.runner
    assert outer.runner.is_engine
    assert not outer.pusher.is_engine


def test_operands_that_are_told_win() -> None:
    with use_engine("NaiveEngine") as engine, recording():
        with declared_operands([array(1)], [array(2), array(3)]):
            engine.push(partial(nothing, array(9)), (), (), LANE, name="told")
        engine.push(partial(nothing, array(9)), (), (), LANE, name="untold")
        (told,), (untold,) = jobs("told"), jobs("untold")
    assert [x.shape for x in (*told.inputs, *told.outputs)] == [(1,), (2,), (3,)]
    assert [x.shape for x in untold.outputs] == [(9,)]


def test_running_job_is_that_of_the_thread() -> None:
    seen: list[Any] = []
    with use_engine("ThreadedEnginePerDevice") as engine, recording():
        engine.push(lambda: seen.append(running_job()), (), (), LANE, name="here")
        engine.wait_all()
        assert running_job() is None
    assert seen[0].name == "here"


def test_nothing_is_observed_while_it_pauses_or_stops() -> None:
    engine = current_engine()
    with recording():
        assert engine.on_push is not None
        pause()
        engine.push(nothing, (), (), LANE, name="paused")
        resume()
        engine.push(nothing, (), (), LANE, name="resumed")
        assert not jobs("paused")
        assert len(jobs("resumed")) == 1
    assert engine.on_push is None


def test_calls_cost_what_they_did_before() -> None:
    x = mx.nd.ones((4, 4))
    _ = x + x  # which picks a kernel, once
    before = python_calls(lambda: x + x)
    with recording():
        assert len(python_calls(lambda: x + x)) > len(before)
    assert python_calls(lambda: x + x) == before


def test_operator_that_keeps_a_promise_is_recorded() -> None:
    with use_engine("ThreadedEnginePerDevice") as engine, recording():
        var = Var()
        promise = engine.promise(var)
        assert promise is not None
        engine.fulfill(promise, nothing, (), LANE, name="kept")
        engine.wait(var)
        assert len(jobs("kept")) == 1


def test_engines_made_later_are_observed() -> None:
    with recording(), use_engine("ThreadedEngine") as engine:
        engine.push(nothing, (), (), LANE, name="late")
        assert len(jobs("late")) == 1


def test_an_interrupt_is_recorded_and_goes_on() -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with use_engine("NaiveEngine") as engine, recording():
        with pytest.raises(KeyboardInterrupt):
            engine.push(stop, (), (Var(),), LANE, name="stopped")
        engine.push(nothing, (), (), LANE, name="after")
        (stopped,) = jobs("stopped")
        assert jobs("after")
    assert stopped.error == "KeyboardInterrupt: "


def test_threads_push_at_the_same_time_and_nothing_is_lost() -> None:
    with use_engine("ThreadedEnginePerDevice") as engine, recording():

        def work() -> None:
            for _ in range(200):
                engine.push(nothing, (), (), LANE, name="many")

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        found = jobs("many")
    assert len(found) == len({job.call for job in found}) == 800
    assert len({job.pusher for job in found}) == 4


def test_starting_and_stopping_while_threads_work_changes_no_result() -> None:
    stopped = threading.Event()
    sums: list[float] = []

    def work() -> None:
        while not stopped.is_set():
            x = mx.nd.ones((8, 8))
            for _ in range(20):
                x = x + 1
            sums.append(float(x.sum().asscalar()))

    with use_engine("ThreadedEnginePerDevice"):
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for _ in range(10):
            with recording():
                mx.nd.ones((2,)).wait_to_read()
        stopped.set()
        for thread in threads:
            thread.join(60)
    assert sums
    assert set(sums) == {64 * 21.0}
