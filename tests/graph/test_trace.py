from collections.abc import Callable
from typing import Any

import pytest

import gluonish.ndarray as nd
from gluonish.core.errors import GraphError, OperatorError
from gluonish.graph.ir import topological_order
from gluonish.graph.trace import Trace, trace_forward
from gluonish.ndarray import recording


def _trace(forward: Callable[..., Any], *shapes: tuple[int, ...]) -> Trace:
    names = [f"x{i}" for i in range(len(shapes))]
    arrays = [nd.zeros(shape) for shape in shapes]
    return trace_forward(forward, names, arrays, lambda word: f"net_{word}")


def test_functions_of_arrays_become_nodes_with_names() -> None:
    trace = _trace(lambda x: nd.relu(x) + 1.0, (2, 3))
    nodes = topological_order(trace.outputs)
    assert [node.name for node in nodes] == ["x0", "net_relu", "net__plusscalar"]
    assert trace.outputs[0].shape == (2, 3)
    assert trace.structure is None


def test_nested_outputs_are_taken_apart() -> None:
    trace = _trace(lambda x, y: (x, [y, x + y], 3), (2,), (2,))
    assert len(trace.outputs) == 3
    assert [node.name for node in trace.data] == ["x0", "x1"]


def test_arrays_that_forward_makes_are_constants() -> None:
    trace = _trace(lambda x: (x * nd.ones((2,)), nd.zeros((1,))), (2,))
    assert trace.outputs[1].node.array is not None


def test_random_numbers_are_drawn_by_the_graph() -> None:
    trace = _trace(lambda x: x + nd.random.uniform(shape=(2,)), (2,))
    names = [node.op.name for node in topological_order(trace.outputs) if node.op]
    assert "_random_uniform" in names


def test_a_parameter_is_one_variable_however_often_it_is_read() -> None:
    def forward(x: Any) -> Any:
        tracer = recording.tracer.get()
        assert tracer is not None
        weight = nd.ones((2,))
        return x * tracer.parameter("w", weight) + tracer.parameter("w", weight)

    trace = _trace(forward, (2,))
    assert list(trace.parameters) == ["w"]
    variables = [node.name for node in topological_order(trace.outputs) if node.op is None]
    assert variables == ["x0", "w"]


def test_shapes_are_known_while_tracing() -> None:
    seen = []
    _trace(lambda x: seen.append(x.shape) or x.reshape((-1,)), (2, 3))
    assert seen == [(2, 3)]


def test_a_wrong_shape_names_the_node() -> None:
    with pytest.raises(OperatorError, match=r"^net_dot: dot: expected .* got"):
        _trace(nd.dot, (2, 3), (2, 3))


def test_a_forward_that_returns_no_array_is_refused() -> None:
    with pytest.raises(GraphError, match="expected forward to return arrays, got NoneType"):
        _trace(lambda x: None, (2,))


def test_the_trace_ends_with_the_call_even_if_it_fails() -> None:
    def forward(x: Any) -> Any:
        raise KeyError("stop")

    with pytest.raises(KeyError):
        _trace(forward, (2,))
    assert recording.tracer.get() is None
