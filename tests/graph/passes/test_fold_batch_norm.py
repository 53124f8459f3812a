from typing import Any

import pytest

from gluonish.graph.ir import Value, lint
from gluonish.graph.passes.fold_batch_norm import fold_batch_norm
from tests.graph.builders import call, graph, inputs, text


def _layer(train: bool = False, **attrs: Any) -> tuple[list[Value], Any, Any]:
    """Variables, a convolution without bias, and its normalization."""
    variables = inputs((2, 3, 8, 8), (4, 3, 3, 3), (4,), (4,), (4,), (4,))
    x, weight, *statistics = variables
    made = call("Convolution", x, weight, kernel=(3, 3), num_filter=4, no_bias=True)
    return variables, made, call("BatchNorm", made, *statistics, train=train, **attrs)


def test_a_normalization_after_a_convolution_goes_into_its_weight() -> None:
    variables, _, y = _layer(fix_gamma=False, eps=1e-5)
    assert str(lint(fold_batch_norm(graph(variables, y)))) == text(
        """
        %0: float32(2, 3, 8, 8) = variable a
        %1: float32(4, 3, 3, 3) = variable b
        %2: float32(4,) = variable c
        %3: float32(4,) = variable d
        %4: float32(4,) = variable e
        %5: float32(4,) = variable f
        %6: float32(4, 3, 3, 3), float32(4,) = _fold_batch_norm(%1, %2, %3, %4, %5, eps=1e-05, fix_gamma=False, no_bias=True)
        %7: float32(2, 4, 6, 6) = Convolution(%0, %6, %6.1, kernel=(3, 3), num_filter=4)
        return %7
        """  # noqa: E501 (a printed line)
    )


def test_one_that_rectifies_leaves_the_rectifier() -> None:
    variables, made, _ = _layer()
    y = call("_contrib_BatchNormWithReLU", made, *variables[2:], train=False)
    printed = str(lint(fold_batch_norm(graph(variables, y))))
    assert "BatchNorm" not in printed
    assert printed.endswith("Activation(%7, act_type=relu)\nreturn %8")


@pytest.mark.parametrize("flatten", [True, False])
def test_a_dense_layer_with_a_bias(flatten: bool) -> None:
    x, weight, bias, *statistics = inputs((2, 8), (4, 8), (4,), (4,), (4,), (4,), (4,))
    y = call("FullyConnected", x, weight, bias, num_hidden=4, flatten=flatten)
    y = call("BatchNorm", y, *statistics, train=False, axis=-1)
    made = graph([x, weight, bias, *statistics], y)
    printed = str(lint(fold_batch_norm(made)))
    assert "_fold_batch_norm(%1, %2, %3, %4, %5, %6)" in printed
    assert "FullyConnected(%0, %7, %7.1, num_hidden=4" in printed
    assert "BatchNorm(" not in printed


@pytest.mark.parametrize(("axis", "is_folded"), [(3, True), (-1, True), (1, False)])
def test_a_layout_that_ends_in_c_has_its_channels_last(axis: int, is_folded: bool) -> None:
    x, weight, *statistics = inputs((2, 4, 8, 3), (4, 1, 1, 3), (4,), (4,), (4,), (4,))
    window = {"kernel": (1, 1), "num_filter": 4, "no_bias": True, "layout": "NHWC"}
    y = call("Convolution", x, weight, **window)
    made = graph(
        [x, weight, *statistics], call("BatchNorm", y, *statistics, axis=axis, train=False)
    )
    assert ("_fold_batch_norm" in str(lint(fold_batch_norm(made)))) is is_folded


def test_fixed_statistics_in_training_are_folded() -> None:
    variables, _, y = _layer(train=True, use_global_stats=True)
    assert "_fold_batch_norm" in str(lint(fold_batch_norm(graph(variables, y))))


def test_a_normalization_in_training_stays() -> None:
    variables, _, y = _layer(train=True)
    made = graph(variables, y)
    assert str(fold_batch_norm(made)) == str(made)


def test_a_convolution_that_something_else_reads_stays() -> None:
    variables, inner, y = _layer()
    for made in (graph(variables, y, inner), graph(variables, y, call("exp", inner))):
        assert str(fold_batch_norm(made)) == str(made)


def test_statistics_that_are_read_keep_the_normalization() -> None:
    variables, _, outputs = _layer(output_mean_var=True)
    made = graph(variables, outputs[0], outputs[1])
    assert str(fold_batch_norm(made)) == str(made)


def test_a_normalization_along_another_axis_stays() -> None:
    variables = inputs((2, 3, 6, 6), (4, 3, 3, 3), (4,), (4,), (4,), (4,))
    x, weight, *statistics = variables
    y = call("Convolution", x, weight, kernel=(3, 3), num_filter=4, no_bias=True)
    made = graph(variables, call("BatchNorm", y, *statistics, axis=2, train=False))
    assert str(fold_batch_norm(made)) == str(made)


def test_a_normalization_before_a_convolution_stays() -> None:
    variables = inputs((2, 4, 6, 6), (4, 4, 3, 3), (4,), (4,), (4,), (4,))
    x, weight, *statistics = variables
    y = call("BatchNorm", x, *statistics, train=False)
    y = call("Convolution", y, weight, kernel=(3, 3), num_filter=4, no_bias=True)
    made = graph(variables, y)
    assert str(fold_batch_norm(made)) == str(made)
