import pytest

from gluonish.core.errors import OperatorError
from gluonish.graph.ir import Node, Value, lint, variable
from gluonish.graph.rewrite import rebuild, replay
from gluonish.ops.registry import find_operator
from tests.graph.builders import call, graph, inputs, spec, text


def test_nodes_whose_inputs_do_not_change_are_shared() -> None:
    a, b = inputs((2,), (2,))
    kept, changed = call("exp", a), call("relu", b)
    y = kept + changed

    def rule(node: Node, values: object) -> list[Value] | None:
        return [b] if node is changed.node else None

    made = rebuild(graph([a, b], y), rule)
    assert kept.node in made.nodes
    assert y.node not in made.nodes
    assert str(lint(made)) == text(
        """
        %0: float32(2,) = variable a
        %1: float32(2,) = exp(%0)
        %2: float32(2,) = variable b
        %3: float32(2,) = broadcast_add(%1, %2)
        return %3
        """
    )


def test_a_rule_may_put_several_nodes_in_place_of_one() -> None:
    (a,) = inputs((2,))
    y = call("relu", a)
    made = rebuild(graph([a], y), lambda node, values: [call("exp", call("negative", values[0]))])
    assert str(lint(made)) == text(
        """
        %0: float32(2,) = variable a
        %1: float32(2,) = negative(%0)
        %2: float32(2,) = exp(%1)
        return %2
        """
    )


def test_replay_infers_anew_for_other_values() -> None:
    x = variable("x")
    node = Node(find_operator("relu"), "r", (x,))
    (a,) = inputs((3, 2))
    (y,) = replay([Value(node)], {"x": a})
    assert y.spec == spec(3, 2)


def test_replay_keeps_which_output_was_meant() -> None:
    x = variable("x")
    op = find_operator("SliceChannel")
    node = Node(op, "s", (x,), op.schema.parse("s", {"num_outputs": 2}))
    (a,) = inputs((4, 2))
    (y,) = replay([Value(node, 1)], {"x": a})
    assert (y.index, y.shape) == (1, (4, 1))


def test_replay_says_what_an_operator_refuses() -> None:
    x = variable("x")
    op = find_operator("SliceChannel")
    node = Node(op, "s", (x,), op.schema.parse("s", {"num_outputs": 3}))
    (a,) = inputs((4, 2))
    with pytest.raises(OperatorError, match="expected"):
        replay([Value(node)], {"x": a})
