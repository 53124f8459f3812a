"""Hybridized networks on a GPU lay their values out channels last, without copies in between."""

from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.config import (
    MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION,
    MXNET_CUDNN_ENABLED,
    MXNET_DISABLED_GRAPH_PASSES,
    MXNET_ENABLE_CUDA_GRAPHS,
    MXNET_GPU_WORKER_NSTREAMS,
)
from gluonish.gluon import nn
from gluonish.kernels.cupy import channels_last, cudnn, cudnn_convolution, pointwise
from gluonish.model_zoo.vision.mobilenet import MobileNet
from gluonish.model_zoo.vision.resnet import BottleneckV1, BottleneckV2, ResNetV1, ResNetV2
from tests.kernels.cupy.install import gpu_contexts
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.one_device import COMPILED

pytestmark = [COMPILED, pytest.mark.timeout(180)]

GPU = mx.gpu(0)
OFF = MXNET_DISABLED_GRAPH_PASSES


class Branches(nn.HybridBlock):
    """Odd channels, groups, depthwise, deconvolution, resizing, concatenation, a flat end."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2D(5, 3, padding=1, activation="relu")
        self.grouped = nn.Conv2D(10, 3, padding=1, groups=5)
        self.norm = nn.BatchNorm()
        self.depthwise = nn.Conv2D(10, (3, 2), strides=2, groups=10, use_bias=False)
        self.up = nn.Conv2DTranspose(7, 4, strides=2, padding=1)
        self.end = nn.Dense(3)

    def forward(self, x: Any) -> Any:
        y = self.norm(self.grouped(self.stem(x)))
        z = self.depthwise(y)
        up = nd.UpSampling(z, scale=2, sample_type="nearest")
        both = nd.concat(self.up(z), up * 2, dim=1)
        return self.end(nd.relu(both) + both.mean(axis=(2, 3), keepdims=True))


def axes(rank: int) -> nn.HybridBlock:
    """Convolutions over one or three axes."""
    kind = {1: nn.Conv1D, 3: nn.Conv3D}[rank]
    net = nn.HybridSequential()
    net.add(kind(6, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"), kind(5, 2), nn.Dense(3))
    return net


def bottlenecks(thumbnail: bool = False) -> nn.HybridBlock:
    """A small ResNet of all kinds of bottlenecks."""
    stages = [8, 16, 32] if thumbnail else [8, 16, 32, 64]
    layers = [2, 1] if thumbnail else [1, 1, 1]
    return ResNetV1(BottleneckV1, layers, stages, classes=10, thumbnail=thumbnail)


NETWORKS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "bottlenecks": (bottlenecks, (4, 3, 64, 64)),
    "v2": (lambda: ResNetV2(BottleneckV2, [1, 1], [8, 16, 32], classes=10), (2, 3, 48, 48)),
    "mobilenet": (lambda: MobileNet(0.25, classes=10), (2, 3, 64, 64)),
    "branches": (Branches, (2, 3, 16, 18)),
    "one axis": (lambda: axes(1), (2, 3, 20)),
    "three axes": (lambda: axes(3), (2, 3, 8, 9, 10)),
}


def made(name: str, dtype: str) -> tuple[nn.HybridBlock, list[Any]]:
    """Return a network with the same weights each time, and three batches."""
    make, shape = NETWORKS[name]
    mx.random.seed(5)
    net = make()
    net.initialize(mx.init.Xavier(magnitude=3), ctx=GPU)
    net.cast(dtype)
    numbers = np.random.default_rng(3)
    return net, [nd.array(numbers.standard_normal(shape), GPU, dtype) for _ in range(3)]


def run(name: str, dtype: str = "bfloat16", *, train: bool = True, **hybrid: Any) -> list[Any]:
    """Return outputs and gradients of three calls, on new GPUs' memory."""
    net, batches = made(name, dtype)
    for x in batches:
        x.attach_grad()
        net(x)  # shapes of parameters
    if hybrid:
        net.hybridize(**hybrid)
    found = []
    for x in batches:
        if not train:
            found.append(net(x))
            continue
        with autograd.record():
            y = net(x)
            loss = (y.astype("float32") ** 2).mean()
        loss.backward()
        weights = [p for p in net.collect_params().values() if p.grad_req != "null"]
        found += [y, x.grad.copy(), *[p.grad(GPU).copy() for p in weights]]
    return [x.astype("float32").asnumpy() for x in found]


@pytest.fixture
def exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lay float32 out channels last although its products are exact: errors are small then."""
    kept = SimpleNamespace(
        enabled=cudnn_convolution.enabled,
        supports=cudnn_convolution.supports,
        may_use_tensor_cores=lambda dtype: True,
    )
    monkeypatch.setattr(channels_last, "cudnn_convolution", kept)


def check(got: list[Any], want: list[Any], error: float) -> None:
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=error * max(1e-3, np.abs(other).max()))


def orders_planned(cupy: Any) -> set[bool]:
    """Return the memory layouts of the convolutions that were planned."""
    opened = cudnn.opened(cupy)
    assert opened is not None
    return {problem.last for _, problem in opened.plans}


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("name", NETWORKS)
def test_hybridized_network_computes_what_the_imperative_one_does(
    machine: Machine, name: str, train: bool
) -> None:
    with gpu_contexts(machine, "ThreadedEnginePerDevice") as cupy:
        want = run(name, "float32", train=train)
        assert orders_planned(cupy) == {False}
        got = run(name, "float32", train=train, static_alloc=True)
        assert orders_planned(cupy) == ({False} if name == "one axis" else {False, True})
    check(got, want, 2e-3)
    assert np.median([np.abs(a - b).max() for a, b in zip(got, want, strict=True)]) < 1e-4


@pytest.mark.parametrize("graphs", [False, True])
@pytest.mark.parametrize("streams", [1, 2])
@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("name", ["bottlenecks", "branches"])
def test_every_mode_gives_the_same_bits(
    machine: Machine, name: str, static: bool, streams: int, graphs: bool
) -> None:
    with ExitStack() as scopes:
        scopes.enter_context(MXNET_GPU_WORKER_NSTREAMS.override(streams))
        scopes.enter_context(MXNET_ENABLE_CUDA_GRAPHS.override(graphs))
        scopes.enter_context(gpu_contexts(machine, "ThreadedEnginePerDevice"))
        for train in (True, False):
            want = run(name, train=train, static_alloc=True)
            got = run(name, train=train, static_alloc=static, static_shape=static)
            for one, other in zip(got, want, strict=True):
                np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("dtype", "tf32", "last"),
    [
        ("bfloat16", False, True),
        ("float16", False, True),
        ("float32", True, True),
        ("float32", False, False),
        ("float64", True, False),
    ],
)
def test_layout_is_that_of_tensor_cores(
    machine: Machine, dtype: str, tf32: bool, last: bool
) -> None:
    with (
        MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION.override(tf32),
        gpu_contexts(machine, "NaiveEngine") as cupy,
    ):
        run("bottlenecks", dtype, train=False, static_alloc=True)
        assert (True in orders_planned(cupy)) == last


def test_switches_turn_it_off(machine: Machine) -> None:
    with gpu_contexts(machine, "NaiveEngine") as cupy:
        with OFF.override(("channels_last",)):
            run("bottlenecks", static_alloc=True)
        assert orders_planned(cupy) == {False}
        with MXNET_CUDNN_ENABLED.override(False):
            run("branches", static_alloc=True)
        assert orders_planned(cupy) == {False}


@pytest.fixture
def mixed(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Collect shapes of pointwise programs that read or write both memory orders."""
    found: list[Any] = []
    make = pointwise._new_plan

    def plan(outputs: Any, inputs: Any, program: Any, alignment: int) -> Any:
        orders = set()
        for x in (*outputs, *inputs):
            if x.ndim == 4 and x.shape == outputs[0].shape:
                last = x.transpose(0, 2, 3, 1).flags.c_contiguous
                orders |= {"first"} if not last else set() if x.flags.c_contiguous else {"last"}
        if len(orders) > 1:
            found.append(outputs[0].shape)
        return make(outputs, inputs, program, alignment)

    monkeypatch.setattr(pointwise, "_plans", {})
    monkeypatch.setattr(pointwise, "_new_plan", plan)
    return found


# Maps that pooling reads and writes: its kernels copy them to channels first.
POOLED = {
    "bottlenecks": {(4, 8, 32, 32), (4, 8, 16, 16), (4, 64, 4, 4)},
    "mobilenet": {(2, 256, 2, 2)},
}


@pytest.mark.parametrize("amp", [False, True])
@pytest.mark.parametrize("name", POOLED)
def test_a_step_copies_nothing_to_another_layout_but_its_input_and_weights(
    gpu: Machine, mixed: list[Any], name: str, amp: bool
) -> None:
    net, (x, *_) = made(name, "float32" if amp else "bfloat16")
    net.hybridize(static_alloc=True, static_shape=True)
    shapes = {x.shape}
    with MXNET_ENABLE_CUDA_GRAPHS.override(False):
        for _ in range(3):
            gpu.relayouts.clear()
            with autograd.record(), mx.amp.autocast("bfloat16") if amp else ExitStack():
                y = net(x)
            y.backward()
            nd.waitall()
            shapes |= {p.shape for p in net.collect_params().values()}
    # Casts of the input, and of the gradients of weights, change the order, too.
    assert set(mixed) <= shapes
    copied = {shape for _, shape in gpu.relayouts if shape not in POOLED[name]}
    assert copied <= shapes
    # The input is copied for the stem's convolution, and for the gradient of its weight. Of weights
    # that are cast, those with windows have gradients to copy one by one.
    assert sum(shape == x.shape for _, shape in gpu.relayouts) <= 2
    weights = [p.shape for p in net.collect_params().values() if _has_windows(p.shape)]
    most = len(weights) if amp else 0
    assert sum(shape in shapes - {x.shape} for _, shape in gpu.relayouts) <= most


def _has_windows(shape: tuple[int, ...]) -> bool:
    return len(shape) == 4 and shape[1] > 1 and shape[2] > 1


def test_weights_are_laid_out_once_a_step_in_one_launch(gpu: Machine) -> None:
    net, (x, *_) = made("bottlenecks", "bfloat16")
    net.hybridize(static_alloc=True, static_shape=True)
    names: list[str] = []
    use = gpu.use

    def noted(stream: Any, memories: Any, what: str, *args: Any, **kwargs: Any) -> int:
        names.append(what)
        return use(stream, memories, what, *args, **kwargs)

    gpu.use = noted  # type: ignore[method-assign]
    with MXNET_ENABLE_CUDA_GRAPHS.override(False):
        for _ in range(2):
            names.clear()
            with autograd.record():
                y = net(x)
            y.backward()
            nd.waitall()
        assert names.count("cast_weights") == 2  # weights, and gradients back
        names.clear()
        for _ in range(3):
            net(x).wait_to_read()
        assert names.count("cast_weights") <= 1  # constant, until a parameter changes


def plain() -> nn.HybridBlock:
    """Convolutions without normalization: their functions are fused with nothing."""
    net = nn.HybridSequential()
    for activation in ("relu", "tanh", "sigmoid"):
        net.add(nn.Conv2D(6, 3, padding=1, activation=activation))
    net.add(nn.GELU(), nn.Conv2D(5, 1), nn.LeakyReLU(0.1), nn.Flatten(), nn.Dense(3))
    return net


def dropped() -> nn.HybridBlock:
    """Dropout of elements and of maps between convolutions."""
    net = nn.HybridSequential()
    net.add(nn.Conv2D(6, 3), nn.Dropout(0.4), nn.Conv2D(5, 3), nn.Dropout(0.3, axes=(2, 3)))
    net.add(nn.Conv2D(4, 2), nn.GELU(), nn.Dense(3))
    return net


@pytest.mark.parametrize("fused", [True, False])
def test_dropout_draws_the_same_in_both_layouts(
    gpu: Machine, monkeypatch: pytest.MonkeyPatch, fused: bool
) -> None:
    monkeypatch.setitem(NETWORKS, "dropped", (dropped, (2, 3, 20, 21)))
    others = () if fused else ("fuse_pointwise",)
    with OFF.override(("channels_last", *others)):
        want = run("dropped", static_alloc=True)
    with OFF.override(others):
        got = run("dropped", static_alloc=True)
    check(got, want, 1e-6)


@pytest.mark.parametrize("train", [True, False])
def test_functions_alone_see_contiguous_arrays(
    gpu: Machine, monkeypatch: pytest.MonkeyPatch, train: bool
) -> None:
    monkeypatch.setitem(NETWORKS, "plain", (plain, (2, 3, 9, 11)))
    with OFF.override(("channels_last", "fuse_pointwise")):
        want = run("plain", train=train, static_alloc=True)
    with OFF.override(("fuse_pointwise",)):
        gpu.strided.clear()
        got = run("plain", train=train, static_alloc=True)
    check(got, want, 1e-6)
    # In each call the input of the first convolution, for the gradient of its weight, too, and
    # the gradient that comes from Flatten.
    assert {*gpu.strided} <= {"copy", "setitem"}
    assert len(gpu.strided) == 3 * (3 if train else 1)


def wide() -> nn.HybridBlock:
    """Bottlenecks whose channels are whole vectors, as cuDNN's fused kernels need."""
    return ResNetV1(BottleneckV1, [1, 2], [8, 32, 64], classes=10, thumbnail=True)


@pytest.mark.parametrize("graphs", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_inference_fuses_convolutions_with_sums_and_functions(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, dtype: str, graphs: bool
) -> None:
    monkeypatch.setitem(NETWORKS, "wide", (wide, (2, 8, 12, 12)))
    counts = []

    def launches(**hybrid: Any) -> list[Any]:
        net, batches = made("wide", dtype)
        net.hybridize(static_alloc=True, static_shape=True)
        found = [net(x).astype("float32").asnumpy() for x in batches * 2]
        before = machine.counts.launches
        net(batches[0]).wait_to_read()
        counts.append(machine.counts.launches - before)
        return found

    with (
        MXNET_ENABLE_CUDA_GRAPHS.override(graphs),
        gpu_contexts(machine, "ThreadedEnginePerDevice") as cupy,
    ):
        with OFF.override(("fuse_primitives",)):
            want = launches()
        got = launches()
        opened = cudnn.opened(cupy)
        assert opened is not None
        fused = [x for _, x in opened.plans if x.activation is not None and opened.plans[0, x]]
        assert {x.has_addend for x in fused} == {False, True}
    check(got, want, 2e-2)
    # The normalizations are folded, so that nothing is left of three blocks but convolutions.
    assert graphs or counts[1] <= counts[0] - 3 * 3


def test_what_may_need_a_gradient_is_not_fused(machine: Machine) -> None:
    with gpu_contexts(machine, "NaiveEngine") as cupy:
        run("branches", static_alloc=True)
        opened = cudnn.opened(cupy)
    assert opened is not None
    assert opened.plans
    assert all(problem.activation is None for _, problem in opened.plans)
