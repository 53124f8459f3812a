from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluonish import autograd
from gluonish.core import config
from gluonish.core.config import (
    MXNET_BACKWARD_DO_MIRROR,
    MXNET_ELIMINATE_COMMON_EXPR,
    MXNET_SUBGRAPH_BACKEND,
    MXNET_USE_FUSION,
)
from gluonish.core.context import cpu
from gluonish.core.errors import AutogradError, DeviceError, GraphError, OperatorError
from gluonish.core.random_state import seed
from gluonish.engine import use_engine
from gluonish.graph import pipeline
from gluonish.graph.cached_graph import CachedGraph
from gluonish.graph.inference import specialize
from gluonish.graph.interpreter import evaluate
from gluonish.graph.ir import Value
from gluonish.ndarray import NDArray, array, ones, waitall, zeros
from tests.engine.places import interrupted_at
from tests.graph.builders import call, inputs
from tests.graph.random_graphs import RandomGraph, random_graphs

ENGINES = ("NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice")
TIMEOUT_S = 60


def _cached(variables: list[Value], outputs: list[Value], **options: object) -> CachedGraph:
    return CachedGraph([value.node for value in variables], outputs, name="net", **options)


def _heads(outputs: list[NDArray]) -> list[NDArray]:
    return [array(np.cos(np.arange(y.size)).reshape(y.shape)) for y in outputs]


def _eager(made: RandomGraph) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return outputs and gradients of the graph run operator by operator."""
    nodes = [value.node for value in made.variables]
    specs = [value.spec for value in made.variables]
    graph = specialize(nodes, made.outputs, specs, train=True)
    arrays = made.arrays()
    for x in arrays:
        x.attach_grad()
    seed(3)
    with autograd.record():
        outputs = evaluate(graph, arrays)
    linked = [(y, h) for y, h in zip(outputs, _heads(outputs), strict=True) if y._edge]
    if linked:
        autograd.backward([y for y, _ in linked], [h for _, h in linked])
    return [y.asnumpy() for y in outputs], [x.grad.asnumpy() for x in arrays]


def _planned(made: RandomGraph, cached: CachedGraph) -> tuple[list[np.ndarray], list[np.ndarray]]:
    arrays = made.arrays()
    for x in arrays:
        x.attach_grad()
    seed(3)
    with autograd.record():
        outputs = cached(arrays)
    autograd.backward(outputs, _heads(outputs))
    return [y.asnumpy() for y in outputs], [x.grad.asnumpy() for x in arrays]


def _assert_close(got: list[np.ndarray], want: list[np.ndarray]) -> None:
    # A sum whose terms cancel keeps the rounding errors of the terms.
    largest = max(float(np.abs(y[np.isfinite(y)]).max(initial=1)) for y in want)
    for x, y in zip(got, want, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5 * largest)


@given(random_graphs(), st.booleans(), st.sampled_from([None, 1, 3]), st.sampled_from(ENGINES))
def test_random_graphs_give_what_they_give_eagerly_with_gradients(
    made: RandomGraph, static_alloc: bool, bulk_size: int | None, engine: str
) -> None:
    want, want_gradients = _eager(made)
    cached = _cached(
        made.variables,
        made.outputs,
        static_alloc=static_alloc,
        forward_bulk_size=bulk_size,
        backward_bulk_size=bulk_size,
    )
    with use_engine(engine):
        for _ in range(2):
            got, gradients = _planned(made, cached)
            _assert_close([*got, *gradients], [*want, *want_gradients])


_SWITCHES = (
    MXNET_ELIMINATE_COMMON_EXPR.override(False),
    MXNET_SUBGRAPH_BACKEND.override("NONE"),
    MXNET_USE_FUSION.override(False),
    MXNET_BACKWARD_DO_MIRROR.override(True),
)


@given(random_graphs(), st.sets(st.sampled_from(range(len(_SWITCHES)))))
def test_whichever_passes_are_on_the_results_are_the_same(
    made: RandomGraph, switched: set[int]
) -> None:
    want, want_gradients = _planned(made, _cached(made.variables, made.outputs))
    with ExitStack() as scopes:
        for i in switched:
            scopes.enter_context(_SWITCHES[i])
        got, gradients = _planned(made, _cached(made.variables, made.outputs))
    _assert_close([*got, *gradients], [*want, *want_gradients])


@given(random_graphs())
def test_without_passes_the_results_are_exactly_those_of_the_operators(made: RandomGraph) -> None:
    want, _ = _eager(made)
    with pytest.MonkeyPatch.context() as patch, ExitStack() as scopes:
        patch.setattr(pipeline, "PASSES", ())
        for scope in _SWITCHES[:3]:
            scopes.enter_context(scope)
        got, _ = _planned(made, _cached(made.variables, made.outputs))
    for x, y in zip(got, want, strict=True):
        np.testing.assert_array_equal(x, y)


def _square() -> CachedGraph:
    (a,) = inputs((2,))
    return _cached([a], [call("square", call("sin", a))], static_alloc=True)


def test_two_recorded_forwards_before_their_backwards_keep_apart() -> None:
    cached = _square()
    xs = [array([float(i), 1.0]) for i in range(4)]
    for x in xs:
        x.attach_grad()
    with autograd.record():
        ys = [cached([x])[0] for x in xs]
    for y in reversed(ys):
        autograd.backward(y)
    for x in xs:
        np.testing.assert_allclose(x.grad.asnumpy(), np.sin(2 * x.asnumpy()), rtol=1e-5)


def test_kept_memory_is_taken_up_again_after_the_backward_pass() -> None:
    cached = _square()
    x = ones((2,))
    x.attach_grad()
    for _ in range(3):
        with autograd.record():
            (y,) = cached([x])
        autograd.backward(y)
    assert cached._program is not None
    assert cached._program.work.states.idle_count == 1


def test_interrupt_finds_no_place_where_a_recorded_call_is_dropped() -> None:
    cached = _square()
    x = ones((2,))
    x.attach_grad()
    with autograd.record():
        ys = cached([x])
    waitall()
    assert not interrupted_at(0, ys.clear, ("gluonish",))
    assert not ys
    assert cached._program is not None
    assert cached._program.work.states.idle_count == 1


def test_a_second_backward_needs_retain_graph() -> None:
    cached = _square()
    x = ones((2,))
    x.attach_grad()
    with autograd.record():
        (y,) = cached([x])
    autograd.backward(y, retain_graph=True)
    first = x.grad.asnumpy()
    autograd.backward(y)
    np.testing.assert_array_equal(x.grad.asnumpy(), first)
    with pytest.raises(AutogradError, match="retain_graph=True"):
        autograd.backward(y)


def test_gradients_add_where_the_leaf_says_so() -> None:
    cached = _square()
    x = ones((2,))
    x.attach_grad("add")
    for _ in range(3):
        with autograd.record():
            (y,) = cached([x])
        autograd.backward(y)
    np.testing.assert_allclose(x.grad.asnumpy(), 3 * np.sin(2 * np.ones(2)), rtol=1e-5)


def test_an_output_without_a_head_counts_as_zero() -> None:
    (a,) = inputs((2,))
    cached = _cached([a], [call("sin", a), call("square", a)])
    x = array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        _, y = cached([x])
    autograd.backward(y)
    assert x.grad.asnumpy().tolist() == [2, 4]


def test_second_order_gradients_are_those_of_the_formula() -> None:
    (a,) = inputs((3,))
    cached = _cached([a], [call("sin", a) * a])
    x = array([0.5, 1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        (y,) = cached([x])
        (g,) = autograd.grad(y, [x], create_graph=True)
        z = (g * g).sum()
    autograd.backward(z)
    v = x.asnumpy().astype(np.float64)
    first = np.cos(v) * v + np.sin(v)
    second = -np.sin(v) * v + 2 * np.cos(v)
    np.testing.assert_allclose(x.grad.asnumpy(), 2 * first * second, rtol=1e-5)


def test_the_graph_connects_to_what_comes_before_and_after() -> None:
    cached = _square()
    x = array([0.5, 1.0])
    x.attach_grad()
    with autograd.record():
        (y,) = cached([x * 2.0])
        z = y * 3.0
    autograd.backward(z)
    want = 2 * 3 * np.sin(4 * x.asnumpy())
    np.testing.assert_allclose(x.grad.asnumpy(), want, rtol=1e-5)


def test_a_call_that_wants_no_gradient_is_not_recorded() -> None:
    cached = _square()
    with autograd.record():
        (y,) = cached([ones((2,))])
    assert y._edge is None


def test_the_mode_decides_what_dropout_does() -> None:
    (a,) = inputs((200,))
    cached = _cached([a], [call("Dropout", a)])
    assert (cached([ones((200,))])[0].asnumpy() == 1).all()
    with autograd.train_mode():
        assert (cached([ones((200,))])[0].asnumpy() == 0).any()
    with autograd.record(train_mode=False):
        assert (cached([ones((200,))])[0].asnumpy() == 1).all()


@pytest.mark.parametrize("packs", [True, False])
def test_copies_of_weights_are_kept_only_where_they_may_be(packs: bool) -> None:
    x, weight = inputs((64, 784), (256, 784))
    y = call("FullyConnected", x, weight, num_hidden=256, no_bias=True)
    cached = _cached([x, weight], [y], data_count=1, static_alloc=True, packs_weights=packs)
    random = np.random.default_rng(0)
    arrays = [array(random.random(shape), ctx=cpu()) for shape in ((64, 784), (256, 784))]
    (found,) = cached(arrays)
    expected = arrays[0].asnumpy() @ arrays[1].asnumpy().T
    np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-5)
    (plan,) = cached._plans.values()
    (step,) = plan.forward.layout.instructions
    assert step.attrs.get("packed", False) is packs


def test_only_the_first_shapes_have_copies_of_weights_and_a_shape_gives_equal_bits_again() -> None:
    x, weight = inputs((64, 128), (256, 128))
    y = call("FullyConnected", x, weight, num_hidden=256, no_bias=True)
    cached = _cached([x, weight], [y], data_count=1)
    random = np.random.default_rng(0)
    values = array(random.random((256, 128)), ctx=cpu())
    data = array(random.random((200, 128)), ctx=cpu())

    def results(most: int) -> list[bytes]:
        return [cached([data[:n], values])[0].asnumpy().tobytes() for n in range(20, most)]

    first = results(30)
    steps = [plan.forward.layout.instructions[0] for plan in cached._plans.values()]
    assert [step.attrs.get("packed", False) for step in steps].count(True) == 4
    assert len(steps) == 10
    assert results(100)[:10] == first
    assert results(30) == first  # of plans that were dropped


def test_new_shapes_make_new_plans_and_their_number_is_bounded() -> None:
    (a,) = inputs((2,))
    cached = _cached([a], [call("sin", a)])
    for n in range(1, 201):
        assert cached([ones((n,))])[0].shape == (n,)
    assert len(cached._plans) <= 64
    assert cached([ones((1,))])[0].shape == (1,)


def test_a_signature_that_was_seen_is_not_planned_again() -> None:
    (a,) = inputs((2,))
    cached = _cached([a], [call("sin", a)])
    for _ in range(3):
        cached([ones((2,))])
        cached([ones((3,))])
        with autograd.record():
            cached([ones((2,))])
    assert len(cached._plans) == 3


def test_arrays_on_several_devices_are_refused_at_every_call() -> None:
    a, b = inputs((2,), (2,))
    cached = _cached([a, b], [a + b])
    cached([ones((2,)), ones((2,))])
    with pytest.raises(DeviceError, match=r"net: expected all arrays on cpu\(0\), got b on cpu"):
        cached([ones((2,)), ones((2,), ctx=cpu(1))])


def test_the_number_of_inputs_is_checked() -> None:
    with pytest.raises(GraphError, match="net: expected 1 inputs, got 2"):
        _square()([ones((2,)), ones((2,))])


def test_a_wrong_shape_names_the_node() -> None:
    a, b = inputs((2, 3), (4, 3))
    y = call("FullyConnected", a, b, num_hidden=4, no_bias=True)
    cached = _cached([a, b], [y])
    with pytest.raises(OperatorError, match=r"^fullyconnected: .*data with 3 features, got 5"):
        cached([ones((2, 5)), ones((4, 3))])


@pytest.mark.parametrize("static_alloc", [True, False])
def test_eight_threads_get_what_one_gets(static_alloc: bool) -> None:
    (a,) = inputs((4,))
    cached = _cached([a], [call("sin", call("softmax", a * 2.0))], static_alloc=static_alloc)

    def run(i: int) -> bytes:
        x = array([float(i), 1.0, 0.0, 0.0])
        x.attach_grad()
        with autograd.record():
            (y,) = cached([x])
        autograd.backward(y)
        return y.asnumpy().tobytes() + x.grad.asnumpy().tobytes()

    wanted = [run(i) for i in range(40)]
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(run, range(40), timeout=TIMEOUT_S))
    assert got == wanted


def _sizes(**overrides: object) -> tuple[tuple[int, int], tuple[int, int]]:
    cached = _square()
    flags = [getattr(config, name).override(value) for name, value in overrides.items()]
    for flag in flags:
        flag.__enter__()
    try:
        return cached.segment_sizes(train=True), cached.segment_sizes(train=False)
    finally:
        for flag in reversed(flags):
            flag.__exit__(None, None, None)


def test_segment_sizes_follow_the_environment() -> None:
    train, predict = _sizes()
    assert train == (15, 15)
    assert predict[0] > 1000
    assert _sizes(MXNET_EXEC_BULK_EXEC_TRAIN=False)[0] == (1, 1)
    assert _sizes(MXNET_EXEC_BULK_EXEC_INFERENCE=False)[1][0] == 1
    assert _sizes(MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN=4)[0] == (4, 4)
    assert _sizes(MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD=2)[0] == (2, 15)
    assert _sizes(MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD=0)[0] == (15, 1)


def test_bulk_sizes_of_the_block_win_over_the_environment() -> None:
    (a,) = inputs((2,))
    cached = _cached([a], [call("sin", a)], forward_bulk_size=3, backward_bulk_size=5)
    with config.MXNET_EXEC_BULK_EXEC_TRAIN.override(False):
        assert cached.segment_sizes(train=True) == (3, 5)


def test_moving_statistics_move_once_a_training_call() -> None:
    x, *rest = inputs((4, 1), (1,), (1,), (1,), (1,))
    y = call("BatchNorm", x, *rest, momentum=0.5, fix_gamma=False)
    cached = _cached([x, *rest], [y], static_alloc=True)
    arrays = [array([[0], [2], [4], [6]]), ones((1,)), zeros((1,)), zeros((1,)), ones((1,))]
    arrays[0].attach_grad()
    for expected in (1.5, 2.25, 2.625):
        with autograd.record():
            (y1,) = cached(arrays)
        autograd.backward(y1)
        waitall()
        assert arrays[3].asnumpy().tolist() == [expected]
    cached(arrays)
    assert arrays[3].asnumpy().tolist() == [2.625]


def test_plan_on_a_cpu_does_not_load_the_libraries_of_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    def count() -> int:
        raise AssertionError("loads CuPy")

    monkeypatch.setattr("gluonish.graph.cached_graph.gpu_count", count)
    assert _square().segment_sizes(train=True) == (15, 15)
