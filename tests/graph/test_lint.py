import pytest

from gluonish.core.errors import GraphError
from gluonish.graph.ir import Graph, Node, Value, lint
from gluonish.ops.registry import find_operator
from tests.graph.builders import call, graph, inputs, spec


def test_a_legal_graph_is_returned() -> None:
    a, b = inputs((2,), (2,))
    made = graph([a, b], a + b)
    assert lint(made) is made


def test_an_input_that_comes_later_is_refused() -> None:
    (a,) = inputs((2,))
    y = call("relu", a)
    with pytest.raises(GraphError, match="expected inputs of relu to come earlier, got a"):
        lint(Graph([a.node], [y], [y.node, a.node]))


def test_a_variable_that_is_no_input_is_refused() -> None:
    a, b = inputs((2,), (2,))
    with pytest.raises(GraphError, match="expected b among the graph's inputs"):
        lint(graph([a], a + b))


def test_an_output_that_no_node_makes_is_refused() -> None:
    (a,) = inputs((2,))
    y = call("relu", a)
    with pytest.raises(GraphError, match="expected output relu in the graph"):
        lint(Graph([a.node], [y], [a.node]))


def test_specs_that_the_operator_does_not_infer_are_refused() -> None:
    (a,) = inputs((2,))
    wrong = Node(find_operator("relu"), "r", (a,), {}, (spec(3),))
    with pytest.raises(GraphError, match=r"expected r to give \['float32\(2,\)'\], got"):
        lint(graph([a], Value(wrong)))


def test_an_output_index_that_a_node_does_not_have_is_refused() -> None:
    (a,) = inputs((2,))
    y = call("relu", a)
    bad = Node(find_operator("relu"), "r", (Value(y.node, 1),), {}, (spec(2),))
    with pytest.raises(GraphError, match="expected inputs of r to come earlier"):
        lint(graph([a], Value(bad)))
