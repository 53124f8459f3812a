"""Each way of writing attention gives by cuDNN what its operators give, gradients included."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.config import MXNET_ENABLE_CUDA_GRAPHS, MXNET_GPU_WORKER_NSTREAMS
from tests.kernels.cupy.attention_forms import BATCH, CASES, FORMS, LENGTH, attention_in, check_form
from tests.kernels.cupy.install import gpu_contexts
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.one_device import COMPILED

pytestmark = [COMPILED, pytest.mark.timeout(120)]


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_form_by_cudnn_is_the_form_by_operators(machine: Machine, name: str, dtype: str) -> None:
    with gpu_contexts(machine, "ThreadedEnginePerDevice"):
        check_form(name, dtype)


@pytest.mark.parametrize("name", FORMS)
def test_form_in_mixed_precision(machine: Machine, name: str) -> None:
    with gpu_contexts(machine, "ThreadedEnginePerDevice"):
        check_form(name, "float32", "bfloat16")


@pytest.mark.parametrize("name", ["GluonNLP, lengths of 0", "BERT, keys as an array", "GPT-2"])
def test_form_with_cuda_graphs_and_two_streams(machine: Machine, name: str) -> None:
    for graphs, streams in ((True, 1), (True, 2), (False, 2)):
        with (
            MXNET_ENABLE_CUDA_GRAPHS.override(graphs),
            MXNET_GPU_WORKER_NSTREAMS.override(streams),
            gpu_contexts(machine, "ThreadedEnginePerDevice"),
        ):
            check_form(name, "bfloat16", steps=6)


class Dropped(mx.gluon.HybridBlock):
    """Attention whose weights are dropped, over keys before lengths."""

    def hybrid_forward(self, F: Any, x: Any, lengths: Any) -> Any:
        rows = F.broadcast_axis(F.reshape(lengths, shape=(-1, 1)), axis=1, size=LENGTH)
        weights = F.softmax(
            F.batch_dot(x, x, transpose_b=True), length=rows, use_length=True, axis=-1
        )
        return F.batch_dot(F.Dropout(weights, p=0.5), x)


@pytest.mark.parametrize("graphs", [False, True])
def test_hidden_keys_stay_hidden_under_dropout(machine: Machine, graphs: bool) -> None:
    with (
        MXNET_ENABLE_CUDA_GRAPHS.override(graphs),
        gpu_contexts(machine, "ThreadedEnginePerDevice"),
    ):

        def outputs() -> list[Any]:
            mx.random.seed(4)
            net = Dropped()
            net.hybridize(static_alloc=True, static_shape=True)
            values = np.random.default_rng(2).standard_normal((BATCH, LENGTH, 8))
            x = nd.array(values, ctx=mx.gpu(0)).astype("bfloat16")
            lengths = nd.array([2, 0, 6], ctx=mx.gpu(0), dtype="int32")
            found = []
            for _ in range(5):
                x.attach_grad()
                with autograd.record():
                    y = net(x, lengths)
                y.backward()
                found.append([a.astype("float32").asnumpy() for a in (y, x.grad)])
            assert len(attention_in(net)[1]) == 1
            return found

        first, second = outputs(), outputs()
        for one, other in zip(first, second, strict=True):
            for a, b in zip(one, other, strict=True):
                np.testing.assert_array_equal(a, b)
        assert len({y.tobytes() for y, _ in first}) == len(first)
        for y, gradient in first:
            assert not y[1].any()
            assert not gradient[1].any()
            assert y[0].any()
