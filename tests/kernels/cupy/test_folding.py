"""Inference on a GPU: batch normalization is folded into the layer before it."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.config import (
    MXNET_DISABLED_GRAPH_PASSES,
    MXNET_ENABLE_CUDA_GRAPHS,
    MXNET_GPU_WORKER_NSTREAMS,
)
from gluonish.gluon import nn
from gluonish.model_zoo.vision.resnet import BottleneckV1, ResNetV1
from tests.kernels.cupy.install import gpu_contexts
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.one_device import COMPILED

pytestmark = [COMPILED, pytest.mark.timeout(120)]


def residual(dtype: str) -> nn.HybridBlock:
    """A small ResNet, whose moving statistics are not those that it begins with."""
    mx.random.seed(5)
    net = ResNetV1(BottleneckV1, [1, 1, 1], [8, 16, 32, 64], classes=10)
    net.initialize(mx.init.Xavier(magnitude=4), ctx=[mx.cpu(), mx.gpu(0)])
    net(nd.zeros((1, 3, 32, 32)))
    for name, parameter in net.collect_params().items():
        if name.endswith(("running_var", "gamma")):
            parameter.set_data(nd.random.uniform(0.5, 1.5, shape=parameter.shape))
        elif name.endswith(("running_mean", "beta")):
            parameter.set_data(nd.random.uniform(-0.1, 0.1, shape=parameter.shape))
    net.cast(dtype)
    return net


@pytest.mark.parametrize("streams", [1, 2])
@pytest.mark.parametrize(("dtype", "error"), [("float32", 1e-5), ("bfloat16", 0.05)])
def test_folded_network_computes_the_same_in_fewer_launches(
    machine: Machine, dtype: str, error: float, streams: int
) -> None:
    with (
        MXNET_GPU_WORKER_NSTREAMS.override(streams),
        MXNET_ENABLE_CUDA_GRAPHS.override(False),  # each kernel is a launch
        gpu_contexts(machine, "ThreadedEnginePerDevice"),
    ):
        net = residual(dtype)
        xs = [nd.random.normal(shape=(2, 3, 32, 32)).astype(dtype) for _ in range(3)]
        expected = [net(x).astype("float32").asnumpy() for x in xs]
        scale = float(np.abs(expected).max())
        assert scale > 0.1

        def run() -> int:
            net.hybridize(static_alloc=True, static_shape=True)
            for x, values in zip(xs * 2, expected * 2, strict=True):
                before = machine.counts.launches
                got = net(x.as_in_context(mx.gpu(0))).astype("float32").asnumpy()
                launches = machine.counts.launches - before
                np.testing.assert_allclose(got, values, rtol=0, atol=error * scale)
            return launches

        folded = run()
        with MXNET_DISABLED_GRAPH_PASSES.override(frozenset({"fold_batch_norm"})):
            separate = run()
        # Three blocks have four normalizations each, and one comes before; each takes a launch.
        assert separate - folded >= 3 * 4 + 1


def test_weights_are_folded_again_when_they_change(gpu: Machine) -> None:
    net: Any = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3, in_channels=2), nn.BatchNorm(in_channels=4))
    net.initialize(ctx=[mx.cpu(), mx.gpu(0)])
    net.hybridize(static_alloc=True, static_shape=True)
    x = nd.random.normal(shape=(1, 2, 6, 6))
    for value in (0.5, 2.0):
        net[1].running_var.set_data(nd.full((4,), value))
        for _ in range(3):
            got = net(x.as_in_context(mx.gpu(0))).asnumpy()
        np.testing.assert_allclose(got, net(x).asnumpy(), rtol=1e-5, atol=1e-6)
