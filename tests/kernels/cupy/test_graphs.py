"""Networks as CUDA graphs on the double: the bits of the same network without, in few launches."""

import gc
import logging
import re
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.config import (
    MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION,
    MXNET_ENABLE_CUDA_GRAPHS,
    MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN,
    MXNET_GPU_WORKER_NSTREAMS,
)
from gluonish.gluon import nn
from gluonish.kernels.cupy import cublas, cudnn
from gluonish.kernels.cupy.graphs import LAUNCH_FLAGS
from gluonish.kernels.cupy.scratch import Scratch
from gluonish.model_zoo.vision.resnet import BottleneckV1, ResNetV1
from tests.kernels.cupy.graph_programs import (
    GPU,
    NETS,
    STATIC,
    Attention,
    Bits,
    Chain,
    batches,
    both,
    convolutional,
    graphs,
    inference,
    made,
    recurrent,
    same,
    training,
)
from tests.kernels.cupy.install import gpu_contexts, importable_cupyx
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.one_device import COMPILED, OneDevice

pytestmark = [COMPILED, pytest.mark.timeout(120)]


@pytest.mark.parametrize("name", NETS)
@pytest.mark.parametrize("run", [inference, training])
def test_network_has_the_bits_that_it_has_without(
    gpu: Machine, run: Any, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "gluonish"):
        got, want, launches = both(lambda: run(*NETS[name], 14))
    same(got, want)
    assert launches >= 8
    assert "No CUDA graph" not in caplog.text


@pytest.mark.parametrize("name", NETS)
def test_every_engine_runs_graphs(gpus: Any, name: str) -> None:
    got, want, launches = both(lambda: training(*NETS[name], 10))
    same(got, want)
    assert launches


def test_repeated_inference_is_a_launch_between_two_copies(gpu: Machine) -> None:
    with MXNET_ENABLE_CUDA_GRAPHS.override(True):
        net, x = made(convolutional), nd.ones((2, 3, 8, 8), ctx=GPU)
        for _ in range(6):
            net(x).wait_to_read()
        before = gpu.counts.launches
        net(x).wait_to_read()
        assert gpu.counts.launches == before + 3


def test_step_of_training_is_a_launch_for_each_job_and_each_copy(gpu: Machine) -> None:
    """Four jobs; x, y; y, label, loss; head, gradient; gradient, x; and the head's ones."""
    with MXNET_ENABLE_CUDA_GRAPHS.override(True):
        net, loss_of = made(lambda: nn.Dense(3)), mx.gluon.loss.L2Loss()
        loss_of.hybridize(**STATIC)
        x, label = nd.ones((4, 5), ctx=GPU), nd.ones((4, 3), ctx=GPU)

        def step() -> None:
            with autograd.record():
                loss = loss_of(net(x), label)
            loss.backward()

        for _ in range(10):
            step()
        before = gpu.counts.launches, gpu.counts.graphs
        step()
        assert gpu.counts.graphs - before[1] == 4
        assert gpu.counts.launches - before[0] == 4 + (2 + 3 + 2 + 2) + 1


def test_without_static_shape_or_the_variable_there_are_none(gpu: Machine) -> None:
    x = nd.ones((2, 3, 8, 8), ctx=GPU)
    with MXNET_ENABLE_CUDA_GRAPHS.override(True):
        net = made(convolutional)
        net.hybridize(static_alloc=True)
        for _ in range(4):
            net(x).wait_to_read()
    net.hybridize(**STATIC)
    with MXNET_ENABLE_CUDA_GRAPHS.override(False):
        for _ in range(4):
            net(x).wait_to_read()
    assert not gpu.counts.graphs


@pytest.mark.parametrize("streams", [1, 2])
@pytest.mark.parametrize("static", [True, False])
def test_by_default_static_networks_use_graphs_on_one_stream(
    machine: Machine, streams: int, static: bool
) -> None:
    assert MXNET_ENABLE_CUDA_GRAPHS.source == "default"
    with (
        MXNET_GPU_WORKER_NSTREAMS.override(streams),
        gpu_contexts(machine, "ThreadedEnginePerDevice"),
    ):
        x, net = nd.ones((2, 3, 8, 8), ctx=GPU), made(convolutional)
        net.hybridize(static_alloc=True, static_shape=static)
        for _ in range(4):
            net(x).wait_to_read()
    assert bool(machine.counts.graphs) is (static and streams == 1)


def test_variable_that_is_set_holds_on_two_streams(machine: Machine) -> None:
    with (
        MXNET_GPU_WORKER_NSTREAMS.override(2),
        MXNET_ENABLE_CUDA_GRAPHS.override(True),
        gpu_contexts(machine, "ThreadedEnginePerDevice"),
    ):
        x, net = nd.ones((2, 3, 8, 8), ctx=GPU), made(convolutional)
        for _ in range(12):
            net(x).wait_to_read()
    assert machine.counts.graphs


def test_shapes_and_parameters_may_change(gpu: Machine) -> None:
    def run() -> Bits:
        net = made(convolutional)
        found = []
        for i in range(24):
            x = nd.full((2 + i // 2 % 2, 3, 8, 8), i, ctx=GPU)
            found.append(net(x).asnumpy())
            if i % 8 == 7:
                for parameter in net.collect_params().values():
                    parameter.set_data(parameter.data(GPU) * 1.5)
        return found

    got, want, launches = both(run)
    same(got, want)
    assert launches >= 8


def test_network_of_several_threads(gpu: Machine) -> None:
    def run() -> Bits:
        net = made(convolutional)
        found: Bits = [None] * 4

        def call(number: int) -> None:
            x = nd.full((2, 3, 8, 8), number, ctx=GPU)
            found[number] = np.stack([net(x).asnumpy() for _ in range(10)])

        net(nd.ones((2, 3, 8, 8), ctx=GPU))
        threads = [threading.Thread(target=call, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        return found

    got, want, launches = both(run)
    same(got, want)
    assert launches


def test_memory_of_the_pool_does_not_matter(gpu: Machine) -> None:
    """All that the pool has to give is filled with NaN between calls, while graphs live."""

    def run() -> Bits:
        net, x = made(Attention), nd.ones((2, 4, 8), ctx=GPU)
        found = []
        for _ in range(8):
            found.append(net(x).asnumpy())
            for memory in list(gpu._memories.values()):
                if not memory.page_locked and memory.raw.size <= 1 << 20:
                    spoilt.append(memory)
            kept = [nd.full((size,), np.nan, ctx=GPU) for size in (1, 8, 64, 1024) * 8]
            nd.waitall()
            del kept
            GPU.empty_cache()
        return found

    spoilt: list[Any] = []
    got, want, launches = both(run)
    same(got, want)
    assert launches >= 4
    assert spoilt


def refused_step(F: Any, x: Any) -> Any:
    """Return a matrix by cuSOLVER, which CuPy does not let a graph have."""
    square = F.batch_dot(x, x, transpose_b=True) + F.expand_dims(F.eye(4), 0)
    return F.linalg_inverse(square) * 2 + 1


def looped(F: Any, x: Any) -> Any:
    """Return sums along an axis, by a loop whose body is a graph of its own."""
    start = F.sum(x, axis=0) * 0
    outputs, _ = F.contrib.foreach(lambda each, s: (each + s[0], [each + s[0]]), x, [start])
    return outputs * 2 + 1


@pytest.mark.parametrize("step", [refused_step, looped])
@pytest.mark.parametrize("run", [inference, training])
def test_step_that_cannot_be_captured_runs_between_graphs(
    gpu: Machine, run: Any, step: Any
) -> None:
    class Net(nn.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                self.first, self.last = nn.Dense(8, flatten=False), nn.Dense(3)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return self.last(step(F, F.relu(self.first(x))))

    got, want, launches = both(lambda: run(Net, (2, 4, 5), 14))
    same(got, want)
    assert launches >= 8


def test_operator_of_the_program_runs_at_each_call(gpu: Machine) -> None:
    called = []

    class Twice(mx.operator.CustomOp):
        def forward(self, is_train: Any, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
            called.append(1)
            self.assign(out_data[0], req[0], in_data[0] * 2)

    @mx.operator.register("twice_beside_graphs")
    class TwiceProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx: Any, shapes: Any, dtypes: Any) -> Any:
            return Twice()

    net = nn.HybridSequential()
    net.add(nn.Dense(4), nn.HybridLambda(lambda F, x: F.Custom(x, op_type="twice_beside_graphs")))
    net.add(nn.Dense(2))
    with MXNET_ENABLE_CUDA_GRAPHS.override(True):
        net.initialize(ctx=GPU)
        net.hybridize(**STATIC)
        x = nd.ones((2, 3), ctx=GPU)
        for _ in range(6):
            net(x).wait_to_read()
    assert len(called) == 6
    assert gpu.counts.graphs


@pytest.mark.parametrize("when", ["before", "behind"])
def test_step_that_breaks_the_capture_is_found(
    gpu: Machine, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """A wait breaks a capture; CUDA says so there, or only at its end."""
    from gluonish.ops.registry import find_operator

    exp = find_operator("exp")
    kernel = exp.kernel

    def waits(xp: Any, out: Any, x: Any, **attrs: Any) -> None:
        kernel(xp, out, x, **attrs)
        stream = xp.cuda.get_current_stream()
        if stream.is_capturing():
            if when == "before":
                stream.synchronize()
            stream._capture.spoil(900)

    monkeypatch.setattr(exp, "kernel", waits)
    with mx.core.config.MXNET_USE_FUSION.override(False):
        got, want, launches = both(lambda: inference(Chain, (4, 4), 30))
    same(got, want)
    assert launches


def test_graphs_go_with_their_network_when_the_stream_is_through(gpu: Machine) -> None:
    with MXNET_ENABLE_CUDA_GRAPHS.override(True):
        net, x = made(recurrent), nd.ones((2, 4, 5), ctx=GPU)
        for _ in range(4):
            net(x).wait_to_read()
        before = graphs()._scratch.nbytes
        assert before
        assert GPU.memory_info().used >= before
        net(x)
        del net
        gc.collect()
        assert graphs()._scratch.nbytes == before  # the stream may not be through
        GPU.empty_cache()
        assert not graphs()._scratch.nbytes


def test_device_without_room_for_graphs_does_without(gpu: Machine) -> None:
    def run() -> Bits:
        return inference(recurrent, (2, 4, 5), 12)

    with MXNET_ENABLE_CUDA_GRAPHS.override(False):
        want = run()
    with MXNET_ENABLE_CUDA_GRAPHS.override(True), pytest.MonkeyPatch.context() as patch:
        patch.setattr(Scratch, "allocate", _no_room)
        got = run()
    same(got, want)
    assert graphs().shortages
    assert not graphs().launches


def _no_room(self: Scratch, nbytes: int) -> Any:
    raise MemoryError(f"no {nbytes} bytes on the device")


def test_graphs_make_room_for_arrays(gpu: Machine) -> None:
    with MXNET_ENABLE_CUDA_GRAPHS.override(True):
        net, x = made(recurrent), nd.ones((2, 4, 5), ctx=GPU)
        want = next(iter([net(x).asnumpy() for _ in range(4)]))
        scratch = graphs()._scratch
        held = scratch.nbytes
        GPU.empty_cache()
        gpu.capacity = gpu.reserved[0] + held
        large = nd.zeros((held + held // 2,), ctx=GPU, dtype="uint8")
        assert not scratch.nbytes
        del large
        gpu.capacity += 1 << 16  # for the temporaries of a call without graphs
        np.testing.assert_array_equal(net(x).asnumpy(), want)


def test_graph_that_cannot_be_launched_is_forgotten(
    gpu: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.kernels.cupy.streams import CUDARuntimeError, Graph

    def launch(self: Graph, stream: Any = None) -> None:
        raise CUDARuntimeError(2)

    with MXNET_ENABLE_CUDA_GRAPHS.override(True):
        net, x = made(convolutional), nd.ones((2, 3, 8, 8), ctx=GPU)
        want = net(x).asnumpy()
        monkeypatch.setattr(Graph, "launch", launch)
        for _ in range(6):
            np.testing.assert_array_equal(net(x).asnumpy(), want)


def test_failure_in_a_graph_names_its_operators(
    gpu: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.kernels.cupy.streams import CUDARuntimeError, Graph

    def launch(self: Graph, stream: Any = None) -> None:
        raise CUDARuntimeError(700)

    with MXNET_ENABLE_CUDA_GRAPHS.override(True):
        net, x = made(convolutional), nd.ones((2, 3, 8, 8), ctx=GPU)
        net(x).wait_to_read()
        monkeypatch.setattr(Graph, "launch", launch)
        with pytest.raises(mx.MXNetError, match="a CUDA graph of Convolution"):
            net(x).wait_to_read()


def test_profiler_sees_every_operator(gpu: Machine, tmp_path: Any) -> None:
    with MXNET_ENABLE_CUDA_GRAPHS.override(True):
        net, x = made(convolutional), nd.ones((2, 3, 8, 8), ctx=GPU)
        want = next(iter([net(x).asnumpy() for _ in range(6)]))
        before = gpu.counts.graphs
        name = str(tmp_path / "p.json")
        mx.profiler.set_config(profile_all=True, aggregate_stats=True, filename=name)
        mx.profiler.set_state("run")
        np.testing.assert_array_equal(net(x).asnumpy(), want)
        mx.profiler.set_state("stop")
        assert gpu.counts.graphs == before
        assert "Pooling" in mx.profiler.dumps(reset=True)


def test_addresses_that_keep_changing_cost_few_captures(gpu: Machine) -> None:
    with MXNET_ENABLE_CUDA_GRAPHS.override(True):
        net = made(lambda: nn.Dense(3))
        arrays = [nd.full((4, 5), i, ctx=GPU) for i in range(20)]
        outputs = [[net(x).asnumpy() for x in arrays] for _ in range(8)]
        for other in outputs:
            same(other, outputs[0])
        assert len(graphs()._living) == 1


def test_training_on_two_devices(gpu: Machine) -> None:
    """Sums of gradients run beside the backward pass, whose jobs are graphs."""

    def run() -> Bits:
        mx.random.seed(7)
        contexts = [mx.gpu(0), mx.gpu(1)]
        net = convolutional()
        net.initialize(mx.init.Xavier(), ctx=contexts)
        net.hybridize(backward_bulk_size=3, **STATIC)
        random = np.random.default_rng(3)
        trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01})
        for _ in range(8):
            batch = nd.array(random.standard_normal((4, 3, 8, 8)))
            with autograd.record():
                losses = [
                    net(x).square().sum() for x in mx.gluon.utils.split_and_load(batch, contexts)
                ]
            autograd.backward(losses)
            trainer.step(4)
        parameters = net.collect_params().values()
        return [p.data(context).asnumpy() for context in contexts for p in parameters]

    got, want, launches = both(run)
    same(got, want)
    assert launches >= 8
    assert mx.nd.zeros((1,), ctx=mx.gpu(1))._device.graphs.launches >= 8  # type: ignore[attr-defined]


@pytest.mark.parametrize("grad_req", ["add", "write"])
def test_gradients_of_data_and_sums_of_gradients(gpu: Machine, grad_req: str) -> None:
    def run() -> Bits:
        net = made(convolutional)
        for parameter in net.collect_params().values():
            if parameter.grad_req != "null":
                parameter.grad_req = grad_req
        found = []
        for x in batches((2, 3, 8, 8), 9):
            x.attach_grad()
            with autograd.record():
                loss = (net(x) * 2).sum()
            loss.backward()
            found.append(x.grad.asnumpy())
        trained = [p for p in net.collect_params().values() if p.grad_req != "null"]
        return found + [p.grad(GPU).asnumpy() for p in trained]

    got, want, launches = both(run)
    same(got, want)
    assert launches >= 8


def test_shortage_in_a_capture_does_not_leave_the_fallback_in_the_graph(
    gpu: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A convolution without memory for its workspace is captured later, with its workspace."""
    made_plan, allocate, short = cudnn.Plan.__init__, Scratch.allocate, [True]

    def plan(self: Any, graph: Any) -> None:
        made_plan(self, graph)
        self.nbytes = 1 << 20

    def limited(self: Scratch, nbytes: int) -> Any:
        if short[0] and nbytes >= 1 << 20:
            raise MemoryError("no workspace")
        return allocate(self, nbytes)

    refused: list[str] = []
    run = cudnn.Plan.run

    def counted(self: Any, *args: Any) -> None:
        try:
            run(self, *args)
        except Exception as error:
            refused.append(type(error).__name__)
            raise

    monkeypatch.setattr(cudnn.Plan, "__init__", plan)
    monkeypatch.setattr(cudnn.Plan, "run", counted)
    monkeypatch.setattr(Scratch, "allocate", limited)
    with MXNET_ENABLE_CUDA_GRAPHS.override(True):
        net = nn.Conv2D(4, 3, padding=1, in_channels=4)
        net.initialize(ctx=GPU)
        net.hybridize(**STATIC)
        x = nd.random.normal(shape=(2, 4, 8, 8), ctx=GPU)
        want = net(x).asnumpy()
        for _ in range(5):
            np.testing.assert_array_equal(net(x).asnumpy(), want)
        assert graphs().shortages
        assert not graphs().launches
        assert set(refused) == {"MemoryError"}
        short[0] = False
        for _ in range(20):
            np.testing.assert_array_equal(net(x).asnumpy(), want)
        assert graphs().launches


@pytest.mark.parametrize("flag", LAUNCH_FLAGS, ids=lambda flag: flag.name)
def test_flag_that_kernels_read_at_a_launch_selects_the_replay(gpu: Machine, flag: Any) -> None:
    """A replay goes on with the settings of its capture, so that others need another one."""

    def launches_of(calls: int) -> int:
        before = graphs().launches
        for _ in range(calls):
            net(x).wait_to_read()
        return graphs().launches - before

    with MXNET_ENABLE_CUDA_GRAPHS.override(True):
        net, x = made(convolutional), nd.ones((2, 3, 8, 8), ctx=GPU)
        launches_of(4)
        per_call = launches_of(1)
        assert per_call
        with flag.override(type(flag.value)(not flag.value)):
            assert not launches_of(1)
            launches_of(4)
            assert launches_of(1)
        assert launches_of(1) == per_call


def test_product_after_a_change_of_tensor_cores_is_computed_with_them(gpu: Machine) -> None:
    types: list[int] = gpu.cublaslt.computes  # type: ignore[attr-defined]
    with MXNET_ENABLE_CUDA_GRAPHS.override(True):
        net = nn.Dense(4, in_units=4)
        net.initialize(ctx=GPU)
        net.hybridize(**STATIC)
        x = nd.ones((2, 4), ctx=GPU)
        for _ in range(4):
            net(x).wait_to_read()
        types.clear()
        with MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION.override(True):
            net(x).wait_to_read()
    assert types == [77], "CUBLAS_COMPUTE_32F_FAST_TF32"


def test_flags_that_kernels_read_at_a_launch_are_all_listed() -> None:
    """Others are read when a kernel is chosen, or when a device opens."""
    folder = Path(cublas.__file__).parent
    sources = [
        folder / f"{name}.py"
        for name in (
            *("gemm", "dense", "cudnn_convolution", "convolution", "cudnn_attention"),
            *("cudnn_rnn", "channel_padding", "copies"),
        )
    ]
    sources.append(folder.parents[1] / "ops/support/host.py")
    read = set(
        re.findall(
            r"((?:MXNET|GLUONISH)_\w+)\.value", "".join(x.read_text("utf-8") for x in sources)
        )
    )
    read.add("GLUONISH_CUDA_VECTORS")  # of pointwise.py, whose other flags choose kernels
    assert read == {flag.name for flag in LAUNCH_FLAGS}
    elsewhere = {
        *("MXNET_GPU_WORKER_NSTREAMS", "MXNET_ENABLE_GPU_P2P"),  # when a device opens
        # When a kernel is chosen.
        *("MXNET_USE_FUSION", "MXNET_FUSION_VERBOSE", "GLUONISH_CUDA_SCATTER"),
        "GLUONISH_CUDA_MOVE",  # when a graph has been captured
        "GLUONISH_STAGING_MB",  # by copies between the host and the device, which no graph has
        "MXNET_CUDA_LIB_CHECKING",
        "GLUONISH_CUDNN_CACHE",  # when a plan is made
    }
    others = [x for x in folder.glob("*.py") if x not in sources]
    found = set(
        re.findall(
            r"((?:MXNET|GLUONISH)_\w+)\.value", "".join(x.read_text("utf-8") for x in others)
        )
    )
    # What is read at launches may decide before, too, what is launched.
    found -= {flag.name for flag in LAUNCH_FLAGS}
    assert {name for name in found if "_MEM_" not in name} == elsewhere


@pytest.mark.parametrize("library", [cublas, cudnn])
def test_stream_at_the_address_of_another_gets_its_own_handle(
    device: OneDevice, library: Any
) -> None:
    """A stream is given up when a capture leaves it stuck; a new one may have its address."""
    opened = library._opened[device.cupy]
    first = opened.handle(device.cupy)
    assert opened.handle(device.cupy) is first
    library.forget(device.cupy, device.stream.ptr)
    second = opened.handle(device.cupy)
    assert second is not first
    assert opened._forgotten == [first], "graphs use its workspace"


def bottlenecks() -> nn.HybridBlock:
    """A small ResNet, whose convolutions have biases in front of BatchNorm, in 16 bits."""
    net = ResNetV1(BottleneckV1, [1, 1, 1], [8, 16, 32, 64], classes=10)
    net.initialize(ctx=GPU)
    net.cast("bfloat16")
    net.hybridize(**STATIC)
    return net


def submissions_of_a_step(machine: Machine, steps: int = 5) -> tuple[int, int]:
    """Return launches and graphs of a training step, after some steps."""
    net, loss_of = bottlenecks(), mx.gluon.loss.SoftmaxCrossEntropyLoss()
    loss_of.hybridize(**STATIC)
    x = nd.random.normal(shape=(2, 3, 32, 32), ctx=GPU).astype("bfloat16")
    label = nd.zeros((2,), ctx=GPU)
    sgd = {"learning_rate": 0.1, "momentum": 0.9, "multi_precision": True}
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", sgd)
    for _ in range(steps):
        before = machine.counts.launches, machine.counts.graphs
        with autograd.record():
            loss = loss_of(net(x), label)
        loss.backward()
        trainer.step(2)
        nd.waitall()
    return machine.counts.launches - before[0], machine.counts.graphs - before[1]


@pytest.mark.parametrize("name", NETS)
@pytest.mark.parametrize("streams", [1, 2])
def test_arrays_at_recurring_addresses_are_used_in_place(
    machine: Machine, name: str, streams: int
) -> None:
    """Outputs are; batches at many addresses are copied. The results are those of no graphs."""

    def run() -> Bits:
        held.clear()
        net, loss_of = made(NETS[name][0]), mx.gluon.loss.L2Loss()
        loss_of.hybridize(**STATIC)
        found, random = [], np.random.default_rng(5)
        batch_of = [nd.array(random.random(NETS[name][1]), ctx=GPU) for _ in range(7)]
        for i in range(34):
            with autograd.record():
                y = net(batch_of[i % 7])
                loss = loss_of(y, nd.ones_like(y))
            loss.backward()
            found.append(loss.asnumpy())
            if i > 24:
                held.append(y)  # so that each output has another address
        return [*found, *(y.asnumpy() for y in held)]

    held: list[Any] = []
    with (
        MXNET_GPU_WORKER_NSTREAMS.override(streams),
        gpu_contexts(machine, "ThreadedEnginePerDevice"),
    ):
        got, want, launches = both(run)
        same(got, want)
        assert launches >= (90 if streams == 1 else 20)


def test_inference_on_one_array_is_a_launch_in_the_end(gpu: Machine) -> None:
    net, x = made(convolutional), nd.ones((2, 3, 8, 8), ctx=GPU)
    want = net(x).asnumpy()
    for _ in range(20):
        np.testing.assert_array_equal(net(x).asnumpy(), want)
    before = gpu.counts.launches
    net(x).wait_to_read()
    assert gpu.counts.launches == before + 1


def test_batch_that_is_not_aligned_is_copied(
    gpu: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    """cuDNN has other plans for it, which nothing has built when the launches are captured."""
    whole = nd.arange(1 + 2 * 3 * 8 * 8, ctx=GPU) / 100
    x, net = whole[1:].reshape((2, 3, 8, 8)), made(convolutional)
    want = net(x.copy()).asnumpy()
    with caplog.at_level(logging.DEBUG, "gluonish"):
        for _ in range(20):
            np.testing.assert_array_equal(net(x).asnumpy(), want)
    assert "No CUDA graph" not in caplog.text
    before = gpu.counts.launches
    net(x).wait_to_read()
    assert gpu.counts.launches == before + 2, "a graph and the copy"


def test_addresses_that_recurred_and_then_change_are_copied_again(gpu: Machine) -> None:
    """Outputs are dropped at first, and then all kept, so that none has the address of another."""
    net, x = made(convolutional), nd.ones((2, 3, 8, 8), ctx=GPU)
    want = net(x).asnumpy()
    for _ in range(20):
        net(x).wait_to_read()
    kept = [net(x) for _ in range(60)]
    nd.waitall()
    before = gpu.counts.launches
    kept += [net(x) for _ in range(5)]
    nd.waitall()
    assert gpu.counts.launches == before + 5 * 3, "a graph and two copies"
    for y in kept:
        np.testing.assert_array_equal(y.asnumpy(), want)


def test_a_step_is_four_graphs_when_addresses_have_recurred() -> None:
    """The rest: the head's ones, two updates, and three of the copies of a label and a loss."""
    machine = Machine(devices=1)
    with importable_cupyx(), gpu_contexts(machine, "ThreadedEnginePerDevice"):
        launches, graphs = submissions_of_a_step(machine, steps=22)
    assert graphs == 4
    assert launches <= 10


def test_a_pass_is_one_graph() -> None:
    """Four graphs, of network and loss; their copies; the head's ones; and two updates.

    The gradient of the loss reads the scores, which are copied: it has no array of its own of
    their size.
    """
    machine = Machine(devices=1)
    with (
        importable_cupyx(),
        gpu_contexts(machine, "ThreadedEnginePerDevice"),
        MXNET_ENABLE_CUDA_GRAPHS.override(True),
    ):
        assert submissions_of_a_step(machine) == (18, 4)


def test_backward_pass_is_cut_where_gradients_may_be_summed_over_devices(gpu: Machine) -> None:
    assert mx.num_gpus() == 2
    with MXNET_ENABLE_CUDA_GRAPHS.override(True):
        launches, graphs = submissions_of_a_step(gpu)
    assert graphs > 4
    assert launches < 30


def test_size_of_jobs_that_is_set_holds_for_graphs(gpu: Machine) -> None:
    with (
        MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN.override(15),
        MXNET_ENABLE_CUDA_GRAPHS.override(True),
    ):
        assert submissions_of_a_step(gpu)[1] >= 10
