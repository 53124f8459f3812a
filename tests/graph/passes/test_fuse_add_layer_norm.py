"""LayerNorm of a sum, and the Dropout before it, become one operator."""

from typing import Any

import numpy as np
import pytest

from gluonish.graph.interpreter import evaluate
from gluonish.graph.ir import Graph, lint
from gluonish.graph.passes import fuse_add_layer_norm
from gluonish.ndarray import array
from tests.graph.builders import call, graph, inputs

_SHAPES = ((2, 3, 6), (2, 3, 6), (6,), (6,))


def _all(count: int, *specs: Any) -> bool:
    return True


def _names(made: Graph) -> list[str]:
    return [node.op.name for node in made.nodes if node.op is not None]


def _fused(*outputs: Any, variables: Any, supports: Any = _all) -> list[str]:
    return _names(lint(fuse_add_layer_norm(graph(variables, *outputs), supports=supports)))


def _dropped(x: Any, **attrs: Any) -> Any:
    made = call("Dropout", x, **{"p": 0.5, "train": True, **attrs})
    return made[0] if isinstance(made, list) else made


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("drop", [False, True])
def test_a_sum_and_its_norm_become_one(swapped: bool, drop: bool) -> None:
    x, y, gamma, beta = variables = inputs(*_SHAPES)
    term = _dropped(x) if drop else x
    total = y + term if swapped else term + y
    out = call("LayerNorm", total, gamma, beta, eps=0.1)
    made = lint(fuse_add_layer_norm(graph(variables, out, total), supports=_all))
    assert _names(made) == ["_add_layer_norm"]
    assert made.outputs[0].node is made.outputs[1].node
    assert [value.index for value in made.outputs] == [0, 1]
    node = made.outputs[0].node
    assert (node.attrs["p"], node.attrs["eps"]) == (0.5 * drop, 0.1)
    if drop:
        assert node.inputs[0].node is x.node
        return
    random = np.random.default_rng(3)
    data = [array(random.standard_normal(shape)) for shape in _SHAPES]
    found = [[v.asnumpy() for v in evaluate(g, data)] for g in (graph(variables, out, total), made)]
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_mean_and_deviation_may_be_read() -> None:
    x, y, gamma, beta = variables = inputs(*_SHAPES)
    out = call("LayerNorm", x + y, gamma, beta, output_mean_var=True)
    made = lint(fuse_add_layer_norm(graph(variables, *out), supports=_all))
    assert [value.index for value in made.outputs] == [0, 2, 3]


def test_dropouts_that_stay() -> None:
    x, y, gamma, beta = variables = inputs(*_SHAPES)

    def kept(term: Any, *others: Any) -> list[str]:
        out = call("LayerNorm", term + y, gamma, beta)
        return _fused(out, *others, variables=variables)

    separate = ["Dropout", "_add_layer_norm"]
    assert kept(_dropped(x, axes=(1,))) == separate
    assert kept(_dropped(x, train=False)) == separate
    assert kept(_dropped(x, p=0)) == separate
    read = _dropped(x)
    assert kept(read, read) == separate
    assert kept(_dropped(x, train=False, mode="always")) == ["_add_layer_norm"]


def test_random_numbers_keep_their_order() -> None:
    x, y, gamma, beta = variables = inputs(*_SHAPES)
    one, other = _dropped(x), _dropped(y)
    out = call("LayerNorm", one + other, gamma, beta)
    made = lint(fuse_add_layer_norm(graph(variables, out), supports=_all))
    assert _names(made) == ["Dropout", "_add_layer_norm"]
    assert made.nodes[-1].inputs[0].node is y.node
    first = _dropped(x)
    between = _dropped(y)
    assert _fused(call("LayerNorm", first + between * 2, gamma, beta), variables=variables) == [
        "Dropout",
        "Dropout",
        "_mul_scalar",
        "broadcast_add",
        "LayerNorm",
    ]


def test_what_stays() -> None:
    x, y, gamma, beta = variables = inputs(*_SHAPES)
    row, *_ = more = inputs((1, 3, 6), (2, 3, 6), (3,), (3,))
    norm = ["broadcast_add", "LayerNorm"]
    out = call("LayerNorm", call("broadcast_add", x, row), gamma, beta)
    assert _fused(out, variables=[*variables, row]) == norm
    out = call("LayerNorm", x + y, *more[2:], axis=1)
    assert _fused(out, variables=[x, y, *more[2:]])[-1] == "LayerNorm"
    out = call("LayerNorm", call("exp", x) + y, gamma, beta)
    assert _fused(out, variables=variables)[-1] == "LayerNorm"
    out = call("LayerNorm", x + y, gamma, beta)
    assert _fused(out, variables=variables, supports=lambda *_: False)[-1] == "LayerNorm"
    made = graph(variables, x * y)
    assert fuse_add_layer_norm(made, supports=_all) is made
