from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.config import MXNET_DISABLED_GRAPH_PASSES
from gluonish.core.spec import Spec
from gluonish.gluon import nn
from gluonish.graph.ir import Value, lint, variable
from gluonish.graph.passes.move_strides import move_strides
from tests.graph.builders import call, graph, inputs, text


def _convolution(x: Value, weight: Value, stride: int = 1, **attrs: Any) -> Any:
    rank = len(weight.spec.shape) - 2
    window = {"kernel": weight.spec.shape[2:], "stride": (stride,) * rank}
    return call(
        *("Convolution", x, weight),
        **{**window, "num_filter": weight.spec.shape[0], "no_bias": True, **attrs},
    )


def _moved(variables: list[Value], *outputs: Value) -> str:
    return str(lint(move_strides(graph(variables, *outputs))))


def _strides(printed: str) -> list[str]:
    """The strides of the convolutions of a printed graph, in order."""
    lines = [line for line in printed.splitlines() if "Convolution(" in line]
    return [line.partition("stride=")[2].partition(")")[0] + ")" for line in lines]


def test_layers_of_a_residual_stage_compute_what_the_next_one_reads() -> None:
    variables = inputs((2, 8, 7, 7), (4, 8, 3, 3), (8, 4, 1, 1), (16, 8, 1, 1))
    x, first, second, third = variables
    y = call("relu", _convolution(x, first, pad=(1, 1)))
    y = call("relu", call("elemwise_add", _convolution(y, second), x))
    made = _moved(variables, *(_convolution(y, third, 2) for _ in range(2)))
    assert made == text(
        """
        %0: float32(2, 8, 7, 7) = variable a
        %1: float32(4, 8, 3, 3) = variable b
        %2: float32(2, 4, 4, 4) = Convolution(%0, %1, kernel=(3, 3), stride=(2, 2), pad=(1, 1), num_filter=4, no_bias=True)
        %3: float32(2, 4, 4, 4) = relu(%2)
        %4: float32(8, 4, 1, 1) = variable c
        %5: float32(2, 8, 4, 4) = Convolution(%3, %4, kernel=(1, 1), stride=(1, 1), num_filter=8, no_bias=True)
        %6: float32(2, 8, 4, 4) = Pooling(%0, kernel=(1, 1), stride=(2, 2))
        %7: float32(2, 8, 4, 4) = elemwise_add(%5, %6)
        %8: float32(2, 8, 4, 4) = relu(%7)
        %9: float32(16, 8, 1, 1) = variable d
        %10: float32(2, 16, 4, 4) = Convolution(%8, %9, kernel=(1, 1), stride=(1, 1), num_filter=16, no_bias=True)
        %11: float32(2, 16, 4, 4) = Convolution(%8, %9, kernel=(1, 1), stride=(1, 1), num_filter=16, no_bias=True)
        return %10, %11
        """  # noqa: E501 (printed lines)
    )


def _one_reader(x: Value, first: Value, last: Value) -> list[Value]:
    return [_convolution(call("relu", _convolution(x, first)), last, 2)]


def _own_stride(x: Value, first: Value, last: Value) -> list[Value]:
    return [_convolution(_convolution(x, first, 3), last, 2)]


def _two_strides(x: Value, first: Value, last: Value) -> list[Value]:
    y = _convolution(x, first)
    return [_convolution(y, last, 2), _convolution(y, last, 3)]


def _another_reader(x: Value, first: Value, last: Value) -> list[Value]:
    y = _convolution(x, first)
    return [_convolution(y, last, 2), call("sum", y)]


def _delivered(x: Value, first: Value, last: Value) -> list[Value]:
    y = _convolution(x, first)
    return [_convolution(y, last, 2), y]


def _padded(x: Value, first: Value, last: Value) -> list[Value]:
    return [_convolution(_convolution(x, first), last, 2, pad=(1, 1))]


def _wide_window(x: Value, first: Value, last: Value) -> list[Value]:
    return [_convolution(_convolution(x, first), first, 2)]


def _by_place(x: Value, first: Value, last: Value) -> list[Value]:
    y = _convolution(x, first)
    return [_convolution(call("broadcast_add", y, call("sum", y, axis=(0, 1, 2))), last, 2)]


def _no_convolution_before(x: Value, first: Value, last: Value) -> list[Value]:
    return [_convolution(call("relu", x), last, 2)]


@pytest.mark.parametrize(
    ("make", "strides"),
    [
        (_one_reader, ["(2, 2)", "(1, 1)"]),
        (_own_stride, ["(6, 6)", "(1, 1)"]),
        (_two_strides, ["(1, 1)", "(2, 2)", "(3, 3)"]),
        (_another_reader, ["(1, 1)", "(2, 2)"]),
        (_delivered, ["(1, 1)", "(2, 2)"]),
        (_padded, ["(1, 1)", "(2, 2)"]),
        (_wide_window, ["(1, 1)", "(2, 2)"]),
        (_by_place, ["(1, 1)", "(2, 2)"]),
        (_no_convolution_before, ["(2, 2)"]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_strides_move_where_all_readers_agree(make: Any, strides: list[str]) -> None:
    variables = inputs((1, 4, 15, 15), (4, 4, 3, 3), (4, 4, 1, 1))
    assert _strides(_moved(variables, *make(*variables))) == strides


def test_channels_at_the_end_are_left_alone() -> None:
    variables = inputs((1, 9, 9, 4), (4, 3, 3, 4), (4, 1, 1, 4))
    x, first, last = variables
    window = {"num_filter": 4, "no_bias": True, "layout": "NHWC"}
    y = call("Convolution", x, first, kernel=(3, 3), **window)
    y = call("Convolution", y, last, kernel=(1, 1), stride=(2, 2), **window)
    before = graph(variables, y)
    assert move_strides(before) is before


def test_bytes_that_a_layer_adds_are_picked_as_bytes() -> None:
    x, weight = (variable(n, Spec(s, np.dtype(np.int8))) for n, s in _BYTES.items())
    vectors = inputs((4,), (4,), (1,))
    attrs = {"kernel": (1, 1), "num_filter": 4, "out_type": "int8"}
    y = call("_int8_convolution", x, weight, *vectors, x, **attrs, with_sum=True)
    z = call("_int8_convolution", y, weight, *vectors, **attrs, stride=(2, 2))
    printed = _moved([x, weight, *vectors], z)
    assert "int8(2, 4, 4, 4) = _int8_pooling(%0, kernel=(1, 1), stride=(2, 2))" in printed
    lines = [line for line in printed.splitlines() if "_int8_convolution" in line]
    assert ["stride=(2, 2)" in line for line in lines] == [True, False]


_BYTES = {"x": (2, 4, 7, 7), "weight": (4, 4, 1, 1)}


class _Stage(mx.gluon.HybridBlock):
    """Two residual layers, of which the second has strides, over so many axes."""

    def __init__(self, axes: int) -> None:
        super().__init__()
        kind = (nn.Conv1D, nn.Conv2D, nn.Conv3D)[axes - 1]
        with self.name_scope():
            self.first = kind(8, 3, padding=1, in_channels=8)
            self.norm = nn.BatchNorm(in_channels=8)
            self.second = kind(8, 1, in_channels=8)
            self.third = kind(8, 1, strides=2, in_channels=8)
            self.shortcut = kind(8, 1, strides=2, in_channels=8)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        x = F.relu(self.second(F.relu(self.norm(self.first(x)))) + x)
        return F.relu(self.third(x)) + self.shortcut(x)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("shape", [(2, 8, 9), (2, 8, 8, 11), (1, 8, 5, 6, 7)], ids=str)
def test_networks_give_what_they_gave(shape: tuple[int, ...], dtype: str) -> None:
    mx.random.seed(3)
    net = _Stage(len(shape) - 2)
    net.initialize(mx.init.Normal(0.3))
    net.cast(dtype)
    x = mx.nd.random.normal(shape=shape).astype(dtype)
    eager = net(x).astype("float32").asnumpy()
    found = []
    for disabled in (("move_strides",), ()):
        with MXNET_DISABLED_GRAPH_PASSES.override(disabled):
            net.hybridize()
            found.append(net(x).astype("float32").asnumpy())
    precision = 2e-6 if dtype in ("float32", "float64") else 2e-2
    for got in found:
        np.testing.assert_allclose(got, eager, rtol=precision, atol=precision * abs(eager).max())
