"""The kernels that multiply, as functions that fill arrays at once."""

from typing import Any

from gluonish.kernels.onednn.convolution import (
    convolution as plan_convolution,
)
from gluonish.kernels.onednn.convolution import (
    convolution_backward_data as plan_backward_data,
)
from gluonish.kernels.onednn.convolution import (
    convolution_backward_weight as plan_backward_weight,
)
from gluonish.kernels.onednn.inner_product import fully_connected as plan_fully_connected
from gluonish.kernels.onednn.matmul import batch_dot
from gluonish.ops.kernel import Array
from gluonish.ops.linalg.matmul import BATCH_DOT
from gluonish.ops.nn.convolution import CONVOLUTION
from gluonish.ops.nn.dense import FULLY_CONNECTED
from tests.kernels.onednn.planned import parsed, run


def _window(attributes: dict[str, Any], weight: Array, *, no_bias: bool = True) -> dict[str, Any]:
    return parsed(CONVOLUTION, num_filter=len(weight), no_bias=no_bias, **attributes)


def convolution(
    out: Array, data: Array, weight: Array, bias: Array | None = None, **attributes: Any
) -> None:
    inputs = [data, weight] if bias is None else [data, weight, bias]
    attrs = _window(attributes, weight, no_bias=bias is None)
    run(plan_convolution, [out], inputs, attrs)


def convolution_backward_data(out: Array, grad: Array, weight: Array, **attributes: Any) -> None:
    run(plan_backward_data, [out], [grad, weight], _window(attributes, weight))


def convolution_backward_weight(
    out: Array, grad: Array, data: Array, bias_out: Array | None = None, **attributes: Any
) -> None:
    outputs = [out] if bias_out is None else [out, bias_out]
    run(plan_backward_weight, outputs, [grad, data], _window(attributes, out))


def fully_connected(out: Array, data: Array, weight: Array, bias: Array | None = None) -> None:
    inputs = [data, weight] if bias is None else [data, weight, bias]
    attrs = parsed(FULLY_CONNECTED, num_hidden=len(weight), no_bias=bias is None)
    run(plan_fully_connected, [out], inputs, attrs)


def matmul(
    out: Array, a: Array, b: Array, *, transpose_a: bool = False, transpose_b: bool = False
) -> None:
    attrs = parsed(BATCH_DOT, transpose_a=transpose_a, transpose_b=transpose_b)
    run(batch_dot, [out], [a, b], attrs)
