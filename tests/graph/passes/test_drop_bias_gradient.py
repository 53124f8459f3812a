import numpy as np

from gluonish.core.dtype import BFLOAT16
from gluonish.core.spec import Spec
from gluonish.graph.gradient import differentiate
from gluonish.graph.interpreter import evaluate
from gluonish.graph.ir import Graph, Value, lint, variable
from gluonish.graph.passes import drop_bias_gradient, split_batch_norm
from gluonish.ndarray import array
from tests.graph.builders import call, inputs

SHAPES = ((2, 3, 6, 6), (4, 3, 1, 1), (4,), (4,), (4,), (4,), (4,))


def _network(*, normalized: bool, **attrs: object) -> Graph:
    x, weight, bias, *rest = inputs(*SHAPES)
    y = call("Convolution", x, weight, bias, kernel=(1, 1), num_filter=4)
    if normalized:
        y = call("BatchNorm", y, *rest, fix_gamma=False, train=True, **attrs)
    made = Graph([v.node for v in (x, weight, bias, *rest)], [y])
    found = differentiate(made, (1, 2))
    gradients = [g for g in found.gradients if g is not None]
    return Graph([*made.inputs, *(head.node for head in found.heads)], [y, *gradients])


def _names(made: Graph) -> set[str]:
    return {node.op.name for node in made.nodes if node.op is not None}


def _passed(made: Graph) -> Graph:
    return lint(drop_bias_gradient(split_batch_norm(made)))


def test_a_bias_in_front_of_batch_norm_costs_no_sums() -> None:
    names = _names(_passed(_network(normalized=True)))
    assert "_convolution_backward_weight" in names
    assert "_convolution_backward_weight_bias" not in names


def test_one_operator_makes_the_zeros_of_all_biases() -> None:
    x, *rest = inputs((2, 4, 6, 6), *[(4, 4, 1, 1), (4,), (4,), (4,), (4,), (4,)] * 2)
    y = x
    for weight, bias, *channels in (rest[:6], rest[6:]):
        y = call("Convolution", y, weight, bias, kernel=(1, 1), num_filter=4)
        y = call("BatchNorm", y, *channels, fix_gamma=False, train=True)
    made = Graph([v.node for v in (x, *rest)], [y])
    found = differentiate(made, (1, 2, 7, 8))
    gradients = [g for g in found.gradients if g is not None]
    joint = Graph([*made.inputs, *(head.node for head in found.heads)], [y, *gradients])
    passed = _passed(joint)
    zeros = [node for node in passed.nodes if node.op and node.op.name == "_zeros_like_many"]
    assert [node.num_outputs for node in zeros] == [2]
    assert {passed.outputs[i].key for i in (2, 4)} == {(id(zeros[0]), 0), (id(zeros[0]), 1)}


def test_a_bias_that_matters_keeps_its_gradient() -> None:
    for made in (_network(normalized=False), _network(normalized=True, use_global_stats=True)):
        assert "_convolution_backward_weight_bias" in _names(_passed(made))


def test_gradients_are_those_without_it_within_round_off() -> None:
    made = _network(normalized=True)
    random = np.random.default_rng(0)
    arrays = [array(random.uniform(0.5, 1.5, node.specs[0].shape)) for node in made.inputs]
    found = []
    for one in (made, _passed(made)):
        found.append([x.asnumpy() for x in evaluate(one, [x.copy() for x in arrays])])
    for got, wanted in zip(found[1], found[0], strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)
    bias: Value = made.outputs[2]
    assert bias.shape == (4,)
    np.testing.assert_array_equal(found[1][2], 0)


def test_gradient_has_the_dtype_of_the_bias_where_the_scale_has_another() -> None:
    x, weight, bias = (variable(f"half{i}", Spec(n, BFLOAT16)) for i, n in enumerate(SHAPES[:3]))
    rest = inputs(*SHAPES[3:])
    y = call("Convolution", x, weight, bias, kernel=(1, 1), num_filter=4)
    y = call("BatchNorm", y, *rest, fix_gamma=False, train=True)
    made = Graph([v.node for v in (x, weight, bias, *rest)], [y])
    found = differentiate(made, (1, 2))
    gradients = [g for g in found.gradients if g is not None]
    joint = Graph([*made.inputs, *(head.node for head in found.heads)], [y, *gradients])
    passed = lint(drop_bias_gradient(split_batch_norm(joint, (BFLOAT16,))))
    assert "_convolution_backward_weight_bias" not in _names(passed)
    assert passed.outputs[2].spec == bias.spec
