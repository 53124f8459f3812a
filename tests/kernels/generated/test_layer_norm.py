"""LayerNorm's generated gradients: near those of float64 for many rows, whoever computes them."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.kernels import openmp
from gluonish.kernels.compiler import available
from gluonish.ops.kernel import RefusedError
from gluonish.ops.normalization.layer_norm import LAYER_NORM_BACKWARD
from tests.checking.values import run_kernel, spec_of

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not there")

ATTRS = {"axis": -1, "eps": 1e-5}
# Rows and elements of a row: all rows at once, in chunks, with a rest, and rows that are long.
SHAPES = [(200, 30), (4096, 128), (65536, 16), (1031, 33), (257, 700), (2, 3000), (3, 8, 40)]


def _inputs(shape: tuple[int, ...]) -> list[Any]:
    random = np.random.default_rng(5)
    data = random.standard_normal(shape).astype(np.float32) + np.float32(0.5)
    grad = random.uniform(0, 1, shape).astype(np.float32)
    gamma = random.uniform(0.5, 1.5, shape[-1]).astype(np.float32)
    wide = data.astype(np.float64)
    mean = wide.mean(-1, keepdims=True).astype(np.float32)
    std = np.sqrt(wide.var(-1, keepdims=True) + 1e-5).astype(np.float32)
    return [grad, data, gamma, mean, std]


def _exact(inputs: list[Any]) -> list[Any]:
    return run_kernel(
        LAYER_NORM_BACKWARD,
        LAYER_NORM_BACKWARD.kernel,
        [x.astype(np.float64) for x in inputs],
        ATTRS,
        ATTRS,
    )


def _chosen(inputs: list[Any]) -> Any:
    specs = [spec_of(x) for x in inputs]
    found = LAYER_NORM_BACKWARD.select_fast("cpu", specs, ATTRS)
    assert found is not None
    return found


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sums_over_rows_are_rounded_a_few_times(shape: tuple[int, ...]) -> None:
    inputs = _inputs(shape)
    kernel = _chosen(inputs)
    assert kernel.name.startswith("generated.layer_norm_backward")
    got = run_kernel(LAYER_NORM_BACKWARD, kernel.kernel, inputs, ATTRS, ATTRS)
    for found, exact in zip(got, _exact(inputs), strict=True):
        assert np.abs(found - exact).max() < 1e-6 * np.abs(exact).max()


@pytest.mark.parametrize("shape", [(4096, 64), (1031, 33)], ids=str)
def test_threads_do_not_change_a_bit(shape: tuple[int, ...]) -> None:
    inputs = _inputs(shape)
    kernel = _chosen(inputs).kernel
    before = openmp.team().threads()
    found = []
    try:
        for threads in (1, 2, 3):
            openmp.team().set_threads(threads)
            found.append(run_kernel(LAYER_NORM_BACKWARD, kernel, inputs, ATTRS, ATTRS))
    finally:
        openmp.team().set_threads(before)
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_strided_arrays_are_left_to_others() -> None:
    inputs = _inputs((512, 64))
    inputs[1] = np.repeat(inputs[1], 2, 1)[:, ::2]
    chunks = next(k for k in LAYER_NORM_BACKWARD.fast_kernels if k.name.endswith("backward_chunks"))
    outputs = tuple(np.empty_like(x) for x in (inputs[0], inputs[2], inputs[2]))
    assert chunks.run is not None
    with pytest.raises(RefusedError, match="contiguous"):
        chunks.run(np, outputs, *inputs, **ATTRS)
    got = run_kernel(LAYER_NORM_BACKWARD, chunks.kernel, inputs, ATTRS, ATTRS)
    for found, exact in zip(got, _exact(inputs), strict=True):
        np.testing.assert_allclose(found, exact, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("shape", [(0, 64), (0, 5000), (3, 0, 5000)], ids=str)
def test_gradients_of_no_rows_are_zero(shape: tuple[int, ...], hybridize: bool) -> None:
    net = mx.gluon.nn.LayerNorm(in_channels=shape[-1])
    net.initialize()
    net.hybridize(hybridize)
    data = mx.nd.zeros(shape)
    data.attach_grad()
    with mx.autograd.record():
        y = net(data)
    y.backward()
    assert data.grad.shape == shape
    for parameter in (net.gamma, net.beta):
        assert not parameter.grad().asnumpy().any()


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("shape", [(4096, 96), (40, 7, 60, 28)], ids=str)
def test_the_layers_gradients_are_near_those_of_float64(
    shape: tuple[int, ...], hybridize: bool
) -> None:
    found = {}
    for dtype in ("float32", "float64"):
        net = mx.gluon.nn.LayerNorm(in_channels=shape[-1])
        net.initialize()
        net.cast(dtype)
        net.hybridize(hybridize)
        grad, data = (mx.nd.array(x, dtype=dtype) for x in _inputs(shape)[:2])
        with mx.autograd.record():
            y = net(data)
        y.backward(grad)
        found[dtype] = [p.grad().asnumpy() for p in (net.gamma, net.beta)]
    for narrow, wide in zip(found["float32"], found["float64"], strict=True):
        assert np.abs(narrow - wide).max() < 5e-7 * np.abs(wide).max()
