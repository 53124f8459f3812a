"""The pass that joins the gradients of a dense layer's weight and bias."""

from typing import Any

import numpy as np
import pytest

from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32
from gluonish.core.spec import Spec
from gluonish.graph.gradient import differentiate
from gluonish.graph.interpreter import evaluate
from gluonish.graph.ir import Graph, lint, variable
from gluonish.graph.passes import (
    eliminate_common_subexpressions,
    eliminate_dead_code,
    fuse_bias_gradient,
)
from gluonish.ndarray import array
from tests.graph.builders import call

FUSED = "_fully_connected_backward_weight_bias"


def _layer(dtype: Any, *, flatten: bool = True, no_bias: bool = False) -> Graph:
    """Return a layer with the gradients of weight and bias."""
    shapes = ((4, 6), (3, 6), (3,)) if flatten else ((4, 5, 6), (3, 6), (3,))
    used = [variable(f"v{i}", Spec(n, dtype)) for i, n in enumerate(shapes[: 3 - no_bias])]
    y = call("FullyConnected", *used, num_hidden=3, flatten=flatten, no_bias=no_bias)
    found = differentiate(Graph([v.node for v in used], [y]), tuple(range(1, len(used))))
    gradients = [g for g in found.gradients if g is not None]
    inputs = [*(v.node for v in used), *(head.node for head in found.heads)]
    return eliminate_common_subexpressions(Graph(inputs, [y, *gradients]))


def _names(made: Graph) -> list[str]:
    return [node.op.name for node in made.nodes if node.op is not None]


def _passed(made: Graph) -> Graph:
    return lint(eliminate_dead_code(fuse_bias_gradient(made)))


@pytest.mark.parametrize("dtype", [FLOAT16, BFLOAT16])
@pytest.mark.parametrize("flatten", [True, False])
def test_product_and_sums_are_one_operator(dtype: Any, flatten: bool) -> None:
    names = _names(_passed(_layer(dtype, flatten=flatten)))
    assert names.count(FUSED) == 1
    assert not {"dot", "sum"}.intersection(names)


def test_sums_of_float32_stay_exact() -> None:
    made = _layer(FLOAT32)
    assert _passed(made).nodes == made.nodes


def test_a_layer_without_a_bias_stays() -> None:
    made = _layer(FLOAT16, no_bias=True)
    assert fuse_bias_gradient(made) is made


def test_sums_of_another_matrix_stay() -> None:
    grad, data, other = (variable(n, Spec((4, 3), FLOAT16)) for n in ("grad", "data", "other"))
    product = call("dot", grad, data, transpose_a=True)
    for summed in (call("sum", other, axis=0), call("sum", grad, axis=1)):
        made = Graph([grad.node, data.node, other.node], [product, summed])
        assert FUSED not in _names(_passed(made))


@pytest.mark.parametrize("flatten", [True, False])
def test_values_are_those_without_it(flatten: bool) -> None:
    made = _layer(FLOAT16, flatten=flatten)
    random = np.random.default_rng(0)
    arrays = [array(random.standard_normal(x.specs[0].shape), dtype="float16") for x in made.inputs]
    found = [evaluate(one, [x.copy() for x in arrays]) for one in (made, _passed(made))]
    for got, wanted in zip(found[1], found[0], strict=True):
        np.testing.assert_allclose(got.asnumpy(), wanted.asnumpy(), rtol=2e-3, atol=2e-3)
