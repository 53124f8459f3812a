"""The gradient of a relu behind a sum, inside the sums of BatchNorm's gradient."""

import numpy as np

from gluonish.graph.gradient import differentiate
from gluonish.graph.interpreter import evaluate
from gluonish.graph.ir import Graph, Value, lint
from gluonish.graph.passes import eliminate_dead_code, fuse_residual_gradient, split_batch_norm
from gluonish.ndarray import array
from tests.graph.builders import call, graph, inputs

_SHAPES = ((2, 3, 4, 5), (2, 3, 4, 5), *((3,),) * 8)


def _normalized(*values: Value) -> Value:
    made = call("BatchNorm", *values, fix_gamma=False, train=True)
    return made[0] if isinstance(made, list) else made


def _blocks(both: bool = False, act_type: str = "relu") -> Graph:
    """Return relu(BatchNorm(a) + b), which two layers read, and its gradients."""
    values = inputs(*_SHAPES)
    data, skip, *channels = values
    y = _normalized(data, *channels[:4])
    if both:
        skip = _normalized(skip, *channels[4:])
    y = call("Activation", y + skip, act_type=act_type)
    made = graph(values, call("exp", y) + y)
    found = differentiate(made, (0, 1, 2, 3))
    nodes = [*made.inputs, *(head.node for head in found.heads)]
    return Graph(nodes, [*made.outputs, *[g for g in found.gradients if g is not None]])


def _names(made: Graph) -> list[str]:
    return [node.op.name for node in made.nodes if node.op is not None]


def _split(made: Graph) -> Graph:
    return eliminate_dead_code(split_batch_norm(made))


def test_values_are_those_of_the_single_operators() -> None:
    random = np.random.default_rng(3)
    for both in (False, True):
        split = _split(_blocks(both))
        fused = eliminate_dead_code(lint(fuse_residual_gradient(split)))
        data = [random.standard_normal(value.specs[0].shape) for value in split.inputs]
        found = [[x.asnumpy() for x in evaluate(g, [*map(array, data)])] for g in (split, fused)]
        for one, other in zip(*found, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


def test_the_first_of_two_sums_computes_the_gradient() -> None:
    for both in (False, True):
        names = _names(eliminate_dead_code(fuse_residual_gradient(_split(_blocks(both)))))
        assert names.count("_batch_norm_residual_sums") == 1
        assert names.count("_batch_norm_sums") == both
        assert "_activation_backward" not in names


def test_another_function_or_another_reader_of_the_sum_is_left_alone() -> None:
    tanh = _split(_blocks(act_type="tanh"))
    assert fuse_residual_gradient(tanh) is tanh
    split = _split(_blocks())
    relu = next(x for x in split.nodes if x.op and x.op.name == "_activation_backward")
    read = Graph(split.inputs, [*split.outputs, relu.inputs[0]])
    assert fuse_residual_gradient(read) is read
    kept = Graph(split.inputs, [*split.outputs, Value(relu)])
    made = fuse_residual_gradient(kept)
    assert made.outputs[-1].node.op is not None
    assert made.outputs[-1].node.op.name == "_batch_norm_residual_sums"
