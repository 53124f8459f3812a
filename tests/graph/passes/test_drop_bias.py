"""drop_bias: a bias in front of BatchNorm only moves the running mean."""

import numpy as np
import pytest

from gluonish.graph.gradient import differentiate
from gluonish.graph.interpreter import evaluate
from gluonish.graph.ir import Graph, Value, lint
from gluonish.graph.passes import drop_bias, split_batch_norm
from gluonish.ndarray import array
from tests.graph.builders import call, inputs

_SHAPES = ((2, 3, 6, 6), (4, 3, 1, 1), (4,), (4,), (4,), (4,), (4,))


def _network(*, read: str = "", **attrs: object) -> Graph:
    """Return a convolution, BatchNorm and all gradients, split."""
    values = inputs(*_SHAPES)
    x, weight, bias, *rest = values
    y = call("Convolution", x, weight, bias, kernel=(1, 1), num_filter=4)
    z = call("BatchNorm", y, *rest, **{"fix_gamma": False, "train": True, **attrs})
    mean = z[1] if isinstance(z, list) else None
    z = z[0] if isinstance(z, list) else z
    made = Graph([v.node for v in values], [z])
    found = differentiate(made, (0, 1, 3, 4))
    gradients = [g for g in found.gradients if g is not None]
    outputs = [z, *gradients, *({"data": [y], "mean": [mean]}.get(read, []))]
    joint = Graph([*made.inputs, *(head.node for head in found.heads)], outputs)
    return split_batch_norm(joint)


def _biases(made: Graph) -> list[bool]:
    """Whether convolutions have biases, and statistics."""
    nodes = [node for node in made.nodes if node.op is not None]
    convolutions = [len(n.inputs) > 2 for n in nodes if n.op and n.op.name == "Convolution"]
    return convolutions + [
        len(n.inputs) > 4 for n in nodes if n.op and n.op.name == "_batch_norm_statistics"
    ]


def test_the_statistics_get_the_bias_and_give_the_same() -> None:
    made = _network()
    passed = lint(drop_bias(made))
    assert _biases(made) == [True, False]
    assert _biases(passed) == [False, True]
    random = np.random.default_rng(0)
    data = [random.uniform(0.5, 1.5, node.specs[0].shape) for node in made.inputs]
    found = []
    for one in (made, passed):
        arrays = [array(x) for x in data]
        results = evaluate(one, arrays)
        found.append([x.asnumpy() for x in (*results, *arrays)])
    for got, wanted in zip(*found, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("attrs", [{"train": False}, {"use_global_stats": True}, {"read": "data"}])
def test_a_bias_that_something_else_depends_on_stays(attrs: dict[str, object]) -> None:
    made = _network(**attrs)  # type: ignore[arg-type]
    assert drop_bias(made) is made


def test_a_mean_that_is_an_output_keeps_the_bias() -> None:
    made = _network()
    node = next(x for x in made.nodes if x.op and x.op.name == "_batch_norm_statistics")
    read = Graph(made.inputs, [*made.outputs, Value(node, 0)])
    assert drop_bias(read) is read
