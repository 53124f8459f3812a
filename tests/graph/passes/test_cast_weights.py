"""cast_weights: one operator casts all parameters, and lays out weights of convolutions."""

from typing import Any

from gluonish.core.config import MXNET_DISABLED_GRAPH_PASSES
from gluonish.graph.ir import Graph, Value, lint
from gluonish.graph.passes import cast_weights
from tests.graph.builders import call, graph, inputs, text


def starts(op: Any, attrs: Any, specs: Any, xp: Any) -> bool:
    return op.name == "Convolution"


def passed(variables: list[Value], parameters: list[Value], *outputs: Value) -> str:
    nodes = [value.node for value in parameters]
    made: Graph = lint(cast_weights(graph(variables, *outputs), starts=starts, parameters=nodes))
    return str(made)


def convolution(x: Value, weight: Value) -> Any:
    attrs = {"kernel": weight.shape[2:], "num_filter": weight.shape[0], "no_bias": True}
    return call("Convolution", x, weight, **attrs)


def test_casts_of_parameters_become_one_operator() -> None:
    x, a, b = inputs((2, 3), (3, 3), (3, 3))
    half = [call("amp_cast", value, dtype="float16") for value in (x, a, b)]
    y = call("dot", call("dot", half[0], half[1]), half[2])
    assert passed([x, a, b], [a, b], y) == text(
        """
        %0: float32(2, 3) = variable a
        %1: float16(2, 3) = amp_cast(%0, dtype=float16)
        %2: float32(3, 3) = variable b
        %3: float32(3, 3) = variable c
        %4: float16(3, 3), float16(3, 3) = _cast_weights(%2, %3, num_args=2, dtype=float16)
        %5: float16(2, 3) = dot(%1, %4)
        %6: float16(2, 3) = dot(%5, %4.1)
        return %6
        """
    )


def test_a_single_cast_and_one_between_other_dtypes_stay() -> None:
    x, a, b = inputs((2, 3), (3, 3), (3, 3))
    y = call("dot", call("Cast", x, dtype="float16"), call("Cast", a, dtype="float16"))
    made = graph([x, a, b], y, call("Cast", b, dtype="int32"))
    nodes = [value.node for value in (a, b)]
    assert cast_weights(made, starts=starts, parameters=nodes) is made


def test_weights_whose_layouts_differ_are_laid_out_and_read_by_all_convolutions() -> None:
    x, wide, point = inputs((2, 3, 5, 5), (3, 3, 3, 3), (3, 3, 1, 1))
    y = convolution(convolution(convolution(x, wide), point), wide)
    printed = passed([x, wide, point], [wide, point], y)
    assert printed.count("_cast_weights(%1, num_args=1, dtype=float32)") == 1
    assert "Convolution(%0, %2, kernel=(3, 3)" in printed
    assert "Convolution(%3, %4, kernel=(1, 1)" in printed
    assert "Convolution(%5, %2, kernel=(3, 3)" in printed
    with MXNET_DISABLED_GRAPH_PASSES.override(("channels_last",)):
        assert "_cast_weights" not in passed([x, wide, point], [wide, point], y)


def test_a_cast_weight_of_a_convolution_is_not_cast_twice() -> None:
    x, a, b = inputs((2, 3, 5, 5), (3, 3, 3, 3), (3, 3, 3, 3))
    half = [call("amp_cast", value, dtype="float16") for value in (x, a, b)]
    y = convolution(convolution(half[0], half[1]), half[2])
    printed = passed([x, a, b], [a, b], y)
    assert printed.count("_cast_weights(") == 1
    assert printed.count("amp_cast(") == 1


def test_data_and_what_changes_are_left_alone() -> None:
    x, a, gamma, beta, mean, variance = inputs((2, 3, 5, 5), (3, 3, 3, 3), *[(3,)] * 4)
    y = call("BatchNorm", convolution(x, a), gamma, beta, mean, variance, train=True)
    casts = [call("Cast", value, dtype="float16") for value in (mean, variance)]
    made = graph([x, a, gamma, beta, mean, variance], y, *casts)
    nodes = [value.node for value in (mean, variance)]
    assert cast_weights(made, starts=starts, parameters=nodes) is made
