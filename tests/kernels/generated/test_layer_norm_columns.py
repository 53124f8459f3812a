"""LayerNorm over an axis that is not the last one: near float64, and equal for any threads."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gluonish as mx
from gluonish.kernels import openmp
from gluonish.kernels.compiler import available
from gluonish.ops.kernel import RefusedError
from gluonish.ops.normalization.layer_norm import LAYER_NORM, LAYER_NORM_BACKWARD
from tests.checking.values import run_kernel, spec_of

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not there")

EPS = 1e-5
# One tile, several in a row with a rest, one sample with several tiles, an axis of 1, long axes.
CASES = [
    ((3, 5, 9), 1),
    ((2, 7, 4, 50), 1),
    ((2, 7, 4, 50), -2),
    ((300, 700), 0),
    ((2, 1, 33), 1),
    ((2, 3000, 130), 1),
    ((40, 64, 28, 28), 1),
]


def _inputs(shape: tuple[int, ...], axis: int) -> dict[str, Any]:
    random = np.random.default_rng(7)
    data = random.standard_normal(shape).astype(np.float32) + np.float32(0.5)
    return {
        "data": data,
        "grad": random.uniform(-1, 1, shape).astype(np.float32),
        "gamma": random.uniform(0.5, 1.5, shape[axis]).astype(np.float32),
        "beta": random.uniform(-1, 1, shape[axis]).astype(np.float32),
    }


def _expected(x: dict[str, Any], axis: int) -> tuple[list[Any], list[Any]]:
    """Outputs and gradients in float64, by the formulas of the derivative."""
    data, grad, gamma, beta = (
        x[name].astype(np.float64) for name in ("data", "grad", "gamma", "beta")
    )
    along = [1] * data.ndim
    along[axis] = -1
    others = tuple(i for i in range(data.ndim) if i != axis % data.ndim)
    mean = data.mean(axis, keepdims=True)
    std = np.sqrt(data.var(axis, keepdims=True) + EPS)
    y = (data - mean) / std
    scaled = grad * gamma.reshape(along)
    back = scaled - scaled.mean(axis, keepdims=True) - y * (scaled * y).mean(axis, keepdims=True)
    outputs = [y * gamma.reshape(along) + beta.reshape(along), mean, std]
    return outputs, [back / std, (grad * y).sum(others), grad.sum(others)]


def _run(x: dict[str, Any], axis: int, *, backward: bool) -> list[Any]:
    attrs: dict[str, Any] = {"axis": axis, "eps": EPS}
    op = LAYER_NORM_BACKWARD if backward else LAYER_NORM
    if backward:
        _, mean, std = _run(x, axis, backward=False)
        inputs = [x["grad"], x["data"], x["gamma"], mean, std]
    else:
        attrs["output_mean_var"] = False
        inputs = [x["data"], x["gamma"], x["beta"]]
    fast = op.select_fast("cpu", [spec_of(value) for value in inputs], attrs)
    assert fast is not None
    assert fast.name.endswith("_columns")
    return list(run_kernel(op, fast.kernel, inputs, attrs, attrs))


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize(("shape", "axis"), CASES, ids=str)
def test_results_are_near_those_of_float64(
    shape: tuple[int, ...], axis: int, backward: bool
) -> None:
    x = _inputs(shape, axis)
    outputs, gradients = _expected(x, axis)
    got = _run(x, axis, backward=backward)
    for found, exact in zip(got, gradients if backward else outputs, strict=True):
        assert found.dtype == np.float32
        # Rounding errors are divided by the standard deviation.
        scale = max(np.abs(exact).max(), 1, 1 / outputs[2].min())
        assert np.abs(found - exact).max() <= 3e-6 * scale


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize(("shape", "axis"), [((300, 700), 0), ((40, 16, 28, 28), 1)], ids=str)
def test_threads_do_not_change_a_bit(shape: tuple[int, ...], axis: int, backward: bool) -> None:
    x = _inputs(shape, axis)
    before = openmp.team().threads()
    found = []
    try:
        for threads in (1, 2, 3):
            openmp.team().set_threads(threads)
            found.append(_run(x, axis, backward=backward))
    finally:
        openmp.team().set_threads(before)
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("wide", [False, True], ids=["narrow", "wide parameters"])
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_16_bit_floats_are_rounded_once(dtype: Any, wide: bool) -> None:
    x = _inputs((3, 40, 21), 1)
    kinds = {"gamma": np.float32, "beta": np.float32} if wide else {}
    x = {name: value.astype(kinds.get(name, dtype)) for name, value in x.items()}
    step = float(ml_dtypes.finfo(dtype).eps)
    outputs, _ = _expected(x, 1)
    got = _run(x, 1, backward=False)
    assert np.abs(got[0].astype(np.float64) - outputs[0]).max() < step * np.abs(outputs[0]).max()
    for found, exact in zip(_run(x, 1, backward=True), _expected(x, 1)[1], strict=True):
        # The statistics, which are inputs, are rounded, too.
        assert np.abs(found.astype(np.float64) - exact).max() < 4 * step * np.abs(exact).max()


@pytest.mark.parametrize("place", [0, 3, 9, 30, 36])
@pytest.mark.parametrize("count", [5, 37])
def test_a_deviation_whose_square_is_infinite_ruins_its_own_position_only(
    count: int, place: int
) -> None:
    x = _inputs((3, count, 9), 1)
    x["data"][1, place % count, 4] = 1e30
    y, mean, std = _run(x, 1, backward=False)
    assert std[1, 0, 4] == np.inf
    np.testing.assert_allclose(mean[1, 0, 4], 1e30 / count, rtol=1e-6)
    np.testing.assert_array_equal(y[1, :, 4], x["beta"])
    x["data"][1, :, 4] = 0
    for found, exact in zip((y, mean, std), _expected(x, 1)[0], strict=True):
        found[1, :, 4] = exact[1, :, 4]
        np.testing.assert_allclose(found, exact, rtol=1e-4, atol=1e-5)


def test_strided_arrays_are_left_to_others() -> None:
    fast = next(k for k in LAYER_NORM.fast_kernels if k.name.endswith("_columns"))
    data = np.zeros((4, 6, 32), np.float32)[:, :, ::2]
    statistic = np.empty((4, 1, 16), np.float32)
    parameter = np.ones(6, np.float32)
    assert fast.run is not None
    with pytest.raises(RefusedError, match="contiguous"):
        fast.run(
            np,
            (data.copy(), statistic, statistic.copy()),
            data,
            parameter,
            parameter,
            axis=1,
            eps=EPS,
        )


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize(("shape", "axis"), [((4, 32, 14, 14), 1), ((2, 6, 100, 20), 2)], ids=str)
def test_the_layer_equals_that_of_transposed_data(
    shape: tuple[int, ...], axis: int, hybridize: bool
) -> None:
    x = _inputs(shape, axis)
    found = []
    for last in (False, True):
        net = mx.gluon.nn.LayerNorm(axis=-1 if last else axis, in_channels=shape[axis])
        net.initialize()
        net.gamma.set_data(mx.nd.array(x["gamma"]))
        net.hybridize(hybridize)
        data, grad = (
            mx.nd.array(np.moveaxis(x[name], axis, -1) if last else x[name])
            for name in ("data", "grad")
        )
        data.attach_grad()
        with mx.autograd.record():
            y = net(data)
        y.backward(grad)
        arrays = [y.asnumpy(), data.grad.asnumpy()]
        if last:
            arrays = [np.moveaxis(value, -1, axis) for value in arrays]
        found.append([*arrays, net.gamma.grad().asnumpy(), net.beta.grad().asnumpy()])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-5 * np.abs(other).max())
