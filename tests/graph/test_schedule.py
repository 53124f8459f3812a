from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from gluonish.graph.gradient import Joint
from gluonish.graph.ir import Node, Value, topological_order
from gluonish.graph.liveness import peak_nbytes, planner_steps
from gluonish.graph.passes.mirror import mirror, ordered_backward
from gluonish.graph.saved_values import Effort
from gluonish.graph.schedule import low_memory_order
from tests.graph.builders import call, graph, inputs
from tests.graph.joints import joint_of
from tests.graph.random_graphs import RandomGraph, random_graphs


def _chain(depth: int) -> Joint:
    """Return the joint graph of ``depth`` products with weights and rectifiers."""
    x, *weights = inputs((8, 16), *[(16, 16)] * depth)
    y = x
    for weight in weights:
        product = call("FullyConnected", y, weight, num_hidden=16, no_bias=True)
        y = call("Activation", product, act_type="relu")
    return joint_of(graph([x, *weights], y), range(1, depth + 1))


def _peak(joint: Joint, order: Sequence[Node]) -> int:
    given = {value.key for value in (*joint.outputs, *joint.gradients)}
    return peak_nbytes(*planner_steps(order, given))


def test_gradients_of_weights_come_before_the_chain_goes_on() -> None:
    joint = _chain(12)
    rows = 8 * 16 * 4  # bytes
    assert _peak(joint, ordered_backward(joint)) <= 3 * rows
    assert _peak(joint, joint.backward) >= 12 * rows


def test_copies_come_when_they_are_needed() -> None:
    x, *weights = inputs((8, 16), *[(16, 16)] * 8)
    y = x
    for weight in weights:
        product = call("FullyConnected", y, weight, num_hidden=16, no_bias=True)
        y = call("Dropout", call("tanh", call("square", product)), p=0.5, train=True)
    joint = mirror(joint_of(graph([x, *weights], y), range(1, 9)), Effort.LITTLE)
    copies = [node for node in joint.backward if node.op and node.op.name == "broadcast_mul"]
    assert len(copies) >= 7
    assert _peak(joint, ordered_backward(joint)) <= 6 * 8 * 16 * 4


def test_a_value_is_not_made_before_what_it_needs() -> None:
    joint = _chain(3)
    seen = {id(node) for node in (*joint.inputs, *joint.heads, *joint.forward)}
    for node in ordered_backward(joint):
        assert all(id(value.node) in seen for value in node.inputs)
        seen.add(id(node))


def test_nothing_to_do_takes_no_order() -> None:
    assert low_memory_order([], [], []) == []


@given(random_graphs(), st.sampled_from(Effort))
def test_every_operator_comes_once_and_behind_its_inputs(made: RandomGraph, effort: Effort) -> None:
    joint = mirror(joint_of(graph(made.variables, *made.outputs), range(len(made.variables))),
                   effort)  # fmt: skip
    order = ordered_backward(joint)
    assert sorted(map(id, order)) == sorted(map(id, joint.backward))
    known = {id(node) for node in topological_order([Value(n) for n in joint.heads])}
    known |= {id(node) for node in (*joint.graph.nodes, *joint.inputs)}
    known -= {id(node) for node in order}
    for node in order:
        assert all(id(value.node) in known for value in node.inputs)
        known.add(id(node))
