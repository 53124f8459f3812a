from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluonish.core.config import MXNET_EXEC_ENABLE_INPLACE, NNVM_EXEC_MATCH_RANGE
from gluonish.core.context import cpu
from gluonish.core.device import device_of
from gluonish.core.errors import OperatorError
from gluonish.core.random_state import seed
from gluonish.core.spec import Spec
from gluonish.engine import use_engine
from gluonish.graph.arenas import Arenas
from gluonish.graph.executable import Executable
from gluonish.graph.execution_plan import plan_execution
from gluonish.graph.inference import specialize
from gluonish.graph.interpreter import evaluate
from gluonish.graph.ir import Node, Value, append, constant, topological_order, variable
from gluonish.ndarray import NDArray, array, ones
from gluonish.ndarray.ndarray import empty_like_spec, from_host
from gluonish.ops.registry import Operator, find_operator
from tests.graph.builders import call, inputs, spec
from tests.graph.random_graphs import RandomGraph, random_graphs
from tests.ops.cases import CASES

ENGINES = ("NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice")


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    with use_engine(request.param):
        yield request.param


def _executable(
    externals: list[Value],
    outputs: list[Value],
    *,
    static_alloc: bool = True,
    segment_size: int = 100,
    device_id: int = 0,
) -> Executable:
    nodes = [node for node in topological_order(outputs) if node.op is not None]
    device = device_of(cpu(device_id))
    plan = plan_execution(
        nodes,
        externals,
        outputs,
        device,
        segment_size=segment_size,
    )
    arenas = Arenas(device, keep=static_alloc)
    return Executable(plan, device, arenas=arenas, name="net")


def _run(executable: Executable, outputs: list[Value], arrays: list[NDArray]) -> list[NDArray]:
    results = [empty_like_spec(value.spec, executable.device) for value in outputs]
    executable(arrays, results)
    return results


@given(
    random_graphs(),
    st.booleans(),
    st.sampled_from([1, 2, 3, 100]),
    st.sampled_from([0, 16]),
    st.booleans(),
)
def test_random_graphs_give_exactly_what_the_interpreter_gives(
    made: RandomGraph, static_alloc: bool, segment_size: int, match_range: int, in_place: bool
) -> None:
    graph = specialize(
        [value.node for value in made.variables],
        made.outputs,
        [value.spec for value in made.variables],
        train=True,
    )
    externals = [Value(node) for node in graph.inputs]
    with NNVM_EXEC_MATCH_RANGE.override(match_range), MXNET_EXEC_ENABLE_INPLACE.override(in_place):
        executable = _executable(
            externals,
            list(graph.outputs),
            static_alloc=static_alloc,
            segment_size=segment_size,
        )
    for name in ENGINES:
        with use_engine(name):
            seed(7)
            eager, planned = made.arrays(), made.arrays()
            wanted = [y.asnumpy() for y in evaluate(graph, eager)]
            seed(7)
            first = _run(executable, list(graph.outputs), planned)
            second = _run(executable, list(graph.outputs), made.arrays())
            for got, want in zip(first, wanted, strict=True):
                np.testing.assert_array_equal(got.asnumpy(), want)
            for x, y in zip(eager, planned, strict=True):  # moving statistics
                np.testing.assert_array_equal(x.asnumpy(), y.asnumpy())
            assert len(second) == len(first)


@pytest.mark.parametrize("name", sorted(CASES))
def test_every_operator_gives_in_a_plan_what_it_gives_eagerly(name: str) -> None:
    case = CASES[name]
    op = find_operator(name)
    given = dict(case.attrs)
    if op.variadic is not None:
        given.setdefault(op.variadic, len(case.inputs))
    attrs = op.schema.parse(name, given)
    arrays = [from_host(np.asarray(x), None, None) for x in case.inputs]
    variables = [variable(f"x{i}", x._spec) for i, x in enumerate(arrays)]
    found = append(op, variables, attrs)
    outputs = found if isinstance(found, list) else [found]
    graph = specialize(
        [value.node for value in variables], outputs, [x._spec for x in arrays], train=True
    )
    seed(9)
    want = evaluate(graph, [x.copy() for x in arrays])
    executable = _executable([Value(node) for node in graph.inputs], list(graph.outputs))
    seed(9)
    got = _run(executable, list(graph.outputs), arrays)
    for x, y in zip(got, want, strict=True):
        np.testing.assert_array_equal(x.asnumpy(), y.asnumpy())


def test_kept_memory_holds_no_array_of_a_call() -> None:
    (a,) = inputs((6,))
    y = call("sin", call("Reshape", a, shape=(2, 3)))
    executable = _executable([a], [y])
    _run(executable, [y], [ones((6,))])[0].wait_to_read()
    (tail,) = executable._arenas.acquire().static_views.values()
    assert tail == [None]


@pytest.mark.parametrize("segment_size", [1, 2, 50])
def test_results_of_earlier_calls_never_change(engine: str, segment_size: int) -> None:
    (a,) = inputs((4,))
    y = call("sin", call("softmax", a * 2.0))
    executable = _executable([a], [y], segment_size=segment_size)
    results = [_run(executable, [y], [array([i, 0, 0, 0])])[0] for i in range(20)]
    copies = [x.asnumpy() for x in results]
    _run(executable, [y], [ones((4,))])[0].wait_to_read()
    for x, copy in zip(results, copies, strict=True):
        np.testing.assert_array_equal(x.asnumpy(), copy)
    assert len({copy.tobytes() for copy in copies}) == 20


def test_an_input_written_after_the_call_does_not_reach_it(engine: str) -> None:
    (a,) = inputs((1000, 100))
    y = a
    for _ in range(6):
        y = call("sin", y)
    executable = _executable([a], [y], segment_size=2)
    x = ones((1000, 100))
    (result,) = _run(executable, [y], [x])
    x[:] = 0
    want = np.ones(1, np.float32)
    for _ in range(6):
        want = np.sin(want)
    np.testing.assert_allclose(result.asnumpy(), np.full((1000, 100), want), rtol=1e-6)


def _boom(raise_it: list[bool]) -> Operator:
    def kernel(xp: object, out: np.ndarray, data: np.ndarray) -> None:
        if raise_it[0]:
            raise ValueError("bang")
        out[...] = data

    def infer(data: Spec) -> tuple[Spec]:
        return (data,)

    return Operator("boom", infer, kernel, None, doc="Fails when told to.")


@pytest.mark.parametrize("segment_size", [1, 2, 50])
@pytest.mark.parametrize("position", [0, 2, 4])
def test_an_error_reaches_the_waiter_with_node_and_operator_and_then_all_works(
    engine: str, segment_size: int, position: int
) -> None:
    (a,) = inputs((4,))
    raise_it = [True]
    y = a
    for i in range(5):
        if i == position:
            y = Value(Node(_boom(raise_it), "net_boom", (y,), {}, (spec(4),)))
        else:
            y = call("sin", y)
    executable = _executable([a], [y], segment_size=segment_size)
    (failed,) = _run(executable, [y], [ones((4,))])
    with pytest.raises(OperatorError, match="net_boom: boom failed: bang") as caught:
        failed.wait_to_read()
    assert isinstance(caught.value.__cause__, OperatorError)
    assert isinstance(caught.value.__cause__.__cause__, ValueError)
    raise_it[0] = False
    (fine,) = _run(executable, [y], [ones((4,))])
    want = np.ones(4, np.float32)
    for _ in range(4):
        want = np.sin(want)
    np.testing.assert_allclose(fine.asnumpy(), want, rtol=1e-6)


def test_an_operator_that_its_error_begins_with_is_said_once(engine: str) -> None:
    def kernel(xp: object, out: np.ndarray, data: np.ndarray) -> None:
        raise ValueError("picky: expected less")

    def infer(data: Spec) -> tuple[Spec]:
        return (data,)

    (a,) = inputs((4,))
    picky = Operator("picky", infer, kernel, None, doc="Fails always.")
    y = Value(Node(picky, "net_picky", (a,), {}, (spec(4),)))
    (failed,) = _run(_executable([a], [y]), [y], [ones((4,))])
    with pytest.raises(OperatorError, match="net_picky: picky failed: expected less"):
        failed.wait_to_read()


@pytest.mark.parametrize("segment_size", [1, 50])
def test_an_input_that_failed_fails_the_outputs(engine: str, segment_size: int) -> None:
    (a,) = inputs((4,))
    bad = call("_copy", a)
    bad = Value(Node(_boom([True]), "source", (bad,), {}, (spec(4),)))
    (x,) = _run(_executable([a], [bad]), [bad], [ones((4,))])
    y = call("sin", call("cos", a))
    (failed,) = _run(_executable([a], [y], segment_size=segment_size), [y], [x])
    with pytest.raises(OperatorError, match="source"):
        failed.asnumpy()


def test_constants_are_bound_on_the_device_of_the_plan() -> None:
    (a,) = inputs((2,))
    y = call("elemwise_add", a, constant(array([1, 2], ctx=cpu(0))))
    (result,) = _run(_executable([a], [y], device_id=1), [y], [ones((2,), ctx=cpu(1))])
    assert result.context == cpu(1)
    assert result.asnumpy().tolist() == [2, 3]


def test_outputs_may_be_inputs_constants_and_one_another() -> None:
    (a,) = inputs((2,))
    y = call("sin", a)
    held = constant(array([5, 6]))
    outputs = [a, y, y, held, a]
    results = _run(_executable([a], outputs), outputs, [array([0, 0])])
    assert [x.asnumpy().tolist() for x in results] == [[0, 0], [0, 0], [0, 0], [5, 6], [0, 0]]
    assert len({id(x.handle) for x in results}) == 5


def test_a_plan_without_steps_delivers_its_inputs() -> None:
    (a,) = inputs((2,))
    (result,) = _run(_executable([a], [a]), [a], [array([1, 2])])
    assert result.asnumpy().tolist() == [1, 2]


def test_each_call_draws_its_own_numbers() -> None:
    (a,) = inputs((100,))
    y = call("Dropout", a, train=True)
    executable = _executable([a], [y])
    one, other = (_run(executable, [y], [ones((100,))])[0].asnumpy() for _ in range(2))
    assert (one != other).any()


def test_the_key_that_a_call_started_from_is_returned() -> None:
    (a,) = inputs((100,))
    y = call("Dropout", a, train=True)
    executable = _executable([a], [y])
    seed(11)
    results = [empty_like_spec(y.spec, executable.device)]
    assert executable([ones((100,))], results) == (11, 0)
    assert executable([ones((100,))], results) == (11, 1)


def test_functions_that_draw_nothing_use_up_no_key() -> None:
    (a,) = inputs((100,))
    y = call("Dropout", call("LeakyReLU", a, act_type="gelu", train=True), train=True)
    executable = _executable([a], [y])
    seed(11)
    keys = [executable([ones((100,))], [empty_like_spec(y.spec, executable.device)])]
    keys.append(executable([ones((100,))], [empty_like_spec(y.spec, executable.device)]))
    assert keys == [(11, 0), (11, 1)]


def test_empty_arrays_are_planned() -> None:
    (a,) = inputs((0, 3))
    y = call("sin", call("softmax", a))
    (result,) = _run(_executable([a], [y]), [y], [array(np.zeros((0, 3)))])
    assert result.shape == (0, 3)


def test_arrays_of_several_dtypes_share_an_arena() -> None:
    (a,) = inputs((3, 5))
    half = call("Cast", call("sin", a), dtype="float16")
    y = call("Cast", call("Cast", half * 2.0, dtype="int8"), dtype="float32")
    (result,) = _run(_executable([a], [y]), [y], [ones((3, 5)) * 4])
    np.testing.assert_array_equal(
        result.asnumpy(), np.full((3, 5), np.int8(np.sin(4) * 2), np.float32)
    )
