from gluonish.graph.ir import Graph, lint
from gluonish.graph.passes import eliminate_dead_code
from tests.graph.builders import call, inputs, text


def test_nodes_that_lead_to_no_output_go() -> None:
    a, b = inputs((2,), (2,))
    unused = call("exp", b)
    y = call("relu", a)
    before = Graph([a.node, b.node], [y], [a.node, b.node, unused.node, y.node])
    assert str(before) == text(
        """
        %0: float32(2,) = variable a
        %1: float32(2,) = variable b
        %2: float32(2,) = exp(%1)
        %3: float32(2,) = relu(%0)
        return %3
        """
    )
    after = lint(eliminate_dead_code(before))
    assert str(after) == text(
        """
        %0: float32(2,) = variable a
        %1: float32(2,) = relu(%0)
        return %1
        """
    )
    assert [node.name for node in after.inputs] == ["a", "b"]


def test_the_order_of_what_stays_does_not_change() -> None:
    (a,) = inputs((2,))
    first, second = call("exp", a), call("relu", a)
    nodes = [a.node, first.node, second.node]
    after = eliminate_dead_code(Graph([a.node], [second, first], nodes))
    assert list(after.nodes) == nodes
