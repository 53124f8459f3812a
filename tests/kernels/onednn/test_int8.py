"""oneDNN's layers on bytes against the reference kernels, for all dtypes and odd layouts."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from gluonish.core.spec import Spec
from gluonish.kernels.onednn import Backend, register
from gluonish.kernels.onednn.register_int8 import KERNELS
from gluonish.ops.kernel import RefusedError
from gluonish.ops.quantization.layers import INT8_CONVOLUTION, INT8_DENSE
from gluonish.ops.quantization.range_preserving import INT8_POOLING
from gluonish.ops.quantization.scales import INT8_QUANTIZE
from gluonish.ops.registry import Operator

pytestmark = pytest.mark.skipif(not register.enabled(), reason="there is no oneDNN here")
BYTES = (np.int8, np.uint8)


@pytest.fixture(autouse=True, params=["bytes", "float32"])
def _form(request: pytest.FixtureRequest, backend: Backend) -> None:
    """Compute with the processor's products of bytes, and as on processors without VNNI."""
    api = backend.engine.api
    if request.param == "bytes" and not api.exact_int8:
        pytest.skip("this processor has no VNNI, so the library's sums of bytes saturate")
    api.exact_int8 = request.param == "bytes"


def numbers(dtype: Any, shape: Sequence[int], seed: int = 0) -> Any:
    limits = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(limits.min, limits.max + 1, shape, dtype)


def channels_last(array: Any) -> Any:
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 1, -1)), -1, 1)


def kernel_of(op: Operator) -> Any:
    return next(kernel for own, kernel in KERNELS if own is op)


def run(op: Operator, out: Any, inputs: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """Fill ``out`` with oneDNN, and return what the reference kernel gives."""
    bound = kernel_of(op).plan((out,), inputs, attrs)
    arrays = (out, *inputs)
    used = range(len(arrays)) if bound.operands is None else bound.operands
    bound.plan.run(*(arrays[i] for i in used))
    expected = np.empty(out.shape, out.dtype)
    op.kernel(np, expected, *inputs, **attrs)
    return expected


def same(found: Any, expected: Any) -> None:
    """Check for equality, but for halves that float32 rounds to the other side."""
    if found.dtype == np.float32:
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-4)
        return
    off = np.abs(found.astype(np.int64) - expected.astype(np.int64))
    assert off.max(initial=0) <= 1 + np.abs(expected.astype(np.float64)).max() * 1e-6
    if found.dtype != np.int32:
        assert (off > 0).mean() < 0.01


CONVOLUTIONS = [
    ((2, 8, 9, 7), 16, {"kernel": (3, 3), "pad": (1, 1)}),
    ((1, 3, 11, 11), 5, {"kernel": (3, 3), "stride": (2, 2)}),
    ((2, 16, 6, 6), 32, {"kernel": (1, 1)}),
    ((1, 16, 8, 8), 16, {"kernel": (3, 3), "pad": (1, 1), "num_group": 16}),
    ((1, 12, 8, 8), 8, {"kernel": (3, 3), "pad": (1, 1), "num_group": 4}),
    ((1, 4, 9, 9), 7, {"kernel": (3, 3), "dilate": (2, 2)}),
    ((1, 5, 4, 5, 6), 6, {"kernel": (2, 2, 2)}),
    ((3, 1, 5, 5), 1, {"kernel": (5, 5)}),
]


def convolution(
    case: Any, data_type: Any, out_type: str, **more: Any
) -> tuple[list[Any], dict[str, Any]]:
    shape, channels, window = case
    schema = INT8_CONVOLUTION.schema
    attrs = {**schema.defaults, "num_filter": channels, "out_type": out_type, **window, **more}
    groups = attrs["num_group"]
    generator = np.random.default_rng(1)
    weight = numbers(np.int8, (channels, shape[1] // groups, *attrs["kernel"]), 2)
    data = numbers(data_type, shape, 3)
    fan = weight[0].size * 127 * 127
    scale = generator.uniform(0.5, 2, channels).astype(np.float32) * np.float32(8 / fan)
    bias = generator.uniform(-1, 1, channels).astype(np.float32)
    step = np.array([0.01], np.float32)
    return [data, weight, scale, bias, step], attrs


def output_of(inputs: Sequence[Any], attrs: dict[str, Any], op: Operator) -> Any:
    (spec,) = op.infer(*(Spec(x.shape, x.dtype) for x in inputs), **attrs)
    return np.empty(spec.shape, spec.dtype)


@pytest.mark.parametrize("out_type", ["float32", "int8", "uint8", "int32"])
@pytest.mark.parametrize("data_type", BYTES)
@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_convolution(case: Any, data_type: Any, out_type: str) -> None:
    inputs, attrs = convolution(case, data_type, out_type)
    if out_type == "float32":
        inputs[4][:] = 1
    out = output_of(inputs, attrs, INT8_CONVOLUTION)
    same(out, run(INT8_CONVOLUTION, out, inputs, attrs))


@pytest.mark.parametrize("last", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_convolution_with_channels_last(case: Any, last: tuple[bool, bool]) -> None:
    inputs, attrs = convolution(case, np.uint8, "int8", activation="relu")
    out = output_of(inputs, attrs, INT8_CONVOLUTION)
    if last[0]:
        inputs[0] = channels_last(inputs[0])
    if last[1]:
        out = channels_last(out)
    same(out, run(INT8_CONVOLUTION, out, inputs, attrs))


@pytest.mark.parametrize("out_type", ["int8", "uint8"])
@pytest.mark.parametrize("sum_type", BYTES)
@pytest.mark.parametrize("data_type", BYTES)
def test_convolution_with_sum(data_type: Any, sum_type: Any, out_type: str) -> None:
    more = {"with_sum": True, "activation": "relu"}
    inputs, attrs = convolution(CONVOLUTIONS[0], data_type, out_type, **more)
    out = channels_last(np.empty((2, 16, 9, 7), out_type))
    inputs[4][:] = 1.7
    inputs[2] *= 100
    inputs.append(channels_last(numbers(sum_type, out.shape, 5)))
    same(out, run(INT8_CONVOLUTION, out, inputs, attrs))


@pytest.mark.parametrize(
    ("activation", "numbers_of_it"),
    [
        ("relu", (0, 0)),
        ("clip", (0, 0.5)),
        ("leaky", (0.2, 0)),
        ("gelu", (0, 0)),
        ("gelu_tanh", (0, 0)),
        ("elu", (1, 0)),
    ],
)
def test_functions(activation: str, numbers_of_it: tuple[float, float]) -> None:
    alpha, beta = numbers_of_it
    more = {"activation": activation, "alpha": alpha, "beta": beta}
    inputs, attrs = convolution(CONVOLUTIONS[0], np.int8, "int8", **more)
    out = output_of(inputs, attrs, INT8_CONVOLUTION)
    same(out, run(INT8_CONVOLUTION, out, inputs, attrs))


@pytest.mark.parametrize("out_type", ["float32", "int8", "uint8", "int32"])
@pytest.mark.parametrize("data_type", BYTES)
@pytest.mark.parametrize("shape", [(5, 7), (1, 64), (33, 48), (2, 3, 20)])
def test_dense(shape: tuple[int, ...], data_type: Any, out_type: str) -> None:
    attrs = {**INT8_DENSE.schema.defaults, "num_hidden": 11, "flatten": False}
    attrs["out_type"] = out_type
    data = numbers(data_type, shape)
    weight = numbers(np.int8, (11, shape[-1]), 1)
    generator = np.random.default_rng(2)
    scale = generator.uniform(1, 2, 11).astype(np.float32) / np.float32(127 * 127 * shape[-1])
    bias = generator.uniform(-1, 1, 11).astype(np.float32)
    step = np.array([1 if out_type == "float32" else 0.01], np.float32)
    inputs = [data, weight, scale, bias, step]
    out = output_of(inputs, attrs, INT8_DENSE)
    same(out, run(INT8_DENSE, out, inputs, attrs))


@pytest.mark.parametrize("dtype", BYTES)
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize(
    "window",
    [
        {"kernel": (2, 2), "stride": (2, 2), "pool_type": "max"},
        {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1), "pool_type": "max"},
        {"kernel": (3, 3), "pool_type": "avg"},
        {"kernel": (1, 1), "pool_type": "avg", "global_pool": True},
    ],
)
def test_pooling(window: dict[str, Any], last: bool, dtype: Any) -> None:
    attrs = {**INT8_POOLING.schema.defaults, **window}
    inputs = [numbers(dtype, (2, 6, 9, 8))]
    out = output_of(inputs, attrs, INT8_POOLING)
    if last:
        inputs[0], out = channels_last(inputs[0]), channels_last(out)
    expected = run(INT8_POOLING, out, inputs, attrs)
    if window["pool_type"] == "max":
        np.testing.assert_array_equal(out, expected)
    else:
        assert np.abs(out.astype(int) - expected.astype(int)).max() <= 1  # halves


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("out_type", ["int8", "uint8"])
def test_quantize(out_type: str, last: bool) -> None:
    data = np.random.default_rng(4).normal(size=(2, 3, 20, 17)).astype(np.float32)
    out = np.empty(data.shape, out_type)
    if last:
        out = channels_last(out)
    scale = np.array([63.7], np.float32)
    expected = run(INT8_QUANTIZE, out, [data, scale], {"out_type": out_type})
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("kernel", [(2, 2, 2), (4, 2, 1), (8, 1, 1)])
def test_windows_that_the_library_computes_wrongly_are_refused_or_right(kernel: Any) -> None:
    case = ((1, 8, 9, 9, 9), 8, {"kernel": kernel, "num_group": 8})
    inputs, attrs = convolution(case, np.int8, "int32")
    out = output_of(inputs, attrs, INT8_CONVOLUTION)
    try:
        expected = run(INT8_CONVOLUTION, out, inputs, attrs)
    except RefusedError as error:
        assert "gemm_s8s8s32" in str(error)  # noqa: PT017  # other processors take another kernel
    else:
        same(out, expected)


def test_other_layouts_are_refused() -> None:
    inputs, attrs = convolution(CONVOLUTIONS[2], np.int8, "int8")
    attrs["layout"] = "NHWC"
    with pytest.raises(RefusedError, match="expected channels in axis 1"):
        kernel_of(INT8_CONVOLUTION).plan((np.empty((2, 32, 6, 6), np.int8),), inputs, attrs)
