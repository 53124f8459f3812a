"""How matrix products on a GPU are computed, as the environment says; and sums in a fixed order."""

import logging
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.config import (
    MXNET_CUDA_ALLOW_TENSOR_CORE,
    MXNET_CUDA_LIB_CHECKING,
    MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION,
    MXNET_ENFORCE_DETERMINISM,
)
from gluonish.kernels.cupy import CuPySupport
from tests.kernels.cupy.double import make_cupy
from tests.kernels.cupy.machine import Machine

DEFAULT, PEDANTIC, TF32 = 68, 69, 77  # cublasComputeType_t
RANDOM = np.random.default_rng(3)
A, B = (RANDOM.standard_normal((3, 4, 4)) for _ in range(2))


def _on_gpu(*arrays: np.ndarray, dtype: str) -> list[nd.NDArray]:
    return [nd.array(x, mx.gpu(0), dtype) for x in arrays]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("transpose", [False, True])
def test_products_without_tensor_cores_are_pedantic(
    gpus: Any, machine: Machine, dtype: str, transpose: bool
) -> None:
    a, b = _on_gpu(A[0], B[0], dtype=dtype)
    expected = nd.dot(a, b, transpose_a=transpose, transpose_b=transpose).asnumpy()
    assert machine.computes == []  # CuPy multiplies two matrices
    with MXNET_CUDA_ALLOW_TENSOR_CORE.override(False):
        got = nd.dot(a, b, transpose_a=transpose, transpose_b=transpose).asnumpy()
    assert machine.computes == [PEDANTIC]
    np.testing.assert_allclose(got.astype("f4"), expected.astype("f4"), rtol=1e-2)


def test_stacks_of_products_heed_the_same_switch(gpus: Any, machine: Machine) -> None:
    a, b = _on_gpu(A, B, dtype="float16")
    first = nd.batch_dot(a, b).asnumpy()
    with MXNET_CUDA_ALLOW_TENSOR_CORE.override(False):
        np.testing.assert_array_equal(nd.batch_dot(a, b).asnumpy(), first)
    assert machine.computes == [DEFAULT, PEDANTIC]


@pytest.mark.parametrize("name", ["dot", "batch_dot"])
def test_float32_is_rounded_where_that_is_allowed(gpus: Any, machine: Machine, name: str) -> None:
    a, b = _on_gpu(*((A[0], B[0]) if name == "dot" else (A, B)), dtype="float32")
    product = getattr(nd, name)
    exact = product(a, b).asnumpy()
    assert machine.computes == []
    with MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION.override(True):
        rounded = product(a, b).asnumpy()
        with MXNET_CUDA_ALLOW_TENSOR_CORE.override(False):
            np.testing.assert_array_equal(product(a, b).asnumpy(), exact)
    assert machine.computes == [TF32]
    distance = np.abs(rounded - exact).max()
    assert 1e-6 < distance < 1e-2


def test_float64_is_never_rounded(gpus: Any, machine: Machine) -> None:
    a, b = _on_gpu(A[0], B[0], dtype="float64")
    with MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION.override(True):
        np.testing.assert_allclose(nd.dot(a, b).asnumpy(), A[0] @ B[0], rtol=1e-12)
    assert machine.computes == []


def test_sums_at_positions_are_made_in_order_on_the_host(
    gpus: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    count = len(atomic)
    assert count > 0
    with MXNET_ENFORCE_DETERMINISM.override(True):
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
            CuPySupport(lambda: cupy).memory(0)
        assert not caplog.records
        support = CuPySupport(lambda: cupy)
        support.memory(0)
        support.make_device(mx.gpu(1))
    assert [record.getMessage() for record in caplog.records] == [
        "CUDA: expected a driver for CUDA 13 or later, as the libraries are of 13.0, got one for "
        "12.4; update it, or install gluonish[cuda12] (MXNET_CUDA_LIB_CHECKING=0 says nothing)"
    ] * warned
