import numpy as np
import pytest
from hypothesis import given

from gluonish import autograd
from gluonish.core.random_state import seed
from gluonish.graph.gradient import differentiate, walk_back
from gluonish.graph.inference import specialize
from gluonish.graph.interpreter import evaluate
from gluonish.graph.ir import Graph, Value, lint
from gluonish.ndarray import array
from tests.graph.builders import call, graph, inputs, text
from tests.graph.random_graphs import RandomGraph, random_graphs


def test_the_gradient_graph_prints_rules_over_the_same_nodes() -> None:
    (a,) = inputs((2, 3))
    made = graph([a], call("sin", a) * 3.0)
    found = differentiate(made, [0])
    assert found.gradients[0] is not None
    heads = [head.node for head in found.heads]
    joint = lint(Graph([a.node, *heads], [found.gradients[0]]))
    assert str(joint) == text(
        """
        %0: float32(2, 3) = variable head0_grad
        %1: float32(2, 3) = _mul_scalar(%0, scalar=3.0, is_int=False)
        %2: float32(2, 3) = variable a
        %3: float32(2, 3) = cos(%2)
        %4: float32(2, 3) = broadcast_mul(%1, %3)
        return %4
        """
    )


def test_gradients_of_several_uses_add_up() -> None:
    (a,) = inputs((2,))
    found = differentiate(graph([a], call("relu", a), call("exp", a)), [0])
    assert found.gradients[0] is not None
    assert found.gradients[0].node.op.name == "broadcast_add"


def test_an_input_that_no_output_depends_on_has_no_gradient() -> None:
    a, b = inputs((2,), (2,))
    assert differentiate(graph([a, b], call("relu", a)), [0, 1]).gradients[1] is None


def test_an_output_that_is_an_input_passes_its_head_on() -> None:
    (a,) = inputs((2,))
    found = differentiate(graph([a], a), [0])
    assert found.gradients == [found.heads[0]]


def test_no_gradient_flows_through_an_operator_without_one() -> None:
    a, b = inputs((2, 3), (2,))
    y = call("argmax", a, axis=1) + b
    gradients = differentiate(graph([a, b], y), [0, 1]).gradients
    assert gradients[0] is None
    assert gradients[1] is not None


def test_only_wanted_gradients_are_computed() -> None:
    a, b = inputs((2, 3), (4, 3))
    y = call("FullyConnected", a, b, num_hidden=4, no_bias=True)
    found = differentiate(graph([a, b], y), [1])
    assert len(found.gradients) == 1
    assert found.gradients[0] is not None
    assert found.gradients[0].shape == (4, 3)


def test_wanted_positions_give_gradients_in_ascending_order() -> None:
    a, b = inputs((2,), (3,))
    found = differentiate(graph([a, b], a * 2.0, b * 2.0), {1, 0})
    assert [g.shape for g in found.gradients if g is not None] == [(2,), (3,)]


def test_walking_back_on_arrays_gives_numbers() -> None:
    (a,) = inputs((2,))
    x, head = array([1.0, 2.0]), array([1.0, 10.0])
    values = {a.key: x}
    y = call("square", a)
    (g,) = walk_back(graph([a], y), [0], [head], lambda value: values.get(value.key))
    np.testing.assert_array_equal(g.asnumpy(), [2, 40])


@given(random_graphs())
def test_gradients_of_random_graphs_are_those_of_the_tape(made: RandomGraph) -> None:
    nodes = [value.node for value in made.variables]
    specs = [value.spec for value in made.variables]
    specialized = specialize(nodes, made.outputs, specs, train=True)
    arrays = made.arrays()
    for x in arrays:
        x.attach_grad()
    seed(3)
    with autograd.record():
        outputs = evaluate(specialized, arrays)
    heads = [array(np.cos(np.arange(y.size)).reshape(y.shape)) for y in outputs]
    recorded = [(y, h) for y, h in zip(outputs, heads, strict=True) if y._edge is not None]
    if recorded:
        autograd.backward([y for y, _ in recorded], [h for _, h in recorded])
    found = differentiate(specialized, range(len(arrays)))
    wanted = [(i, g) for i, g in enumerate(found.gradients) if g is not None]
    joint = lint(
        Graph(
            [*specialized.inputs, *[head.node for head in found.heads]],
            [*specialized.outputs, *[g for _, g in wanted]],
        )
    )
    seed(3)
    results = evaluate(joint, [*made.arrays(), *heads])[len(outputs) :]
    for (i, _), result in zip(wanted, results, strict=True):
        np.testing.assert_allclose(result.asnumpy(), arrays[i].grad.asnumpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("index", [0, 1])
def test_a_gradient_may_come_from_one_output_of_several(index: int) -> None:
    (a,) = inputs((4, 2))
    parts = call("SliceChannel", a, num_outputs=2)
    gradient = differentiate(graph([a], parts[index]), [0]).gradients[0]
    assert isinstance(gradient, Value)
    assert gradient.shape == (4, 2)
