import numpy as np
import pytest

from gluonish.core.spec import Spec
from gluonish.graph.gradient import differentiate
from gluonish.graph.inference import specialize
from gluonish.graph.interpreter import evaluate
from gluonish.graph.ir import Graph, Value, lint
from gluonish.graph.passes import eliminate_dead_code
from gluonish.graph.passes.split_batch_norm import split_batch_norm
from gluonish.ndarray import array
from tests.graph.builders import call, graph, inputs, text

SHAPES = ((2, 3, 4, 5), (3,), (3,), (3,), (3,))


def _normalized(*, train: bool, behind: str = "", **attrs: object) -> Graph:
    values = inputs(*SHAPES)
    y = call("BatchNorm", *values, fix_gamma=False, train=train, **attrs)
    y = y[0] if isinstance(y, list) else y
    if behind == "relu":
        y = call("Activation", y, act_type="relu")
    elif behind == "clip":
        y = call("clip", y, a_min=-0.5, a_max=1.25)
    elif behind:
        y = call("clip", y, a_min=-0.5, a_max=float("inf"))
    return graph(values, y)


def _with_gradients(made: Graph) -> Graph:
    found = differentiate(made, (0, 1, 2))
    nodes = [*made.inputs, *(head.node for head in found.heads)]
    return Graph(nodes, [*made.outputs, *[g for g in found.gradients if g is not None]])


def test_what_is_done_to_elements_is_apart_from_the_sums() -> None:
    made = eliminate_dead_code(lint(split_batch_norm(_normalized(train=True))))
    assert str(made) == text(
        """
        %0: float32(2, 3, 4, 5) = variable a
        %1: float32(3,) = variable b
        %2: float32(3,) = variable c
        %3: float32(3,) = variable d
        %4: float32(3,) = variable e
        %5: float32(3,), float32(3,), float32(3,) = _batch_norm_statistics(%0, %1, %3, %4, fix_gamma=False, train=True)
        %6: float32(1, 3, 1, 1) = Reshape(%5, shape=(1, -1, 1, 1))
        %7: float32(2, 3, 4, 5) = broadcast_sub(%0, %6)
        %8: float32(1, 3, 1, 1) = Reshape(%5.2, shape=(1, -1, 1, 1))
        %9: float32(2, 3, 4, 5) = broadcast_mul(%7, %8)
        %10: float32(1, 3, 1, 1) = Reshape(%2, shape=(1, -1, 1, 1))
        %11: float32(2, 3, 4, 5) = broadcast_add(%9, %10)
        return %11
        """  # noqa: E501 (the graph's own lines)
    )


@pytest.mark.parametrize(("behind", "bounds"), [("relu", (0.0,)), ("clip", (-0.5, 1.25))])
def test_the_gradient_of_a_bounded_function_behind_it_is_part_of_its_own(
    behind: str, bounds: tuple[float, ...]
) -> None:
    made = eliminate_dead_code(
        lint(split_batch_norm(_with_gradients(_normalized(train=True, behind=behind))))
    )
    names = {node.op.name for node in made.nodes if node.op is not None}
    assert not names & {"_activation_backward", "_clip_backward"}
    sums = next(node for node in made.nodes if node.op and node.op.name == "_batch_norm_sums")
    assert sums.attrs["bounds"] == bounds
    assert sums.inputs[0].node.name == "head0_grad"


@pytest.mark.parametrize(
    ("behind", "gradient"), [("relu", "_activation_backward"), ("clip", "_clip_backward")]
)
def test_another_reader_of_that_gradient_keeps_it(behind: str, gradient: str) -> None:
    made = _with_gradients(_normalized(train=True, behind=behind))
    backward = next(node for node in made.nodes if node.op and node.op.name == gradient)
    both = Graph(made.inputs, [*made.outputs, Value(backward)])
    sums = next(
        node
        for node in split_batch_norm(both).nodes
        if node.op and node.op.name == "_batch_norm_sums"
    )
    assert not sums.attrs["bounds"]


def test_another_axis_stays_whole() -> None:
    values = inputs((2, 4, 3), (3,), (3,), (3,), (3,))
    made = graph(values, call("BatchNorm", *values, axis=2, train=True))
    assert str(split_batch_norm(made)) == str(made)


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("behind", ["relu", "clip", "clip without an upper bound", ""])
@pytest.mark.parametrize("attrs", [{}, {"use_global_stats": True}, {"eps": 0.1, "momentum": 0.5}])
def test_values_and_moving_statistics_are_those_of_the_whole(
    train: bool, behind: str, attrs: dict[str, object]
) -> None:
    whole = _with_gradients(_normalized(train=train, behind=behind, **attrs))
    random = np.random.default_rng(3)
    data = [random.standard_normal(value.specs[0].shape) for value in whole.inputs]
    data[4] = np.abs(data[4]) + 0.5
    found = []
    for made in (whole, split_batch_norm(whole)):
        arrays = [array(x) for x in data]
        results = evaluate(made, arrays)
        found.append([x.asnumpy() for x in (*results, *arrays[3:5])])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=2e-6)


def test_specs_are_needed_only_where_there_are_some() -> None:
    values = inputs(*SHAPES)
    made = specialize(
        [value.node for value in values],
        [call("BatchNorm", *values, train=True)],
        [Spec(shape, np.dtype(np.float32)) for shape in SHAPES],
        train=False,
    )
    names = {node.op.name for node in split_batch_norm(made).nodes if node.op is not None}
    assert "BatchNorm" not in names
