"""Training plans normalize and rectify in one operator, or by parts."""

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd
from gluonish.core.config import MXNET_SUBGRAPH_BACKEND, MXNET_USE_FUSION
from gluonish.gluon import nn
from gluonish.kernels import onednn


def _trained(dtype: str, hybridize: bool) -> tuple[set[str], list[np.ndarray]]:
    net = nn.HybridSequential()
    net.add(nn.Conv2D(16, 3, in_channels=8), nn.BatchNorm(in_channels=16), nn.Activation("relu"))
    mx.random.seed(0)
    net.initialize(mx.init.Xavier())
    net.cast(dtype)
    if hybridize:
        net.hybridize(static_alloc=True)
    x = mx.nd.array(np.random.default_rng(0).standard_normal((4, 8, 9, 9))).astype(dtype)
    x.attach_grad()
    with autograd.record():
        y = net(x)
    y.backward(y.detach())
    names = set()
    for graph in net._graphs.values():
        steps = graph._cached._program.work.forward.layout.instructions
        names = {step.op.name for step in steps}
    found = [y, x.grad, *(p.grad() for p in net.collect_params().values() if p.grad_req != "null")]
    return names, [value.astype("float32").asnumpy() for value in found]


@pytest.mark.parametrize(
    ("dtype", "fusion", "operator"),
    [
        ("float32", True, "_batch_norm_statistics"),
        ("float32", False, "_contrib_BatchNormWithReLU"),
        ("bfloat16", True, "_contrib_BatchNormWithReLU"),
        ("bfloat16", False, "_contrib_BatchNormWithReLU"),
    ],
)
def test_batch_norm_and_relu_are_one_pass(dtype: str, fusion: bool, operator: str) -> None:
    _, wanted = _trained(dtype, hybridize=False)
    with MXNET_USE_FUSION.override(fusion):
        names, found = _trained(dtype, hybridize=True)
    if onednn.status().backend is not None:
        assert operator in names
    tolerance = 2e-4 if dtype == "float32" else 0.06
    for got, expected in zip(found, wanted, strict=True):
        scale = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance * scale)


def test_without_fusion_they_stay_apart() -> None:
    with MXNET_USE_FUSION.override(False), MXNET_SUBGRAPH_BACKEND.override("NONE"):
        names, _ = _trained("float32", hybridize=True)
    assert {"BatchNorm", "Activation"} <= names
