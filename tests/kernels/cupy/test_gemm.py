"""How matrix products on a GPU are computed, as the environment says; and sums in a fixed order."""

import logging
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.config import (
    GLUONISH_CUDA_SCATTER,
    GLUONISH_CUDNN_RNN,
    MXNET_CUDA_ALLOW_TENSOR_CORE,
    MXNET_CUDA_LIB_CHECKING,
    MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION,
    MXNET_ENFORCE_DETERMINISM,
)
from tests.kernels.cupy.double import make_cupy
from tests.kernels.cupy.install import support_of
from tests.kernels.cupy.machine import Machine

DEFAULT, PEDANTIC, FLOAT64, TF32 = 68, 69, 70, 77  # cublasComputeType_t
RANDOM = np.random.default_rng(3)
A, B = (RANDOM.standard_normal((3, 4, 4)) for _ in range(2))
WEIGHT = RANDOM.standard_normal((5, 4))


def _on_gpu(*arrays: np.ndarray, dtype: str) -> list[nd.NDArray]:
    return [nd.array(x, mx.gpu(0), dtype) for x in arrays]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["dot", "batch_dot"])
def test_products_without_tensor_cores_are_pedantic(
    gpus: Any, machine: Machine, dtype: str, name: str
) -> None:
    a, b = _on_gpu(*((A[0], B[0]) if name == "dot" else (A, B)), dtype=dtype)
    product = getattr(nd, name)
    first = product(a, b).asnumpy()
    with MXNET_CUDA_ALLOW_TENSOR_CORE.override(False):
        np.testing.assert_array_equal(product(a, b).asnumpy(), first)
    assert machine.cublas.computes == [DEFAULT, PEDANTIC]  # type: ignore[attr-defined]


def _product(name: str, dtype: str) -> Any:
    if name == "FullyConnected":
        a, b = _on_gpu(A[0], B[0].T, dtype=dtype)
        return nd.FullyConnected(a, b, num_hidden=4, no_bias=True).asnumpy()
    a, b = _on_gpu(*((A, B) if name == "batch_dot" else (A[0], B[0])), dtype=dtype)
    if name == "matmul":
        return mx.np.matmul(a.as_np_ndarray(), b.as_np_ndarray()).asnumpy()
    return getattr(nd, name)(a, b).asnumpy()


@pytest.mark.parametrize("name", ["dot", "batch_dot", "matmul", "FullyConnected"])
def test_float32_is_rounded_where_that_is_allowed(gpus: Any, machine: Machine, name: str) -> None:
    exact = _product(name, "float32")
    with MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION.override(True):
        rounded = _product(name, "float32")
        with MXNET_CUDA_ALLOW_TENSOR_CORE.override(False):
            np.testing.assert_array_equal(_product(name, "float32"), exact)
    assert machine.cublas.computes == [DEFAULT, TF32, DEFAULT]  # type: ignore[attr-defined]
    distance = np.abs(rounded - exact).max()
    assert 1e-6 < distance < 1e-2


def test_float64_is_never_rounded(gpus: Any, machine: Machine) -> None:
    with MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION.override(True):
        np.testing.assert_allclose(_product("dot", "float64"), A[0] @ B[0], rtol=1e-12)
    assert machine.cublas.computes == [FLOAT64]  # type: ignore[attr-defined]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("no_bias", [False, True])
def test_dense_layer_and_its_gradients_are_those_of_the_cpu(
    gpus: Any, dtype: str, no_bias: bool
) -> None:
    def run(context: mx.Context) -> list[np.ndarray]:
        inputs = [nd.array(x, context, dtype) for x in (A, WEIGHT, WEIGHT[:, 0])]
        used = inputs[: 3 - no_bias]
        for x in used:
            x.attach_grad()
        with autograd.record():
            y = nd.FullyConnected(*used, num_hidden=5, no_bias=no_bias, flatten=False)
        y.backward()
        return [x.asnumpy().astype(np.float64) for x in (y, *(x.grad for x in used))]

    tolerance = {"float16": 5e-3, "bfloat16": 5e-2, "float32": 1e-5, "float64": 1e-12}[dtype]
    for got, want in zip(run(mx.gpu(0)), run(mx.cpu(0)), strict=True):
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_attention_multiplies_its_views_where_they_lie(
    gpus: Any, machine: Machine, dtype: str
) -> None:
    values = RANDOM.standard_normal((5, 2, 3 * 4 * 3)), RANDOM.standard_normal((8, 5, 5))

    def run(context: mx.Context) -> list[np.ndarray]:
        both, scores = (nd.array(x, context, dtype) for x in values)
        attend = nd.contrib.interleaved_matmul_selfatt_valatt
        made = (
            nd.contrib.interleaved_matmul_selfatt_qk(both, heads=4),
            attend(both, scores, heads=4),
        )
        return [x.asnumpy().astype(np.float64) for x in made]

    tolerance = {"float32": 1e-5, "bfloat16": 2e-2}[dtype]
    for got, want in zip(run(mx.gpu(0)), run(mx.cpu(0)), strict=True):
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)
    assert machine.cublas.computes == [DEFAULT, DEFAULT]  # type: ignore[attr-defined]


def test_recurrent_layers_and_tensordot_multiply_by_the_same_library(
    gpus: Any, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise NotImplementedError("calling cuBLAS API during stream capture")

    monkeypatch.setattr(gpus, "matmul", refuse)
    layer = mx.gluon.rnn.LSTM(3, input_size=4)
    layer.initialize(ctx=mx.gpu(0))
    (x,) = _on_gpu(A, dtype="float32")
    x.attach_grad()
    with GLUONISH_CUDNN_RNN.override(False):
        with autograd.record():
            y = layer(x)
        y.backward()
    assert np.isfinite(x.grad.asnumpy()).all()
    assert len(machine.cublas.computes) > 2  # type: ignore[attr-defined]
    made = mx.np.tensordot(x.as_np_ndarray(), x.as_np_ndarray(), axes=((0, 2), (0, 1)))
    np.testing.assert_allclose(
        made.asnumpy(), np.tensordot(A, A, axes=((0, 2), (0, 1))), rtol=1e-4, atol=1e-5
    )


def test_sums_at_positions_are_made_in_order(gpus: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    atomic: list[str] = []
    plain = gpus.add.at

    def counted(self: object, *args: Any) -> None:
        atomic.append("at")
        plain(*args)

    monkeypatch.setattr(type(gpus.add), "at", counted)

    def gradient() -> Any:
        table: Any = nd.ones((4, 3), ctx=mx.gpu(0))
        table.attach_grad()
        rows = nd.array([1, 1, 3, 1], ctx=mx.gpu(0))
        with autograd.record():
            y = nd.take(table, rows) * nd.arange(4, ctx=mx.gpu(0)).reshape((4, 1))
        y.backward()
        return table.grad.asnumpy()

    expected = np.repeat([[0], [0 + 1 + 3], [0], [2]], 3, axis=1)
    np.testing.assert_array_equal(gradient(), expected)
    assert not atomic  # by our kernels
    with GLUONISH_CUDA_SCATTER.override(False):
        np.testing.assert_array_equal(gradient(), expected)
        count = len(atomic)
        assert count > 0
        with MXNET_ENFORCE_DETERMINISM.override(True):  # by the host
            np.testing.assert_array_equal(gradient(), expected)
    assert len(atomic) == count


@pytest.mark.parametrize(
    ("driver", "libraries", "warned"), [(12040, 13000, 1), (13010, 13000, 0), (12080, 12060, 0)]
)
def test_a_driver_older_than_the_libraries_is_named_once(
    machine: Machine, caplog: pytest.LogCaptureFixture, driver: int, libraries: int, warned: int
) -> None:
    cupy = make_cupy(machine)
    cupy.cuda.runtime.driverGetVersion = lambda: driver
    cupy.cuda.runtime.runtimeGetVersion = lambda: libraries
    with caplog.at_level(logging.WARNING, "gluonish"):
        with MXNET_CUDA_LIB_CHECKING.override(False):
            support_of(cupy).memory(0)
        assert not caplog.records
        support = support_of(cupy)
        support.memory(0)
        support.make_device(mx.gpu(1))
    assert [record.getMessage() for record in caplog.records] == [
        "CUDA: expected a driver for CUDA 13 or later, as the libraries are of 13.0, got one for "
        "12.4; update it, or install gluonish[cuda12] (MXNET_CUDA_LIB_CHECKING=0 disables this "
        "check)"
    ] * warned
