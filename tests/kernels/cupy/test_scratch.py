"""Memory of CUDA graphs on the double: one block for the temporaries of all of them."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.config import MXNET_ENABLE_CUDA_GRAPHS
from gluonish.gluon import nn
from gluonish.kernels.cupy import cublas, cudnn
from gluonish.kernels.cupy.scratch import Ranges, Scratch
from gluonish.model_zoo.vision.resnet import BasicBlockV1, BottleneckV1, ResNetV1
from gluonish.ops.registry import find_operator
from tests.kernels.cupy.graph_programs import (
    GPU,
    NETS,
    STATIC,
    Attention,
    Chain,
    both,
    graphs,
    inference,
    made,
    same,
    training,
)
from tests.kernels.cupy.install import gpu_contexts, importable_cupyx
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.one_device import COMPILED

pytestmark = [COMPILED, pytest.mark.timeout(120)]

MIB = 1 << 20
# cuBLAS needs a workspace for its first product on the capturing stream, which is freed after it.
CONSTANT = 4 * MIB + (64 << 10)


def test_ranges_that_live_at_once_never_overlap() -> None:
    rng, ranges = random.Random(4), Ranges()
    living: dict[int, int] = {}
    for _ in range(4000):
        if living and rng.random() < 0.5:
            offset = rng.choice(list(living))
            del living[offset]
            ranges.free(offset)
            continue
        nbytes = rng.choice([1, 511, 512, 5000, 1 << 20])
        offset, size = ranges.allocate(nbytes)
        assert size >= nbytes
        assert offset % 512 == 0
        assert all(offset + size <= a or a + n <= offset for a, n in living.items())
        living[offset] = size
        assert ranges.nbytes == sum(living.values())
    assert ranges.end == max(ranges.end, *(a + n for a, n in living.items()))


def test_temporaries_freed_in_reverse_need_the_bytes_that_live_at_once() -> None:
    rng, ranges = random.Random(5), Ranges()
    stack: list[tuple[int, int]] = []
    most = 0
    for _ in range(3000):
        if stack and rng.random() < 0.5:
            ranges.free(stack.pop()[0])
        else:
            stack.append(ranges.allocate(512 * rng.randint(1, 999)))
            most = max(most, sum(size for _, size in stack))
    assert ranges.end == most


def test_freed_neighbours_merge() -> None:
    ranges = Ranges()
    offsets = [ranges.allocate(1024)[0] for _ in range(4)]
    ranges.free(offsets[1])
    ranges.free(offsets[2])
    assert ranges.allocate(2048)[0] == offsets[1]
    assert ranges.end == 4096


def _resnet(block: Any, layers: list[int], size: int) -> Callable[[], Callable[[], None]]:
    def make() -> Callable[[], None]:
        net = ResNetV1(block, layers, [8, *(16 << i for i in range(len(layers)))], classes=10)
        net.initialize(ctx=GPU)
        net.cast("bfloat16")
        x = nd.random.normal(shape=(2, 3, size, size), ctx=GPU).astype("bfloat16")
        return _step(net, x, nd.zeros((2,), ctx=GPU))

    return make


def _attention() -> Callable[[], None]:
    net = nn.HybridSequential()
    net.add(Attention(), Attention(), nn.Dense(10))
    net.initialize(ctx=GPU)
    return _step(net, nd.random.normal(shape=(16, 64, 8), ctx=GPU), nd.zeros((16,), ctx=GPU))


def _step(net: nn.HybridBlock, x: Any, label: Any) -> Callable[[], None]:
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    net.hybridize(**STATIC)
    loss_of.hybridize(**STATIC)
    sgd = {"learning_rate": 0.1, "momentum": 0.9, "multi_precision": True}
    trainer: list[mx.gluon.Trainer] = []

    def step() -> None:
        with autograd.record():
            loss = loss_of(net(x), label)
        loss.backward()
        if not trainer:
            trainer.append(mx.gluon.Trainer(net.collect_params(), "sgd", sgd))
        trainer[0].step(2)
        nd.waitall()

    return step


class _Reserving(Machine):
    """Notes the most bytes that the driver gave out."""

    most = 0

    def reserve(self, nbytes: int, device: int) -> Any:
        memory = super().reserve(nbytes, device)
        self.most = max(self.most, self.reserved[device])
        return memory


def _memory(make: Callable[[], Callable[[], None]], *, on: bool) -> tuple[int, int]:
    """Return the peak of memory in use, and of memory taken from the driver."""
    machine = _Reserving()
    with (
        importable_cupyx(),
        gpu_contexts(machine, "ThreadedEnginePerDevice"),
        MXNET_ENABLE_CUDA_GRAPHS.override(on),
    ):
        mx.random.seed(1)
        step = make()
        for _ in range(5):
            step()
        assert bool(machine.counts.graphs) is on
        assert machine.reserved[0] == GPU.memory_info().reserved
        return GPU.memory_info().peak, machine.most


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(_resnet(BottleneckV1, [1, 1, 1], 64), id="bottlenecks"),
        pytest.param(_resnet(BasicBlockV1, [2, 2, 2, 2], 32), id="resnet18"),
        pytest.param(_attention, id="attention"),
    ],
)
def test_graphs_need_no_more_memory(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workspaces of convolutions are of many sizes, and larger than those of the double's cuDNN."""
    build = cudnn.Plan.__init__
    sizes = iter(range(1 << 19, 1 << 30, 12 << 10))

    def plan(self: Any, graph: Any) -> None:
        build(self, graph)
        self.nbytes += next(sizes)

    monkeypatch.setattr(cudnn.Plan, "__init__", plan)
    without, taken_without = _memory(make, on=False)
    sizes = iter(range(1 << 19, 1 << 30, 12 << 10))
    peak, taken = _memory(make, on=True)
    assert peak <= 1.02 * without + CONSTANT
    assert taken <= 1.02 * taken_without + CONSTANT


def test_larger_block_takes_the_place_of_the_smaller_one(
    gpu: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Graphs that hold the smaller one are captured again at their next call."""
    build, extra = cudnn.Plan.__init__, [2 * MIB]

    def plan(self: Any, graph: Any) -> None:
        build(self, graph)
        self.nbytes += extra[0]

    grow, held = Scratch.grow, []

    def grown(self: Scratch, nbytes: int) -> Any:
        held.append(self.nbytes)
        return grow(self, nbytes)

    monkeypatch.setattr(cudnn.Plan, "__init__", plan)
    monkeypatch.setattr(Scratch, "grow", grown)
    x = nd.random.normal(shape=(2, 3, 8, 8), ctx=GPU)
    with MXNET_ENABLE_CUDA_GRAPHS.override(True):
        small, large = made(lambda: nn.Conv2D(4, 3)), made(lambda: nn.Conv2D(5, 3))
        want = [small(x).asnumpy() for _ in range(3)].pop()
        scratch = graphs()._scratch
        first = scratch.nbytes
        assert first >= 2 * MIB
        extra[0] = 6 * MIB
        other = [large(x).asnumpy() for _ in range(3)].pop()
        assert 6 * MIB <= scratch.nbytes < 6 * MIB + first, "the smaller block is gone"
        assert held == [0, 0], "and was before there was a larger one"
        before = gpu.counts.graphs
        np.testing.assert_array_equal(small(x).asnumpy(), want)
        np.testing.assert_array_equal(large(x).asnumpy(), other)
        assert gpu.counts.graphs == before + 2
        assert not graphs().shortages


def test_temporary_that_outlives_its_kernel_is_not_in_a_graph(
    gpu: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    exp, kept = find_operator("exp"), []
    kernel = exp.kernel

    def keeps(xp: Any, out: Any, x: Any, **attrs: Any) -> None:
        kernel(xp, out, x, **attrs)
        kept.append(xp.ones((4,), np.float32))

    monkeypatch.setattr(exp, "kernel", keeps)
    with mx.core.config.MXNET_USE_FUSION.override(False):
        got, want, launches = both(lambda: inference(Chain, (4, 4), 24))
    same(got, want)
    assert launches, "the rest is in graphs"
    nd.waitall()
    del kept[:]


def test_kernel_with_other_temporaries_at_each_call_is_not_in_a_graph(
    gpu: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    exp, calls = find_operator("exp"), []
    kernel = exp.kernel

    def grows(xp: Any, out: Any, x: Any, **attrs: Any) -> None:
        calls.append(1)
        xp.empty((len(calls) * MIB,), np.uint8)
        kernel(xp, out, x, **attrs)

    monkeypatch.setattr(exp, "kernel", grows)
    with mx.core.config.MXNET_USE_FUSION.override(False):
        got, want, launches = both(lambda: inference(Chain, (4, 4), 24))
    same(got, want)
    assert launches


def test_graphs_share_the_workspace_of_the_stream_that_runs_them(
    gpu: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No product may be launched meanwhile: it would use the workspace in between."""
    from tests.kernels.cupy.streams import Graph

    held = []
    launch = Graph.launch

    def noted(self: Graph, stream: Any = None) -> None:
        held.append(handles[0].lock._lock._is_owned())
        launch(self, stream)

    monkeypatch.setattr(Graph, "launch", noted)
    handles: list[Any] = []
    with MXNET_ENABLE_CUDA_GRAPHS.override(True):
        net, x = made(lambda: nn.Dense(3)), nd.ones((2, 4), ctx=GPU)
        net(x).wait_to_read()
        xp = x._device.xp
        handles += cublas._opened[xp]._handles.values()
        for _ in range(4):
            net(x).wait_to_read()
        handles = list(cublas._opened[xp]._handles.values())
    assert len(handles) == 2
    assert handles[0].shares_workspace(handles[1])
    assert held
    assert all(held)


@pytest.mark.parametrize("name", NETS)
def test_networks_take_turns_in_one_block(gpu: Machine, name: str) -> None:
    """Training and inference of several networks, interleaved, give what each alone gives."""

    def run() -> list[Any]:
        found = []
        for _ in range(2):
            found += training(*NETS[name], 5)
            found += inference(*NETS["convolutional"], 4)
        return found

    got, want, launches = both(run)
    same(got, want)
    assert launches
