"""Convolutions by cuDNN on a real device: values, equal bits, and that it was cuDNN."""

from collections.abc import Callable
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.config import MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION
from gluonish.core.device import device_of
from gluonish.kernels.cupy import libraries
from gluonish.kernels.cupy.cudnn import CuDNN, opened
from gluonish.kernels.cupy.cudnn_graph import Problem
from gluonish.ops.nn.convolution import CONVOLUTION
from tests.checking.values import spec_of

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(300)]

GPU = mx.gpu(0)
# Largest norms of errors by that of the result. Products of float32 are exact, but engines may
# transform windows (Winograd).
LIMITS = {"float32": 1e-4, "float16": 2e-3, "bfloat16": 1e-2}
ROUNDED = 3e-3  # of float32 to TensorFloat-32


class Case(NamedTuple):
    """A layer with its data and its weight, in shapes of channels first."""

    data: tuple[int, ...]
    weight: tuple[int, ...]
    attrs: dict[str, Any]
    transposed: bool = False


def case(data: tuple[int, ...], weight: tuple[int, ...], **attrs: Any) -> Case:
    """Return a convolution."""
    return Case(data, weight, {"kernel": weight[2:], "num_filter": weight[0], **attrs})


def transposed(data: tuple[int, ...], weight: tuple[int, ...], **attrs: Any) -> Case:
    """Return a deconvolution in one group."""
    known = {"kernel": weight[2:], "num_filter": weight[1], **attrs}
    return Case(data, weight, known, transposed=True)


CASES = {
    "3x3": case((4, 16, 14, 14), (32, 16, 3, 3), pad=(1, 1)),
    "3x3 of stride 2": case((4, 16, 15, 14), (32, 16, 3, 3), stride=(2, 2), pad=(1, 1)),
    "1x1": case((4, 32, 14, 14), (16, 32, 1, 1)),
    "1x1 of stride 2": case((4, 32, 14, 14), (16, 32, 1, 1), stride=(2, 2)),
    "7x7 of stride 2": case((2, 3, 32, 32), (16, 3, 7, 7), stride=(2, 2), pad=(3, 3)),
    "dilated": case((2, 8, 17, 17), (8, 8, 3, 3), dilate=(2, 3), pad=(2, 1)),
    "uneven": case((3, 5, 9, 8), (7, 5, 3, 2), stride=(2, 1), pad=(0, 1)),
    "4 groups": case((4, 16, 14, 14), (32, 4, 3, 3), num_group=4, pad=(1, 1)),
    "depthwise": case((4, 16, 14, 14), (16, 1, 3, 3), num_group=16, pad=(1, 1)),
    "depthwise of stride 2": case(
        (4, 16, 14, 14), (16, 1, 5, 5), num_group=16, stride=(2, 2), pad=(2, 2)
    ),
    "whole": case((4, 8, 7, 7), (10, 8, 7, 7)),
    "one number": case((1, 1, 1, 1), (1, 1, 1, 1)),
    "rows": case((4, 8, 50), (16, 8, 5), stride=(2,), pad=(2,), dilate=(2,)),
    "space": case((2, 4, 6, 7, 8), (8, 4, 3, 3, 3), pad=(1, 1, 1)),
    "space in groups": case(
        (2, 4, 6, 7, 8), (6, 2, 3, 2, 2), num_group=2, stride=(2, 1, 2), pad=(1, 0, 1)
    ),
    "transposed": transposed((4, 16, 7, 7), (16, 8, 4, 4), stride=(2, 2), pad=(1, 1)),
    "transposed with adj": transposed(
        (2, 6, 5, 6), (6, 4, 3, 3), stride=(2, 2), pad=(1, 1), adj=(1, 1)
    ),
}


@pytest.fixture(scope="module")
def cudnn() -> CuDNN:
    """What convolutions go by; a device without it fails here, with the reason."""
    xp: Any = device_of(GPU).xp
    found = opened(xp)
    if found is None:
        libraries.load_front_end()
    assert found is not None
    return found


def _values(case: Case, dtype: str, bias: bool) -> list[np.ndarray]:
    random = np.random.default_rng(17)
    shapes = [case.data, case.weight, (case.attrs["num_filter"],)][: 2 + bias]
    kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
    return [random.standard_normal(shape).astype(kind) for shape in shapes]


def _run(case: Case, values: list[np.ndarray], context: mx.Context, dtype: str) -> list[Any]:
    """Return output and gradients of a layer, for a head that follows from the output's shape."""
    inputs = [nd.array(x.astype(np.float64), context, "float64").astype(dtype) for x in values]
    for x in inputs:
        x.attach_grad()
    function: Callable[..., Any] = nd.Deconvolution if case.transposed else nd.Convolution
    with autograd.record():
        y = function(*inputs, **case.attrs, no_bias=len(values) == 2)
    head = np.random.default_rng(18).standard_normal(y.shape)
    rounded = head.astype(values[0].dtype).astype(np.float64)
    y.backward(nd.array(rounded, context, "float64").astype(dtype))
    return [z.asnumpy() for z in (y, *(x.grad for x in inputs))]


def _error(got: Any, want: Any) -> float:
    difference = got.astype(np.float64) - want
    return float(np.linalg.norm(difference)) / max(float(np.linalg.norm(want)), 1e-30)


def _errors(got: list[Any], want: list[Any]) -> list[float]:
    return [_error(one, other) for one, other in zip(got, want, strict=True)]


def _planned(cudnn: CuDNN) -> list[Problem]:
    """Return the convolutions that cuDNN computes; other tests leave plans of other kinds."""
    plans = cudnn.plans.items()
    return [key for (_, key), plan in plans if isinstance(key, Problem) and plan is not None]


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("dtype", LIMITS)
@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_float64_and_equal_runs_give_equal_bits(
    cudnn: CuDNN, name: str, dtype: str, bias: bool
) -> None:
    layer = CASES[name]
    values = _values(layer, dtype, bias)
    want = _run(layer, values, mx.cpu(), "float64")
    first, second = (_run(layer, values, GPU, dtype) for _ in range(2))
    errors = _errors(first, want)
    assert max(errors) < LIMITS[dtype], errors
    for one, other in zip(first, second, strict=True):
        assert one.tobytes() == other.tobytes()
    # It was cuDNN: there are plans for the three, and what has a plan runs by it.
    shapes = (want[0].shape, layer.data) if layer.transposed else (layer.data, want[0].shape)
    kinds = {
        problem.kind
        for problem in _planned(cudnn)
        if (problem.data, problem.out, problem.weight) == (*shapes, layer.weight)
        and problem.dtype == values[0].dtype
    }
    assert kinds == {"forward", "data", "weight"}


@pytest.mark.parametrize("dtype", LIMITS)
@pytest.mark.parametrize("kernel", [(1, 1), (3, 3)])
def test_channels_may_be_last(cudnn: CuDNN, dtype: str, kernel: tuple[int, ...]) -> None:
    first = case((4, 16, 14, 13), (32, 16, *kernel))
    values = _values(first, dtype, True)
    want = _run(first, values, mx.cpu(), "float64")[0]
    moved = [np.moveaxis(x, 1, -1).copy() if x.ndim > 1 else x for x in values]
    last = first._replace(attrs={**first.attrs, "layout": "NHWC"})
    got = _run(last, moved, GPU, dtype)[0]
    assert _error(np.moveaxis(got, -1, 1), want) < LIMITS[dtype]
    assert any(problem.last for problem in _planned(cudnn))


def test_float32_is_rounded_only_where_that_is_allowed(cudnn: CuDNN) -> None:
    layer = case((8, 64, 28, 28), (64, 64, 3, 3), pad=(1, 1))
    values = _values(layer, "float32", False)
    want = _run(layer, values, mx.cpu(), "float64")
    exact = _errors(_run(layer, values, GPU, "float32"), want)
    with MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION.override(True):
        rounded = _errors(_run(layer, values, GPU, "float32"), want)
    assert max(exact) < 5e-5, exact
    assert max(rounded) < ROUNDED, rounded
    assert max(rounded) > max(exact)


def test_cudnn_may_be_left_out(cudnn: CuDNN) -> None:
    layer = case((4, 16, 12, 11), (32, 16, 3, 3), cudnn_off=True)
    values = _values(layer, "float32", True)
    count = len(cudnn.plans)
    errors = _errors(_run(layer, values, GPU, "float32"), _run(layer, values, mx.cpu(), "float64"))
    assert max(errors) < 1e-5, errors
    assert len(cudnn.plans) == count


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("offset", [0, 1])
def test_a_graph_replays_it_wherever_arrays_lie(cudnn: CuDNN, dtype: str, offset: int) -> None:
    device: Any = device_of(GPU)
    xp, stream = device.xp, device.compute.raw
    layer = case((4, 16, 14, 14), (32, 16, 3, 3), pad=(1, 1))
    values = _values(layer, dtype, False)
    attrs = CONVOLUTION.schema.parse("Convolution", {**layer.attrs, "no_bias": True})
    kernel = CONVOLUTION.select_kernel("gpu", [spec_of(x) for x in values], attrs)

    def place(x: np.ndarray) -> Any:
        flat = xp.empty(x.size + offset, x.dtype)
        array = flat[offset:].reshape(x.shape)
        array[...] = xp.asarray(x)
        return array

    with xp.cuda.Device(0), stream:
        data, weight = map(place, values)
        out, again = (place(np.zeros((4, 32, 14, 14), dtype)) for _ in range(2))
        kernel(xp, out, data, weight, **attrs)
        stream.synchronize()
        stream.begin_capture()
        kernel(xp, again, data, weight, **attrs)
        graph = stream.end_capture()
        data *= 2
        again.fill(0)
        graph.launch(stream)
        stream.synchronize()
        single, double = out.get(), again.get()
    # Twice a float is exact, and so is twice a sum, but next to zero.
    np.testing.assert_allclose(double.astype(float), 2 * single.astype(float), rtol=0, atol=2e-7)
    want = _run(layer, values, mx.cpu(), "float64")[0]
    assert _error(single, want) < LIMITS[dtype]
