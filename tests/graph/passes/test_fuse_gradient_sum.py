"""Sums of gradients before and after LayerNorm's gradient, inside its operator."""

from typing import Any

import numpy as np

from gluonish.graph.gradient import differentiate
from gluonish.graph.interpreter import evaluate
from gluonish.graph.ir import Graph, Value, lint
from gluonish.graph.passes import fuse_gradient_sum
from gluonish.ndarray import array
from tests.graph.builders import call, graph, inputs

_SHAPES = ((4, 6), (6,), (6,), (6, 6))


def _all(count: int, *specs: Any) -> bool:
    return True


def _joint(y: Value, variables: list[Value]) -> Graph:
    """Return a graph of an output and all its gradients."""
    made = graph(variables, y)
    found = differentiate(made, tuple(range(len(variables))))
    nodes = [*made.inputs, *(head.node for head in found.heads)]
    return Graph(nodes, [*made.outputs, *[g for g in found.gradients if g is not None]])


def _names(made: Graph) -> list[str]:
    return [node.op.name for node in made.nodes if node.op is not None]


def _same(one: Graph, other: Graph) -> None:
    random = np.random.default_rng(3)
    data = [array(random.standard_normal(value.specs[0].shape)) for value in one.inputs]
    found = [[x.asnumpy() for x in evaluate(g, data)] for g in (one, other)]
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)


def _sums(made: Graph) -> list[tuple[bool, bool]]:
    return [
        (node.attrs["two"], node.attrs["plus"])
        for node in made.nodes
        if node.op is not None and node.op.name == "_layer_norm_backward_sums"
    ]


def test_a_branch_behind_the_norm() -> None:
    x, gamma, beta, weight = variables = inputs(*_SHAPES)
    y = call("LayerNorm", x, gamma, beta)
    joint = _joint(call("dot", y, weight) + y, variables)
    made = lint(fuse_gradient_sum(joint, supports=_all))
    assert _sums(made) == [(True, False)]
    assert not {"elemwise_add", "broadcast_add"} & set(_names(made)[5:])
    _same(joint, made)


def test_a_branch_before_the_norm() -> None:
    x, gamma, beta, weight = variables = inputs(*_SHAPES)
    y = call("LayerNorm", x, gamma, beta)
    joint = _joint(call("dot", y, weight) + x, variables)
    made = lint(fuse_gradient_sum(joint, supports=_all))
    assert _sums(made) == [(False, True)]
    _same(joint, made)


def test_both_and_the_norm_behind_another() -> None:
    x, gamma, beta, weight = variables = inputs(*_SHAPES)
    y = call("LayerNorm", x, gamma, beta)
    z = call("LayerNorm", call("dot", y, weight) + y + x, gamma, beta)
    joint = _joint(call("dot", z, weight) + z, variables)
    made = lint(fuse_gradient_sum(joint, supports=_all))
    assert (True, False) in _sums(made)
    assert (True, True) in _sums(made)
    _same(joint, made)


def test_a_norm_right_before_a_norm_that_has_the_sum() -> None:
    x, gamma, beta, weight = variables = inputs(*_SHAPES)
    y = call("LayerNorm", x, gamma, beta)
    z = call("LayerNorm", y, gamma, beta)
    joint = _joint(call("dot", z, weight) + y, variables)
    made = lint(fuse_gradient_sum(joint, supports=_all))
    assert _sums(made) == [(False, True)]
    _same(joint, made)


def test_what_stays() -> None:
    x, gamma, beta, weight = variables = inputs(*_SHAPES)
    y = call("LayerNorm", x, gamma, beta)
    joint = _joint(call("dot", y, weight) + y, variables)
    assert _sums(fuse_gradient_sum(joint, supports=lambda *_: False)) == []
    # A pointwise kernel adds to what it computes.
    joint = _joint(call("exp", y) + call("dot", y, weight), variables)
    assert _sums(fuse_gradient_sum(joint, supports=_all)) == []
    # The sum is read.
    joint = _joint(call("dot", y, weight) + y, variables)
    (norm,) = (n for n in joint.nodes if n.op and n.op.name == "_layer_norm_backward")
    read = Graph(joint.inputs, [*joint.outputs, norm.inputs[0]])
    assert _sums(fuse_gradient_sum(read, supports=_all)) == []
    gamma, beta = inputs((4,), (4,))
    y = call("LayerNorm", x, gamma, beta, axis=0)
    joint = _joint(call("dot", y, weight) + y, [x, gamma, beta, weight])
    assert _sums(fuse_gradient_sum(joint, supports=_all)) == []
    made = graph(variables, x * x)
    assert fuse_gradient_sum(made, supports=_all) is made
