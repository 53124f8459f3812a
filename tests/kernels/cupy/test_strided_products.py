"""Products of hybridized networks on a GPU that read and write slices and transposes in place."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, gluon
from gluonish.core.config import MXNET_ENABLE_CUDA_GRAPHS, MXNET_GPU_WORKER_NSTREAMS
from tests.kernels.cupy.install import gpu_contexts
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.one_device import COMPILED

pytestmark = [COMPILED, pytest.mark.timeout(120)]
GPU, HEADS, WIDTH = mx.gpu(0), 3, 4
Form = Callable[[Any, Any], Any]


def interleaved(F: Any, x: Any) -> Any:
    """MXNet's operators of attention, time first."""
    scores = F.contrib.interleaved_matmul_selfatt_qk(x, heads=HEADS)
    return F.contrib.interleaved_matmul_selfatt_valatt(x, F.softmax(scores), heads=HEADS)


def split(F: Any, x: Any) -> Any:
    """Products of slices."""
    q, k, v = F.split(x, num_outputs=3, axis=2)
    return F.batch_dot(F.softmax(F.batch_dot(q, k, transpose_b=True)), v)


def swapped(F: Any, x: Any) -> Any:
    """Products of transposed slices."""
    q, k, v = F.split(x, num_outputs=3, axis=2)
    return F.batch_dot(F.batch_dot(F.SwapAxis(k, dim1=1, dim2=2), q), F.SwapAxis(v, dim1=1, dim2=2))


def uneven(F: Any, x: Any) -> Any:
    """Matrices of several heads and batches, which are not equally spaced."""
    parts = F.transpose(F.reshape(x, shape=(0, 0, 3 * HEADS, -1)), axes=(0, 2, 1, 3))
    q, k, v = F.split(parts, num_outputs=3, axis=1)
    return F.batch_dot(F.softmax(F.batch_dot(q, k, transpose_b=True)), v)


def columns_apart(F: Any, x: Any) -> Any:
    """Neither axis of the matrices is without gaps."""
    x = F.transpose(F.reshape(x, shape=(0, 0, -1, 3)), axes=(3, 0, 1, 2))
    q, k, v = F.split(x, num_outputs=3, axis=0, squeeze_axis=True)
    return F.batch_dot(F.batch_dot(q, k, transpose_b=True), v)


# Launches of a call: one for each operator that computes, and for each copy that is left.
FORMS: dict[Form, int] = {
    interleaved: 5 + 1,  # the result of a product that is reshaped when it is transposed
    split: 4,
    swapped: 3,
    uneven: 4 + 4,
    columns_apart: 3 + 4,
}


class _Net(gluon.HybridBlock):
    def __init__(self, form: Form) -> None:
        super().__init__()
        self._form = form

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return self._form(F, F.tanh(x))


def _run(form: Form, dtype: str, *, hybrid: bool, calls: int = 1) -> list[np.ndarray]:
    """Return results without and with recording, and the gradient."""
    net = _Net(form)
    if hybrid:
        net.hybridize(static_alloc=True, static_shape=True)
    values = np.random.default_rng(3).standard_normal((5, 2, 3 * HEADS * WIDTH))
    x = mx.nd.array(values, GPU).astype(dtype)
    x.attach_grad()
    for _ in range(calls):
        plain = net(x)
        with autograd.record():
            y = net(x)
        y.backward()
    return [array.astype("float64").asnumpy() for array in (plain, y, x.grad)]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@pytest.mark.parametrize("graphs", [False, True])
def test_results_are_those_of_single_operators(form: Form, dtype: str, graphs: bool) -> None:
    machine = Machine(devices=2)
    with (
        MXNET_ENABLE_CUDA_GRAPHS.override(graphs),
        gpu_contexts(machine, "ThreadedEnginePerDevice"),
    ):
        wanted = _run(form, dtype, hybrid=False)
        found = _run(form, dtype, hybrid=True, calls=5)
        assert bool(machine.counts.graphs) == graphs
    limit = {"float16": 1e-2, "bfloat16": 6e-2, "float32": 1e-5, "float64": 1e-12}[dtype]
    for got, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=0, atol=limit * np.abs(want).max())


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_a_call_copies_nothing_that_a_product_can_read(form: Form, machine: Machine) -> None:
    with gpu_contexts(machine, "ThreadedEnginePerDevice"):
        net = _Net(form)
        net.hybridize(static_alloc=True)
        x = mx.nd.ones((5, 2, 3 * HEADS * WIDTH), ctx=GPU)
        net(x).wait_to_read()
        before = machine.counts.launches
        net(x).wait_to_read()
        assert machine.counts.launches - before == FORMS[form]


@pytest.mark.parametrize("form", [interleaved, swapped], ids=lambda form: form.__name__)
def test_several_streams_keep_the_order(form: Form, machine: Machine) -> None:
    with (
        MXNET_GPU_WORKER_NSTREAMS.override(2),
        gpu_contexts(machine, "ThreadedEnginePerDevice"),
    ):
        net = _Net(form)
        net.hybridize(static_alloc=True)
        arrays = [mx.nd.random.normal(shape=(5, 2, 36), ctx=GPU) for _ in range(6)]
        results = [net(x) for x in arrays]
        single = _Net(form)
        for x, got in zip(arrays, results, strict=True):
            np.testing.assert_allclose(got.asnumpy(), single(x).asnumpy(), rtol=1e-4, atol=1e-5)
