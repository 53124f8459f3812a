"""A last backward pass computes where the kept values were; the gradients are the same."""

import gc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluonish import autograd
from gluonish.core.config import (
    MXNET_BACKWARD_DO_MIRROR,
    MXNET_EXEC_ENABLE_INPLACE,
    NNVM_EXEC_MATCH_RANGE,
)
from gluonish.core.errors import AutogradError, OperatorError
from gluonish.core.random_state import seed
from gluonish.core.spec import Spec
from gluonish.engine import use_engine
from gluonish.graph.cached_graph import CachedGraph
from gluonish.graph.call_plan import CallPlan
from gluonish.graph.inference import specialize
from gluonish.graph.interpreter import evaluate
from gluonish.graph.ir import Node, Value
from gluonish.ndarray import NDArray, array, ones
from gluonish.ops.registry import Operator
from tests.graph.builders import call, inputs
from tests.graph.random_graphs import RandomGraph, random_graphs

ENGINES = ("NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice")
TIMEOUT_S = 60

Arrays = list[np.ndarray]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    with use_engine(request.param):
        yield request.param


def _cached(variables: list[Value], outputs: list[Value], **options: object) -> CachedGraph:
    options.setdefault("static_alloc", True)
    return CachedGraph([value.node for value in variables], outputs, name="net", **options)


def _plan(cached: CachedGraph) -> CallPlan:
    assert cached._program is not None
    return cached._program.work


def _heads(outputs: list[NDArray]) -> list[NDArray]:
    return [array(np.cos(np.arange(y.size)).reshape(y.shape)) for y in outputs]


def _eager(made: RandomGraph) -> Arrays:
    """Return the gradients of the graph run operator by operator, on the naive engine."""
    specs = [value.spec for value in made.variables]
    graph = specialize([value.node for value in made.variables], made.outputs, specs, train=True)
    arrays = made.arrays()
    for x in arrays:
        x.attach_grad()
    with use_engine("NaiveEngine"):
        seed(3)
        with autograd.record():
            outputs = evaluate(graph, arrays)
        linked = [(y, h) for y, h in zip(outputs, _heads(outputs), strict=True) if y._edge]
        if linked:
            autograd.backward([y for y, _ in linked], [h for _, h in linked])
    return [x.grad.asnumpy() for x in arrays]


def _recorded(
    cached: CachedGraph, made: RandomGraph, req: str = "write"
) -> tuple[list[NDArray], list[NDArray]]:
    arrays = made.arrays()
    for x in arrays:
        x.attach_grad(req)
    seed(3)
    with autograd.record():
        return arrays, cached(arrays)


def _assert_gradients(arrays: list[NDArray], want: Arrays) -> None:
    for x, gradient in zip(arrays, want, strict=True):
        np.testing.assert_allclose(x.grad.asnumpy(), gradient, rtol=1e-4, atol=1e-5)


@given(
    random_graphs(),
    st.booleans(),
    st.sampled_from([None, 1, 3]),
    st.sampled_from(ENGINES),
    st.sampled_from([0, 1, 16]),
    st.booleans(),
    st.booleans(),
)
def test_random_graphs_have_the_gradients_of_the_naive_interpreter(
    made: RandomGraph,
    static_alloc: bool,
    bulk_size: int | None,
    engine: str,
    match_range: int,
    in_place: bool,
    mirror: bool,
) -> None:
    want = _eager(made)
    cached = _cached(
        made.variables,
        made.outputs,
        static_alloc=static_alloc,
        forward_bulk_size=bulk_size,
        backward_bulk_size=bulk_size,
    )
    with (
        use_engine(engine),
        NNVM_EXEC_MATCH_RANGE.override(match_range),
        MXNET_EXEC_ENABLE_INPLACE.override(in_place),
        MXNET_BACKWARD_DO_MIRROR.override(mirror),
    ):
        # Several states at once; the first is walked back three times.
        first, outputs = _recorded(cached, made)
        second, others = _recorded(cached, made)
        for retain in (True, True, False):
            for x in first:
                x.grad[:] = 7
            autograd.backward(outputs, _heads(outputs), retain_graph=retain)
            _assert_gradients(first, want)
        autograd.backward(others, _heads(others))
        _assert_gradients(second, want)
        third, outputs = _recorded(cached, made)
        autograd.backward(outputs, _heads(outputs))
        _assert_gradients(third, want)


@given(random_graphs(), st.sampled_from(ENGINES))
def test_gradients_add_up_over_calls_that_live_at_once(made: RandomGraph, engine: str) -> None:
    want = _eager(made)
    cached = _cached(made.variables, made.outputs)
    arrays = made.arrays()
    for x in arrays:
        x.attach_grad("add")
    with use_engine(engine):
        called = []
        for _ in range(3):
            seed(3)
            with autograd.record():
                called.append(cached(arrays))
        for outputs in called:
            autograd.backward(outputs, _heads(outputs))
        for x, gradient in zip(arrays, want, strict=True):
            np.testing.assert_allclose(x.grad.asnumpy(), 3 * gradient, rtol=3e-4, atol=3e-5)


def _deep(depth: int, rows: int = 32) -> tuple[list[Value], Value]:
    """Return a chain whose backward pass reads a value of each layer."""
    (a,) = inputs((rows, 64))
    y = a
    for _ in range(depth):
        y = call("softmax", y, axis=-1)
    return [a], y


def test_the_planned_peak_is_less_than_what_is_kept_and_computed_back() -> None:
    """As in most networks, the first layers are the widest, and their gradients come last."""
    widths = (256, 224, 192, 160, 128, 96, 64, 32)
    variables = inputs((32, 256), *zip(widths[1:], widths, strict=False))
    y = variables[0]
    for width, weight in zip(widths[1:], variables[1:], strict=True):
        y = call("softmax", y, axis=-1)
        y = call("FullyConnected", y, weight, num_hidden=width, no_bias=True)
    cached = _cached(variables, [y])
    arrays = [ones(value.shape) for value in variables]
    for x in arrays:
        x.attach_grad()
    with autograd.record():
        cached(arrays)
    plan = _plan(cached)
    assert plan.backward is not None
    kept = sum(value.spec.nbytes for value in plan.partition.saved)
    apart = plan.retaining().layout.arena_nbytes
    arena = max(plan.forward.layout.arena_nbytes, plan.backward.layout.arena_nbytes)
    assert plan.states.nbytes == kept
    assert apart >= arrays[0].size * 4
    assert arena <= apart / 2


def test_a_match_range_of_0_keeps_the_state_for_what_is_kept() -> None:
    variables, y = _deep(4)
    cached = _cached(variables, [y])
    x = ones((32, 64))
    x.attach_grad()
    with NNVM_EXEC_MATCH_RANGE.override(0), autograd.record():
        cached([x])
        plan = _plan(cached)
        apart = plan.retaining().layout.arena_nbytes
    assert plan.backward is not None
    assert plan.backward.layout.arena_nbytes == apart > 0


def test_a_plan_that_keeps_the_graph_is_made_when_it_is_asked_for() -> None:
    variables, y = _deep(3)
    cached = _cached(variables, [y])
    x = ones((32, 64))
    x.attach_grad()
    for retain in (False, True):
        with autograd.record():
            outputs = cached([x])
        assert _plan(cached)._retaining is None
        autograd.backward(outputs, retain_graph=retain)
    made = _plan(cached)._retaining
    assert made is not None
    autograd.backward(outputs, retain_graph=True)
    assert _plan(cached)._retaining is made


@pytest.mark.parametrize("retain", [False, True])
def test_later_calls_allocate_nothing_and_bind_nothing(
    retain: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    variables, y = _deep(3)
    cached = _cached(variables, [y])
    x = ones((32, 64))
    x.attach_grad()

    def step() -> None:
        with autograd.record():
            outputs = cached([x])
        autograd.backward(outputs, retain_graph=retain)
        x.grad.wait_to_read()

    with use_engine("NaiveEngine"):
        for _ in range(3):
            step()
            gc.collect()
        plan = _plan(cached)
        bound = []
        for executable in (plan.forward, plan.retaining() if retain else plan.backward):
            assert executable is not None
            monkeypatch.setattr(executable.static, "views", lambda *a: bound.append(a))
        monkeypatch.setattr("gluonish.graph.state.aligned_empty", lambda *a: bound.append(a))
        monkeypatch.setattr("gluonish.graph.arenas.aligned_empty", lambda *a: bound.append(a))
        step()
    assert bound == []


def _fragile(raise_it: list[bool]) -> Operator:
    """Return an operator whose gradient fails when told to."""

    def copy(xp: object, out: np.ndarray, data: np.ndarray) -> None:
        out[...] = data

    def failing(xp: object, out: np.ndarray, data: np.ndarray) -> None:
        if raise_it[0]:
            raise ValueError("bang")
        out[...] = data

    def infer(data: Spec) -> tuple[Spec]:
        return (data,)

    back = Operator("boom", infer, failing, None, doc="Fails when told to.")

    def gradient(g: Value, data: Value) -> tuple[Value]:
        return (Value(Node(back, "net_boom", (g,), {}, (g.spec,))),)

    return Operator("fragile", infer, copy, gradient, doc="Its gradient fails when told to.")


@pytest.mark.parametrize("bulk_size", [1, 2, 50])
@pytest.mark.parametrize("position", [0, 2, 4])
def test_a_backward_pass_that_fails_frees_its_node_and_then_all_works(
    engine: str, bulk_size: int, position: int
) -> None:
    raise_it = [False]
    op = _fragile(raise_it)
    (a,) = inputs((32, 64))
    y = a
    for i in range(5):
        y = call("softmax", y, axis=-1)
        if i == position:
            y = Value(Node(op, "fragile", (y,), {}, (y.spec,)))
    cached = _cached([a], [y], forward_bulk_size=bulk_size, backward_bulk_size=bulk_size)
    x = array(np.random.default_rng(0).standard_normal((32, 64)))
    x.attach_grad()

    def forward() -> NDArray:
        with autograd.record():
            return cached([x])[0]

    def backward(y: NDArray, *, retain: bool = False) -> np.ndarray:
        autograd.backward(y, _heads([y])[0], retain_graph=retain)
        return x.grad.asnumpy()

    want = backward(forward())
    kept, spent = forward(), forward()
    raise_it[0] = True
    for y in (kept, spent):  # type: ignore[assignment]
        with pytest.raises(OperatorError, match="net_boom: boom failed: bang"):
            backward(y, retain=y is kept)
    raise_it[0] = False
    with pytest.raises(AutogradError, match="an earlier backward freed"):
        backward(spent)
    np.testing.assert_array_equal(backward(kept), want)
    for _ in range(3):
        np.testing.assert_array_equal(backward(forward()), want)


def test_a_node_that_a_failed_walk_did_not_reach_keeps_its_graph(engine: str) -> None:
    variables, y = _deep(3)
    cached = _cached(variables, [y])
    x = array(np.random.default_rng(0).standard_normal((32, 64)))
    x.attach_grad()

    def gradient(y: NDArray, *, retain: bool) -> np.ndarray:
        autograd.backward(y, _heads([y])[0], retain_graph=retain)
        return x.grad.asnumpy()

    with autograd.record():
        (first,) = cached([x])
        (second,) = cached([first])
        (alone,) = cached([x])
    want = gradient(alone, retain=False)
    second._edge[0].free()  # type: ignore[index]
    with pytest.raises(AutogradError, match="an earlier backward freed"):
        autograd.backward(second)
    for retain in (True, False):
        np.testing.assert_array_equal(gradient(first, retain=retain), want)


def test_a_forward_pass_that_failed_leaves_a_state_that_works(engine: str) -> None:
    raise_it = [True]

    def failing(xp: object, out: np.ndarray, data: np.ndarray) -> None:
        if raise_it[0]:
            raise ValueError("bang")
        out[...] = data

    op = Operator("boom", lambda x: (x,), failing, lambda g, x: (g,), doc="Fails when told to.")
    (a,) = inputs((32, 64))
    y = call("softmax", a, axis=-1)
    y = Value(Node(op, "net_boom", (y,), {}, (y.spec,)))
    y = call("softmax", y, axis=-1)
    cached = _cached([a], [call("softmax", y, axis=-1)])
    x = array(np.random.default_rng(0).standard_normal((32, 64)))
    x.attach_grad()

    def step() -> np.ndarray:
        with autograd.record():
            (y,) = cached([x])
        autograd.backward(y, _heads([y])[0])
        return x.grad.asnumpy()

    with pytest.raises(OperatorError, match="net_boom"):
        step()
    raise_it[0] = False
    first = step()
    assert np.isfinite(first).all()
    np.testing.assert_array_equal(step(), first)


@pytest.mark.parametrize("static_alloc", [True, False])
@pytest.mark.parametrize("name", ENGINES[1:])
def test_threads_with_several_states_each_get_what_one_gets(static_alloc: bool, name: str) -> None:
    variables, y = _deep(5)
    cached = _cached(variables, [y], static_alloc=static_alloc)

    def run(i: int) -> bytes:
        xs = [array(np.random.default_rng(2 * i + j).standard_normal((32, 64))) for j in (0, 1)]
        for x in xs:
            x.attach_grad()
        with autograd.record():
            ys = [cached([x])[0] for x in xs]
        if i % 3 == 0:
            autograd.backward(ys[1], _heads(ys)[0], retain_graph=True)
        for y in ys:
            autograd.backward(y, _heads(ys)[0])
        return b"".join(x.grad.asnumpy().tobytes() for x in xs)

    with use_engine(name):
        wanted = [run(i) for i in range(24)]
        for count in (2, 8):
            with ThreadPoolExecutor(count) as pool:
                assert list(pool.map(run, range(24), timeout=TIMEOUT_S)) == wanted


def test_a_gradient_that_is_a_kept_value_is_delivered() -> None:
    a, b = inputs((4, 8), (4, 8))
    y = call("softmax", a, axis=-1)
    cached = _cached([a, b], [call("sin", y * b)])
    x, w = array(np.random.default_rng(0).standard_normal((4, 8))), ones((4, 8))
    for z in (x, w):
        z.attach_grad()
    for retain in (False, True, False):
        with autograd.record():
            outputs = cached([x, w])
        autograd.backward(outputs, retain_graph=retain)
        soft = np.exp(x.asnumpy()) / np.exp(x.asnumpy()).sum(-1, keepdims=True)
        np.testing.assert_allclose(w.grad.asnumpy(), np.cos(soft) * soft, rtol=1e-5)
