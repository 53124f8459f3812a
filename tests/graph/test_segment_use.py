"""Each segment of an executable holds the arrays that its own steps touch, and no others."""

import threading
from collections.abc import Callable, Hashable
from functools import partial

import numpy as np
import pytest

from gluonish.core.context import cpu
from gluonish.core.device import device_of
from gluonish.core.errors import OperatorError
from gluonish.engine import use_engine
from gluonish.graph import execution_plan
from gluonish.graph.arenas import Arenas
from gluonish.graph.executable import Executable
from gluonish.graph.execution_plan import SegmentUse, plan_execution
from gluonish.graph.ir import Value, topological_order
from gluonish.kernels import teams
from gluonish.ndarray import NDArray, array
from gluonish.ndarray.ndarray import empty_like_spec
from tests.graph.builders import call, inputs

WAIT_S = 20.0


@pytest.fixture(autouse=True)
def work_for_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workers run the small graphs, as they do large ones."""
    monkeypatch.setattr(execution_plan, "is_light", lambda nodes: False)
    monkeypatch.setattr(teams, "claim", lambda **_: False)


def executable(externals: list[Value], outputs: list[Value]) -> Executable:
    """One step a segment."""
    device = device_of(cpu())
    plan = plan_execution(
        [node for node in topological_order(outputs) if node.op is not None],
        externals,
        outputs,
        device,
        segment_size=1,
    )
    arenas = Arenas(device, keep=True)
    return Executable(plan, device, arenas=arenas, name="net")


def run(made: Executable, outputs: list[Value], arrays: list[NDArray]) -> list[NDArray]:
    results = [empty_like_spec(value.spec, made.device) for value in outputs]
    made(arrays, results)
    return results


def chain() -> tuple[list[Value], list[Value]]:
    """Two inputs; three outputs, each of the one before; the second input comes in last."""
    a, b = inputs((2, 3), (2, 3))
    first = call("sqrt", a)
    second = call("exp", first)
    third = call("broadcast_mul", second, b)
    return [a, b], [first, second, third]


def test_arrays_are_held_by_the_segments_that_touch_them() -> None:
    externals, outputs = chain()
    assert executable(externals, outputs).plan.uses == [
        SegmentUse(reads=(0,), updates=(), reread=(), writes=(0,)),
        SegmentUse(reads=(), updates=(), reread=(0,), writes=(1,)),
        SegmentUse(reads=(1,), updates=(), reread=(1,), writes=(2,)),
    ]


def test_a_view_holds_what_it_shows() -> None:
    (a,) = inputs((2, 3))
    outputs = [call("exp", call("sqrt", call("reshape", a, shape=(6,))))]
    made = executable([a], outputs)
    assert [use.reads for use in made.plan.uses][:2] == [(0,), (0,)]
    assert [use.writes for use in made.plan.uses][-1] == (0,)


def test_an_output_given_twice_is_held_until_it_is_copied() -> None:
    (a,) = inputs((2, 3))
    first = call("sqrt", a)
    outputs = [first, call("exp", first), first]
    x = array(np.ones((2, 3)))
    made = executable([a], outputs)
    assert made.plan.uses[-1].writes == (1, 2)
    for result, expected in zip(run(made, outputs, [x]), (1, np.e, 1), strict=True):
        np.testing.assert_allclose(result.asnumpy(), np.full((2, 3), expected), rtol=1e-6)


def test_an_output_can_be_read_before_later_segments_run() -> None:
    externals, outputs = chain()
    with use_engine("ThreadedEnginePerDevice") as engine:
        made = executable(externals, outputs)
        arrays = [array(np.ones((2, 3))) for _ in externals]
        run(made, outputs, arrays)
        engine.wait_all()
        read = threading.Event()
        pushed: list[str] = []

        def hook(fn: Callable[[], None], lane: Hashable, name: str) -> Callable[[], None]:
            pushed.append(name)
            return partial(waited, fn) if pushed.count("net") == 3 else fn

        def waited(fn: Callable[[], None]) -> None:
            assert read.wait(WAIT_S)
            fn()

        engine.on_push = hook
        results = run(made, outputs, arrays)
        engine.on_push = None
        np.testing.assert_allclose(results[1].asnumpy(), np.full((2, 3), np.e), rtol=1e-6)
        read.set()
        results[2].wait_to_read()


def test_an_input_that_failed_fails_only_what_depends_on_it() -> None:
    def fail(out: object) -> None:
        raise ValueError("no room")

    externals, outputs = chain()
    with use_engine("ThreadedEnginePerDevice"):
        good, bad = array(np.ones((2, 3))), array(np.ones((2, 3)))
        bad._write(fail, name="failing")
        results = run(executable(externals, outputs), outputs, [good, bad])
        np.testing.assert_array_equal(results[0].asnumpy(), np.ones((2, 3)))
        with pytest.raises(OperatorError, match="no room"):
            results[2].wait_to_read()
        with pytest.raises(OperatorError, match="no room"):
            results[2].wait_to_read()  # what was never computed stays so
