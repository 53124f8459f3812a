from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gluonish.graph import passes
from gluonish.graph.ir import Graph, Value, lint, variable
from gluonish.kernels.cupy.support import SUPPORT
from gluonish.kernels.generated.expressions import aligned_shape, supports
from gluonish.ops.fused.pointwise import Program
from tests.graph.builders import call, graph, inputs, spec, text

fuse_pointwise = partial(passes.fuse_pointwise, supports=supports, aligned_shape=aligned_shape)
KEY = (5, 100)


def fused(variables: Sequence[Value], *outputs: Value) -> Graph:
    return lint(fuse_pointwise(graph(variables, *outputs)))


def operators(made: Graph) -> list[str]:
    return [node.op.name for node in made.nodes if node.op is not None]


def run(made: Graph, arrays: Sequence[Any]) -> list[Any]:
    """Run a graph with reference kernels; each random operator uses a key of its own."""
    values: dict[tuple[int, int], Any] = {
        (id(node), 0): array for node, array in zip(made.inputs, arrays, strict=True)
    }
    drawn = 0
    for node in made.nodes:
        if node.op is None:
            continue
        runtime = {"key": (KEY[0], KEY[1] + drawn)} if node.op.random else {}
        drawn += node.op.random  # type: ignore[operator]
        outputs = [np.empty(spec.shape, spec.dtype) for spec in node.specs]
        node.op.kernel(
            np,
            outputs[0] if node.op.single else tuple(outputs),
            *[values[value.key] for value in node.inputs],
            **node.attrs,
            **runtime,
        )
        values |= {(id(node), i): array for i, array in enumerate(outputs)}
    return [values[value.key] for value in made.outputs]


def test_a_chain_becomes_one_node() -> None:
    a, b = inputs((32, 64), (64,))
    made = fused([a, b], call("relu", call("_mul_scalar", call("broadcast_add", a, b), scalar=2)))
    assert str(made) == text(
        """
        %0: float32(32, 64) = variable a
        %1: float32(64,) = variable b
        %2: float32(32, 64) = _fused_pointwise(%0, %1, num_args=2, program=[%2 = broadcast_add(%0, \
%1); %3 = _mul_scalar(%2, is_int=True, scalar=2.0); %4 = relu(%3); return %4])
        return %2
        """
    )


def test_a_diamond_becomes_one_node() -> None:
    (a,) = inputs((32, 64))
    x = call("sigmoid", a)
    made = fused([a], call("elemwise_mul", call("square", x), call("negative", x)))
    assert operators(made) == ["_fused_pointwise"]
    assert len(made.nodes[1].inputs) == 1


def test_an_intermediate_that_others_need_is_an_output_too() -> None:
    (a,) = inputs((32, 64))
    x = call("sigmoid", a)
    made = fused([a], call("square", x), call("dot", x, x, transpose_b=True))
    assert operators(made) == ["_fused_pointwise_many", "dot"]
    assert [value.index for value in made.nodes[-1].inputs] == [0, 0]
    assert made.outputs[0].index == 1


def test_no_node_waits_for_itself() -> None:
    (a,) = inputs((32, 32))
    x = call("sigmoid", a)
    y = call("dot", x, x)
    z = call("elemwise_add", x, call("square", y))
    made = fused([a], z)
    # The sum could join either of its inputs' groups; with both, the product would be inside.
    assert operators(made) == ["sigmoid", "dot", "_fused_pointwise"]


def test_a_longer_way_around_is_seen() -> None:
    (a,) = inputs((64, 64))
    x = call("sigmoid", a)
    y = call("relu", call("dot", x, x))
    z = call("tanh", call("dot", y, y))
    made = fused([a], call("elemwise_add", call("elemwise_mul", x, y), z))
    names = operators(made)
    assert names.count("dot") == 2
    assert len(names) <= 5


def test_other_shapes_do_not_join() -> None:
    a, b = inputs((32, 64), (64,))
    made = fused([a, b], call("relu", call("broadcast_add", a, call("exp", b))))
    assert operators(made) == ["exp", "_fused_pointwise"]


def test_stretching_joins_what_reads_it() -> None:
    a, b = inputs((32, 64), (32, 1))
    made = fused([a, b], call("elemwise_mul", a, call("broadcast_to", b, shape=(32, 64))))
    assert operators(made) == ["_fused_pointwise"]
    assert {value.shape for value in made.nodes[-1].inputs} == {(32, 64), (32, 1)}


def test_small_arrays_are_left_alone() -> None:
    (a,) = inputs((8, 8))
    assert operators(fused([a], call("relu", call("exp", a)))) == ["exp", "relu"]


def test_operators_without_an_expression_are_left_alone() -> None:
    (a,) = inputs((32, 64))
    made = fused([a], call("relu", call("gamma", call("relu", a))))
    assert operators(made) == ["relu", "gamma", "relu"]


def test_copies_for_the_gradient_are_no_work_and_stay() -> None:
    (a,) = inputs((32, 64))
    made = fused([a], call("BlockGrad", call("exp", call("relu", a))))
    assert operators(made) == ["_fused_pointwise", "BlockGrad"]


def test_a_large_operator_alone_gets_a_kernel_if_it_has_none() -> None:
    (a,) = inputs((256, 256))
    assert operators(fused([a], call("_plus_scalar", a, scalar=1))) == ["_fused_pointwise"]


def test_a_slow_operator_alone_gets_a_kernel_sooner() -> None:
    (a,) = inputs((64, 64))
    assert operators(fused([a], call("sigmoid", a))) == ["_fused_pointwise"]
    assert operators(fused([a], call("_plus_scalar", a, scalar=1))) == ["_plus_scalar"]
    (b,) = inputs((63, 64))
    assert operators(fused([b], call("sigmoid", b))) == ["sigmoid"]


def test_what_is_overwritten_is_read_where_it_was() -> None:
    x, *channels = inputs((4, 2048), *[(2048,)] * 4)
    before = call("square", call("exp", channels[2]))
    y = call("BatchNorm", x, *channels, train=True)
    assert operators(fused([x, *channels], before)) == ["_fused_pointwise"]
    assert operators(fused([x, *channels], before, y)) == ["exp", "square", "BatchNorm"]


def test_at_most_one_random_operator_a_node() -> None:
    (a,) = inputs((32, 64))
    x = call("Dropout", call("relu", a), p=0.5, train=True)
    made = fused([a], call("Dropout", call("tanh", x), p=0.5, train=True))
    assert operators(made) == ["_fused_pointwise_random", "Dropout"]


def test_random_operators_keep_their_order_and_numbers() -> None:
    a, b = inputs((32, 64), (32, 64))
    first = call("Dropout", a, p=0.5, train=True)
    second = call("Dropout", b, p=0.5, train=True)
    # The group of the first one ends behind the second one.
    y = call("tanh", call("relu", second))
    z = call("relu", call("square", first))
    plain = graph([a, b], y, z)
    arrays = [np.ones((32, 64), np.float32)] * 2
    made = lint(fuse_pointwise(plain))
    assert operators(made) == ["_fused_pointwise_random"] * 2
    for got, wanted in zip(run(made, arrays), run(plain, arrays), strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_a_mask_that_the_backward_pass_reads_is_delivered() -> None:
    (a,) = inputs((32, 64))
    node = call("Dropout", call("relu", a), p=0.5, train=True).node
    made = fused([a], Value(node, 0), Value(node, 1))
    assert operators(made) == ["_fused_pointwise_random"]
    assert [value.index for value in made.outputs] == [0, 1]


def test_a_slope_per_channel_and_a_row_of_the_same_vector_differ() -> None:
    a, b = inputs((2, 32, 32), (32,))
    x = call("broadcast_add", a, b)
    made = fused([a, b], call("LeakyReLU", x, b, act_type="prelu", train=True))
    (node,) = [node for node in made.nodes if node.op is not None]
    assert [value.node.name for value in node.inputs] == ["a", "b", "b"]


def test_an_input_of_as_many_bytes_in_another_shape_is_not_overwritten() -> None:
    a = variable("a", spec(1, 32, 32, dtype="float64"))
    x = call("Cast", call("broadcast_to", a, shape=(2, 32, 32)), dtype="float32")
    assert operators(fused([a], call("relu", x))) == ["_fused_pointwise_many"]


def test_nodes_that_nobody_reads_may_be_there() -> None:
    (a,) = inputs((32, 64))
    x = call("relu", call("exp", a))
    made = lint(fuse_pointwise(Graph([a.node], [a], [a.node, x.node.inputs[0].node, x.node])))
    assert made.outputs[0].node is a.node


def test_variables_need_not_be_among_the_nodes() -> None:
    (a,) = inputs((32, 64))
    x = call("relu", call("exp", a))
    made = fuse_pointwise(Graph([a.node], [x], [x.node.inputs[0].node, x.node]))
    assert operators(made) == ["_fused_pointwise"]


def test_kernels_have_a_bounded_number_of_operators() -> None:
    (a,) = inputs((32, 64))
    x = a
    for _ in range(100):
        x = call("_plus_scalar", x, scalar=1)
    made = fused([a], x)
    sizes = [len(node.attrs["program"].instructions) for node in made.nodes if node.op is not None]
    assert sum(sizes) == 100
    assert max(sizes) <= 40


@settings(max_examples=25)
@given(st.data())
def test_random_graphs_keep_their_values(data: st.DataObject) -> None:
    draw = data.draw
    variables = inputs((32, 32), (32, 32), (1, 32))
    values: list[Value] = list(variables[:2])
    for _ in range(draw(st.integers(1, 12))):
        x, y = (values[draw(st.integers(0, len(values) - 1))] for _ in range(2))
        kind = draw(st.sampled_from(["unary", "pair", "row", "dot", "drop"]))
        if kind == "unary":
            made = call(draw(st.sampled_from(["tanh", "relu", "sigmoid", "negative"])), x)
        elif kind == "pair":
            made = call(draw(st.sampled_from(["elemwise_add", "elemwise_mul"])), x, y)
        elif kind == "row":
            made = call("broadcast_sub", x, variables[2])
        elif kind == "dot":
            made = call("tanh", call("dot", x, y))
        else:
            made = call("Dropout", x, p=0.5, train=True)
        values.append(made)
    chosen = draw(st.lists(st.integers(2, len(values) - 1), min_size=1, max_size=3))
    plain = graph(variables, *[values[i] for i in chosen])
    arrays = [
        np.random.default_rng(i).uniform(-1, 1, v.shape).astype(np.float32)
        for i, v in enumerate(variables)
    ]
    with np.errstate(all="ignore"):
        wanted = run(plain, arrays)
        result = lint(fuse_pointwise(plain))
        got = run(result, arrays)
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(a, b)
    programs: list[Program] = [
        node.attrs["program"] for node in result.nodes if "program" in node.attrs
    ]
    for program in programs:
        assert sum(i.op.random for i in program.instructions) <= 1


def test_gpus_join_operators_on_few_elements_as_a_launch_costs_the_same() -> None:
    (x,) = inputs((3,))
    plain = graph([x], call("relu", call("_mul_scalar", x, scalar=2.0)))
    assert operators(fused([x], *plain.outputs)) == ["_mul_scalar", "relu"]
    made = lint(passes.fuse_pointwise(plain, platform="gpu", **SUPPORT.passes()["fuse_pointwise"]))
    assert operators(made) == ["_fused_pointwise"]
