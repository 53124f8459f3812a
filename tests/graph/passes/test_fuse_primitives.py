from functools import partial
from typing import Any

import pytest

from gluonish.graph.ir import Graph, Value, lint, variable
from gluonish.graph.passes.fuse_primitives import fuse_primitives
from tests.graph.builders import call, graph, inputs, spec, text


def _convolution(dtype: str = "float32") -> tuple[list[Value], Any]:
    shapes = ((2, 3, 8, 8), (4, 3, 1, 1), (4,), (2, 4, 8, 8))
    variables = [
        variable(name, spec(*shape, dtype=dtype))
        for name, shape in zip("abcd", shapes, strict=True)
    ]
    return variables, call("Convolution", *variables[:3], kernel=(1, 1), num_filter=4)


def _last(made: Graph) -> str:
    """Return how the node of the only output prints, without its inputs' and spec's text."""
    lint(made)
    return str(made).splitlines()[-2].split(" = ")[1]


def test_convolution_sum_and_rectifier_become_one() -> None:
    variables, y = _convolution()
    y = call("Activation", y + variables[3], act_type="relu")
    assert str(lint(fuse_primitives(graph(variables, call("exp", y))))) == text(
        """
        %0: float32(2, 3, 8, 8) = variable a
        %1: float32(4, 3, 1, 1) = variable b
        %2: float32(4,) = variable c
        %3: float32(2, 4, 8, 8) = variable d
        %4: float32(2, 4, 8, 8) = _fused_convolution(%0, %1, %2, %3, kernel=(1, 1), num_filter=4, activation=relu, with_sum=True)
        %5: float32(2, 4, 8, 8) = exp(%4)
        return %5
        """  # noqa: E501 (a printed line)
    )


FUNCTIONS: list[tuple[str, dict[str, Any], str]] = [
    ("relu", {}, "activation=relu"),
    ("sigmoid", {}, "activation=sigmoid"),
    ("tanh", {}, "activation=tanh"),
    ("mish", {}, "activation=mish"),
    ("Activation", {"act_type": "softrelu"}, "activation=softrelu"),
    ("LeakyReLU", {"act_type": "leaky", "slope": 0.1}, "activation=leaky, alpha=0.1"),
    ("LeakyReLU", {"act_type": "elu", "slope": 0.5}, "activation=elu, alpha=0.5"),
    ("LeakyReLU", {"act_type": "selu"}, "activation=selu"),
    ("LeakyReLU", {"act_type": "gelu"}, "activation=gelu"),
    ("LeakyReLU", {"act_type": "gelu_erf"}, "activation=gelu"),
    ("LeakyReLU", {"act_type": "gelu_tanh"}, "activation=gelu_tanh"),
    ("LeakyReLU", {"act_type": "gelu_sigmoid"}, "activation=swish, alpha=1.702"),
    ("clip", {"a_min": 0, "a_max": 6}, "activation=clip, beta=6.0"),
    ("hard_sigmoid", {}, "activation=hard_sigmoid, alpha=0.20000000298023224, beta=0.5"),
]


@pytest.mark.parametrize(("name", "attrs", "printed"), FUNCTIONS)
def test_each_function_is_fused(name: str, attrs: dict[str, Any], printed: str) -> None:
    variables, y = _convolution()
    made = fuse_primitives(graph(variables, call(name, y, **attrs)))
    if name == "hard_sigmoid":
        assert "activation=hard_sigmoid" in _last(made)
    else:
        assert _last(made).endswith(f"num_filter=4, {printed})")


@pytest.mark.parametrize(
    ("name", "attrs"),
    [("Activation", {"act_type": "softsign"}), ("exp", {}), ("_plus_scalar", {"scalar": 1})],
)
def test_other_functions_are_not(name: str, attrs: dict[str, Any]) -> None:
    variables, y = _convolution()
    made = graph(variables, call(name, y, **attrs))
    assert str(fuse_primitives(made)) == str(made)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("factor", [None, 1.5])
def test_swish_is_fused(factor: float | None, order: int) -> None:
    variables, y = _convolution()
    gate = call("sigmoid", y if factor is None else y * factor)
    left, right = (y, gate)[::order]
    printed = _last(fuse_primitives(graph(variables, left * right)))
    assert printed.endswith(f"activation=swish, alpha={factor or 1.0})")
    assert "_fused_convolution(%0, %1, %2" in printed


def test_a_gate_of_something_else_is_no_swish() -> None:
    variables, y = _convolution()
    for product in (y * call("sigmoid", variables[3]), y * call("tanh", y)):
        assert "swish" not in str(fuse_primitives(graph(variables, product)))
    gate = call("sigmoid", y)
    assert "swish" not in str(fuse_primitives(graph(variables, y * gate, gate)))


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_convolutions_the_later_takes_the_sum(order: int) -> None:
    variables, first = _convolution()
    window = {"kernel": (1, 1), "num_filter": 4, "no_bias": True}
    second = call("Convolution", *variables[:2], **window)
    left, right = (first, second)[::order]
    # The nodes come in the order of the sum's inputs.
    printed = str(lint(fuse_primitives(graph(variables, left + right))))
    lines = [line for line in printed.splitlines() if "onvolution(" in line]
    assert [line.split(" = ")[1].split("(")[0] for line in lines] == [
        "Convolution",
        "_fused_convolution",
    ]
    assert ("no_bias=True" in lines[1]) is (order == 1)


def test_what_is_read_twice_stays() -> None:
    variables, y = _convolution()
    for made in (graph(variables, call("relu", y), y), graph(variables, y + y)):
        assert str(fuse_primitives(made)) == str(made)


def test_a_sum_that_broadcasts_stays() -> None:
    variables, y = _convolution()
    vector = variable("e", spec(1, 4, 1, 1))
    made = graph([*variables, vector], y + vector)
    assert str(fuse_primitives(made)) == str(made)


@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_other_dtypes_stay(dtype: str) -> None:
    variables, y = _convolution(dtype)
    made = graph(variables, call("relu", y + variables[3]))
    assert str(fuse_primitives(made)) == str(made)


def test_a_sum_after_the_function_is_not_fused() -> None:
    variables, y = _convolution()
    printed = str(lint(fuse_primitives(graph(variables, call("relu", y) + variables[3]))))
    assert "activation=relu)" in printed
    assert "broadcast_add(" in printed


def test_a_second_function_is_not_fused() -> None:
    variables, y = _convolution()
    printed = str(lint(fuse_primitives(graph(variables, call("tanh", call("relu", y))))))
    assert "activation=relu)" in printed
    assert "= tanh(" in printed


@pytest.mark.parametrize("flatten", [True, False])
def test_dense_layers_are_fused(flatten: bool) -> None:
    x, weight, addend = inputs((5, 7), (3, 7), (5, 3))
    y = call("FullyConnected", x, weight, num_hidden=3, no_bias=True, flatten=flatten)
    made = graph([x, weight, addend], call("sigmoid", addend + y))
    printed = _last(fuse_primitives(made))
    assert printed.startswith("_fused_dense(%1, %2, %0, num_hidden=3, no_bias=True")
    assert printed.endswith("activation=sigmoid, with_sum=True)")


def test_a_stable_weight_is_said_to_be_one() -> None:
    x, weight, bias = inputs((5, 7), (3, 7), (3,))
    y = call("FullyConnected", x, call("exp", weight), bias, num_hidden=3)
    made = graph([x, weight, bias], y)
    assert str(fuse_primitives(made)) == str(made)
    stable = partial(fuse_primitives, constant=[weight.node, bias.node])
    assert _last(stable(made)) == "_fused_dense(%0, %2, %3, num_hidden=3, packed=True)"


def test_a_weight_that_follows_from_data_is_not() -> None:
    x, bias = inputs((5, 7), (5,))
    made = graph([x, bias], call("FullyConnected", x, call("exp", x), bias, num_hidden=5))
    assert str(fuse_primitives(made, constant=[bias.node])) == str(made)


def test_training_fuses_what_has_a_gradient_by_its_output() -> None:
    variables, y = _convolution()
    for name, attrs, _ in FUNCTIONS:
        made = fuse_primitives(graph(variables, call(name, y, **attrs)), train=True)
        kind = attrs.get("act_type", name)
        assert ("_fused" in str(made)) is (kind in ("relu", "sigmoid", "softrelu", "tanh"))


def test_training_fuses_sums() -> None:
    variables, y = _convolution()
    made = fuse_primitives(graph(variables, y + variables[3]), train=True)
    assert _last(made).endswith("with_sum=True)")


def test_the_graph_that_came_in_stays_as_it_was() -> None:
    variables, y = _convolution()
    made = graph(variables, call("relu", y))
    printed = str(made)
    fuse_primitives(made)
    assert str(made) == printed


def test_a_back_end_chooses_layers_dtypes_and_functions() -> None:
    variables, y = _convolution()
    layers = graph(variables, call("relu", y))
    one = partial(fuse_primitives, layers=("Convolution",))
    assert "_fused_convolution" in str(one(layers))
    assert "_fused_convolution" not in str(one(layers, dtypes=()))
    assert "_fused_convolution" not in str(one(layers, functions=("tanh",)))
    assert "_fused_convolution" not in str(one(layers, train=True, inference_only=True))
    assert "_fused_convolution" in str(one(layers, inference_only=True))
    halves, z = _convolution("float16")
    assert "_fused_convolution" in str(one(graph(halves, call("relu", z)), dtypes=("float16",)))
    a, b, c = inputs((2, 3), (4, 3), (4,))
    dense = graph([a, b, c], call("relu", call("FullyConnected", a, b, c, num_hidden=4)))
    assert "_fused_dense" in str(fuse_primitives(dense))
    nodes = [value.node for value in (b, c)]
    assert one(dense) is dense
    assert "_fused_dense" not in str(
        one(graph([*variables, a, b, c], y, dense.outputs[0]), constant=nodes)
    )
