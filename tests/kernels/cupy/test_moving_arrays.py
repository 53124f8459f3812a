"""Graphs that are told where arrays are: the bits of graphs that read copies, and when they do."""

import ctypes
import logging
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gluonish import autograd, nd
from gluonish.core.config import GLUONISH_CUDA_MOVE, MXNET_ENABLE_CUDA_GRAPHS, MXNET_USE_FUSION
from gluonish.gluon import nn
from gluonish.graph.replay_memo import ReplayMemo
from gluonish.kernels.cupy import channel_padding, moving_arrays
from gluonish.kernels.cupy.moving_arrays import PROTOTYPES, Driver, KernelParams, MovingArray
from gluonish.tools.env_checks import CHECKS
from tests.kernels.cupy.arrays import Array
from tests.kernels.cupy.cuda_graph_surface import ENUMERATORS, SURFACE, size_of
from tests.kernels.cupy.graph_driver_double import GraphDriverDouble
from tests.kernels.cupy.graph_programs import (
    GPU,
    NETS,
    Bits,
    both,
    graphs,
    inference,
    made,
    same,
    training,
)
from tests.kernels.cupy.install import gpu_contexts
from tests.kernels.cupy.machine import Machine, Race
from tests.kernels.cupy.one_device import COMPILED, OneDevice

pytestmark = [COMPILED, pytest.mark.timeout(120)]

SHAPE = (4, 8)
COUNT = 40  # calls; arguments at few addresses are used in place from the 13th on


@pytest.fixture(autouse=True)
def any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let arrays of all sizes move."""
    monkeypatch.setattr(moving_arrays, "_NBYTES_PER_LAUNCH", 0)


@pytest.fixture
def driver(gpu: Machine) -> GraphDriverDouble:
    found: GraphDriverDouble = gpu.graph_driver  # type: ignore[attr-defined]
    return found


def elementwise(F: Any, x: Any) -> Any:
    return F.sum(F.tanh(x) * 2 + 1, axis=1)


def read_twice(F: Any, x: Any) -> Any:
    return F.broadcast_add(F.tanh(x) * 3, F.sum(F.exp(x) * 2 + 1, axis=1, keepdims=True))


def reshaped(F: Any, x: Any) -> Any:
    return F.reshape(F.exp(F.reshape(x, (-1,)) * 0.1), (2, -1)).sum(axis=0)


def product(F: Any, x: Any) -> Any:
    return F.dot(x, x, transpose_b=True)


def transposed(F: Any, x: Any) -> Any:
    return F.transpose(x) * 2


def partly_read_by_a_library(F: Any, x: Any) -> Any:
    return F.broadcast_add(
        (F.tanh(x) * 2 + 1).sum(axis=1, keepdims=True), F.dot(x, x, transpose_b=True)
    )


def lambda_of(function: Callable[..., Any]) -> Callable[[], nn.HybridBlock]:
    return lambda: nn.HybridLambda(function)


def moved(count: int = COUNT, shape: tuple[int, ...] = SHAPE) -> Iterator[nd.NDArray]:
    """Yield different values at 9 addresses in turns."""
    random = np.random.default_rng(3)
    kept = [nd.zeros(shape, ctx=GPU) for _ in range(9)]
    for i in range(count):
        array = kept[i % 9]
        array[:] = nd.array(random.standard_normal(shape), ctx=GPU)
        yield array


def outputs(function: Callable[..., Any], arrays: Any = None) -> Bits:
    net = made(lambda_of(function))
    return [net(x).asnumpy() for x in (moved() if arrays is None else arrays)]


def moves() -> int:
    """Return how many arrays the graphs read where they are."""
    return sum(len(replay.moves) for replay in graphs()._living)


@pytest.mark.parametrize("function", [elementwise, read_twice, reshaped])
def test_array_that_only_own_kernels_read_is_moved(
    gpu: Machine, driver: GraphDriverDouble, function: Any
) -> None:
    got, want, launches = both(lambda: outputs(function))
    same(got, want)
    assert launches >= 20
    assert len(driver.changes) >= 15


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (product, "a library has its address"),
        (partly_read_by_a_library, "a library has its address"),
        (transposed, "its address is part of an argument"),
    ],
)
def test_array_with_another_reader_is_copied(
    driver: GraphDriverDouble, function: Any, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "gluonish"):
        got, want, launches = both(lambda: outputs(function))
    same(got, want)
    assert launches >= 20
    assert not driver.changes
    assert why in caplog.text


def test_array_that_a_kernel_of_cupy_reads_is_copied(
    driver: GraphDriverDouble, caplog: pytest.LogCaptureFixture
) -> None:
    with MXNET_USE_FUSION.override(False), caplog.at_level(logging.DEBUG, "gluonish"):
        got, want, launches = both(lambda: outputs(elementwise))
    same(got, want)
    assert launches >= 20
    assert not driver.changes
    assert "a library has its address" in caplog.text


def test_graph_launches_no_copy_of_a_moved_array(gpu: Machine) -> None:
    """Graph and copy of the output; a call at another address is as many."""
    with MXNET_ENABLE_CUDA_GRAPHS.override(True):
        net, arrays = made(lambda_of(elementwise)), list(moved(9))
        for x in arrays:
            net(x).wait_to_read()
        counts = []
        for x in (*arrays[:2], *arrays[:2]):
            before = gpu.counts.launches
            net(x).wait_to_read()
            counts.append(gpu.counts.launches - before)
    assert counts == [2, 2, 2, 2]


def test_array_that_stays_costs_no_call_of_the_driver(driver: GraphDriverDouble) -> None:
    with MXNET_ENABLE_CUDA_GRAPHS.override(True):
        net, x = made(lambda_of(elementwise)), nd.ones(SHAPE, ctx=GPU)
        for _ in range(4):
            net(x).wait_to_read()
        assert moves() == 1
        driver.calls.clear()
        for _ in range(5):
            net(x).wait_to_read()
    assert driver.calls.count("cuGraphExecKernelNodeSetParams_v2") <= 1
    assert set(driver.calls) <= {"cuGraphExecKernelNodeSetParams_v2"}


def test_two_arrays_of_one_launch_are_moved(gpu: Machine, driver: GraphDriverDouble) -> None:
    def run() -> Bits:
        net = made(lambda_of(lambda F, x, y: F.sum(F.tanh(x) * y, axis=1)))
        return [net(x, y).asnumpy() for x, y in zip(moved(27), moved(35), strict=False)]

    got, want, launches = both(run)
    same(got, want)
    assert launches >= 10
    assert len(driver.changes) >= 15


def test_uploaded_batches_are_moved_while_later_ones_come(
    gpu: Machine, driver: GraphDriverDouble
) -> None:
    """Nothing waits in between, and batches go with their calls: the double would find a race."""

    def run() -> Bits:
        net, random = made(lambda_of(read_twice)), np.random.default_rng(3)
        found = [net(nd.array(random.standard_normal(SHAPE), ctx=GPU)) for _ in range(COUNT)]
        return [y.asnumpy() for y in found]

    got, want, launches = both(run)
    same(got, want)
    assert launches >= 20
    assert driver.changes


@pytest.mark.parametrize("name", NETS)
@pytest.mark.parametrize("run", [inference, training])
def test_networks_have_the_bits_that_they_have_without_graphs(
    gpu: Machine, run: Any, name: str
) -> None:
    got, want, launches = both(lambda: run(*NETS[name], 14))
    same(got, want)
    assert launches >= 8


@pytest.mark.parametrize("engine", ["NaiveEngine", "ThreadedEngine"])
def test_every_engine_moves_arrays(machine: Machine, engine: str) -> None:
    with gpu_contexts(machine, engine):
        got, want, launches = both(lambda: outputs(read_twice))
        same(got, want)
        assert launches >= 20
        assert machine.graph_driver.changes  # type: ignore[attr-defined]


def stem() -> nn.HybridBlock:
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3, strides=2, padding=1, in_channels=3, use_bias=False))
    net.add(nn.BatchNorm(in_channels=8), nn.Activation("relu"), nn.Dense(4, in_units=128))
    net.cast("float16")
    return net


def stem_steps() -> Bits:
    """Return the losses of training steps on images that move, and the last gradient."""
    net, found = made(stem), []
    for x in moved(30, (2, 3, 8, 8)):
        with autograd.record():
            loss = (net(x.astype("float16")) ** 2).mean()
        loss.backward()
        found.append(loss.asnumpy().astype("f4"))
        held.append(loss)
    held.clear()
    (weight,) = net.collect_params(".*conv.*weight").values()
    return [*found, weight.grad(GPU).asnumpy().astype("f4")]


held: list[Any] = []


def test_images_of_a_padded_convolution_are_moved_both_ways(
    gpu: Machine, driver: GraphDriverDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of ResNet-50 in 16 bits: a launch of ours pads the channels, and cuDNN reads these."""
    monkeypatch.setattr(channel_padding, "_MIN_FLOPS", 0)
    got, want, _ = both(stem_steps)
    same(got, want)
    changed = {id(graph) for graph, _ in driver.changes}
    assert len(changed) >= 2, "the graph of the forward pass, and that of the backward pass"


def test_images_that_cudnn_reads_are_copied(gpu: Machine, driver: GraphDriverDouble) -> None:
    got, want, launches = both(lambda: inference(*NETS["convolutional"], 20))
    same(got, want)
    assert launches
    assert not moves()


def test_array_that_is_not_aligned_is_copied(driver: GraphDriverDouble) -> None:
    whole = nd.arange(1 + 4 * 8, ctx=GPU) / 100

    def arrays() -> Iterator[nd.NDArray]:
        for i, x in enumerate(moved()):
            yield whole[1:].reshape(SHAPE) if i > 5 and i % 3 else x

    got, want, launches = both(lambda: outputs(elementwise, arrays()))
    same(got, want)
    assert launches >= 20
    assert driver.changes


def _like(address: int, nbytes: int) -> Any:
    return SimpleNamespace(data=SimpleNamespace(ptr=address), nbytes=nbytes)


@pytest.mark.parametrize(
    ("address", "nbytes", "allowed"),
    [
        (0x1000, 0x100, True),
        (0x1F00, 0x100, True),
        (0x1F00, 0x110, False),
        (0x2010, 0x10, False),
        (0x20F0, 0x200, False),
        (0x1000, 0x4000, False),
        (0x2100, 0x100, True),
        (0x3000, 0x80, True),
        (0x3FF0, 0x10, True),
        (0x4000, 0x10, False),
        (0x5008, 0x10, False),
    ],
)
def test_array_that_the_graph_writes_is_not_read_in_place(
    address: int, nbytes: int, allowed: bool
) -> None:
    driver: Any = SimpleNamespace(functions={"cuGraphExecKernelNodeSetParams_v2": None})
    moving = MovingArray(driver, None, (), 0)
    moving.keep_apart([_like(0x4000, 0x100), _like(0x2000, 0x100)])
    assert moving.read(_like(address, nbytes)) is allowed
    assert moving.address == (address if allowed else 0)
    assert moving.is_usable


def test_memory_for_copies_goes_when_no_replay_copies() -> None:
    memo = ReplayMemo([0, 1], [2])
    memo.fixed = dict.fromkeys(range(3))
    copies: Any = SimpleNamespace(moves={})
    moving: Any = SimpleNamespace(moves={0: None})
    memo.replays.add("a", copies)
    memo.release_moved(moving)
    assert set(memo.fixed) == {0, 1, 2}
    memo.replays.clear()
    memo.replays.add("b", moving)
    memo.release_moved(moving)
    assert set(memo.fixed) == {1, 2}
    assert memo.movable([1]) == [0]


def test_refusal_of_the_driver_ends_moves(gpu: Machine, driver: GraphDriverDouble) -> None:
    """The call runs without a graph, and later ones with copies."""
    with MXNET_ENABLE_CUDA_GRAPHS.override(False):
        want = outputs(read_twice)
    with MXNET_ENABLE_CUDA_GRAPHS.override(True):
        net, got = made(lambda_of(read_twice)), []
        for i, x in enumerate(moved()):
            driver.fails = {"cuGraphExecKernelNodeSetParams_v2"} if i == 8 else set()
            got.append(net(x).asnumpy())
    same(got, want)
    assert len(driver.changes) < 20
    assert driver.calls.count("cuGraphGetNodes") == 4, "compared once"


@pytest.mark.parametrize("name", [x for x in PROTOTYPES if "Mem" not in x and "Exec" not in x])
def test_driver_that_fails_to_show_a_graph_lets_arrays_be_copied(
    driver: GraphDriverDouble, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    driver.fails = {name}
    with caplog.at_level(logging.DEBUG, "gluonish"):
        got, want, launches = both(lambda: outputs(partly_read_by_a_library))
    same(got, want)
    assert launches >= 20
    assert not driver.changes
    assert f"{name} reports 999" in caplog.text


def test_old_driver_lets_arrays_be_copied(
    gpu: Machine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    opened = moving_arrays._opened
    monkeypatch.setattr(moving_arrays, "_opened", type(opened)())
    monkeypatch.setattr(ctypes, "CDLL", lambda name: SimpleNamespace())
    with caplog.at_level(logging.DEBUG, "gluonish"):
        got, want, launches = both(lambda: outputs(elementwise))
    same(got, want)
    assert launches
    assert not moves()
    assert caplog.text.count("read copies of all arrays that move") == 1


def test_small_arrays_are_copied(
    driver: GraphDriverDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    got, want, _ = both(lambda: outputs(elementwise))
    same(got, want)
    assert not driver.calls


def test_array_of_many_launches_must_be_larger(
    driver: GraphDriverDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moving_arrays, "_NBYTES_PER_LAUNCH", 4 * 8 * 4)
    both(lambda: outputs(elementwise))
    before = len(driver.changes)
    assert before
    both(lambda: outputs(read_twice))
    assert len(driver.changes) == before


def test_option_turns_it_off(driver: GraphDriverDouble) -> None:
    with GLUONISH_CUDA_MOVE.override(False):
        got, want, _ = both(lambda: outputs(elementwise))
    same(got, want)
    assert not driver.calls


def test_option_is_observed(gpu: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert CHECKS["GLUONISH_CUDA_MOVE"]()


def test_graph_lives_as_long_as_its_moves(gpu: Machine, driver: GraphDriverDouble) -> None:
    """Graphs are dropped for memory while calls go on; a dropped one is not changed behind that."""

    def run() -> Bits:
        net, found = made(lambda_of(read_twice)), []
        for i, x in enumerate(moved()):
            if i % 7 == 6:
                graphs().drop()
                GPU.empty_cache()
            found.append(net(x).asnumpy())
        return found

    got, want, launches = both(run)
    same(got, want)
    assert launches


# The double: a wrong change is wrong there, too.


def _captured(device: OneDevice, arrays: list[Array]) -> Any:
    """Return a graph that doubles an array, and its output."""
    from gluonish.kernels.cupy.pointwise import _run
    from gluonish.ops.fused.pointwise import Instruction, Program
    from gluonish.ops.registry import find_operator

    double = Program(1, [Instruction(find_operator("square"), (0,), {})], (1,))
    x, out = arrays
    _run(device.cupy, out, x, num_args=1, program=double)
    device.stream.begin_capture()
    _run(device.cupy, out, x, num_args=1, program=double)
    return device.stream.end_capture()


def _moving(device: OneDevice) -> tuple[Any, list[Array], Any]:
    """Return a graph that squares an array, its arrays, and the array as one that moves."""
    x, other, out = (device.normal(4, 8) for _ in range(3))
    graph, second = _captured(device, [x, out]), _captured(device, [other, out])
    moving = moving_arrays.find_moving(device.cupy, graph, second, x, other, {})
    assert moving is not None
    return graph, [x, other, out], moving


def test_change_holds_for_later_launches(device: OneDevice) -> None:
    graph, (x, other, out), moving = _moving(device)
    graph.launch(device.stream)
    np.testing.assert_array_equal(out._raw, x._raw**2)
    assert moving.read(other)
    np.testing.assert_array_equal(out._raw, x._raw**2)
    graph.launch(device.stream)
    np.testing.assert_array_equal(out._raw, other._raw**2)
    assert moving.address == other.data.ptr


def test_double_finds_a_move_to_no_memory(device: OneDevice) -> None:
    graph, _, moving = _moving(device)
    assert moving.read(_like(0x1000, 128))
    with pytest.raises(Exception, match="illegal memory access"):
        graph.launch(device.stream)


def test_double_finds_a_moved_array_that_nothing_orders(device: OneDevice) -> None:
    graph, _, moving = _moving(device)
    with device.machine.new_stream(non_blocking=True):
        written = device.cupy.ones((4, 8), np.float32)
    assert moving.read(written)
    with pytest.raises(Race):
        graph.launch(device.stream)


def test_double_finds_a_vector_that_is_not_aligned(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, (_, other, _), moving = _moving(device)
    shifted = _like(other.data.ptr + 4, 64)
    assert not moving.read(shifted)
    monkeypatch.setattr(moving_arrays, "VECTOR_NBYTES", 4)
    assert moving.read(shifted)
    with pytest.raises(AssertionError, match="not aligned"):
        graph.launch(device.stream)


def test_double_finds_a_move_that_is_left_out(
    gpu: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moving_arrays.MovingArray, "read", lambda self, array: True)
    got, want, _ = both(lambda: outputs(elementwise))
    with pytest.raises(AssertionError):
        same(got, want)


@pytest.mark.parametrize("where", ["another kernel", "another grid", "another node"])
def test_graphs_of_other_work_move_nothing(device: OneDevice, where: str) -> None:
    x, other, out = (device.normal(4, 8) for _ in range(3))
    graph = _captured(device, [x, out])
    if where == "another grid":
        larger = [device.normal(400, 80) for _ in range(2)]
        second = _captured(device, larger)
    else:
        device.stream.begin_capture()
        device.cupy.sin(other, out=out)
        if where == "another node":
            device.cupy.sin(out, out=out)
        second = device.stream.end_capture()
    assert moving_arrays.find_moving(device.cupy, graph, second, x, other, {}) is None


# The binding against cuda.h.


@pytest.mark.parametrize("name", PROTOTYPES)
def test_functions_have_the_parameters_of_the_header(name: str) -> None:
    sizes = [ctypes.sizeof(kind) for kind in PROTOTYPES[name]]
    assert sizes == [size_of(kind) for kind in SURFACE["functions"][name]]


def test_structure_is_that_of_the_header() -> None:
    fields = SURFACE["structures"]["CUDA_KERNEL_NODE_PARAMS_v2"]
    sizes = [size_of(kind) for kind, _ in fields]
    assert sum(ctypes.sizeof(field[1]) for field in KernelParams._fields_) == sum(sizes)
    assert KernelParams.values.offset == 40  # behind 9 numbers of 4 bytes and a gap
    assert ctypes.sizeof(KernelParams) == 72


def test_offsets_of_copies_are_those_of_the_header() -> None:
    copied = SURFACE["structures"]["CUDA_MEMCPY3D_v2"]
    kind: Any = type(
        "Copied",
        (ctypes.Structure,),
        {"_fields_": [(name, ctypes.c_char * 8 if size_of(x) == 8 else ctypes.c_uint)
                      for x, name in copied]},
    )  # fmt: skip
    names = [name for _, name in copied]
    assert names.index("srcMemoryType") == 4
    assert kind.srcMemoryType.offset == moving_arrays._SOURCE_TYPE
    assert sum(8 for _ in copied) == moving_arrays._MEMCPY_NBYTES
    memset = SURFACE["structures"]["CUDA_MEMSET_NODE_PARAMS_v1"]
    assert sum(size_of(kind) for kind, _ in memset) == moving_arrays._MEMSET_NBYTES


def test_enumerators_are_those_of_the_header() -> None:
    assert {
        "CU_GRAPH_NODE_TYPE_KERNEL": moving_arrays._KERNEL,
        "CU_GRAPH_NODE_TYPE_MEMCPY": moving_arrays._MEMCPY,
        "CU_GRAPH_NODE_TYPE_MEMSET": moving_arrays._MEMSET,
        "CU_GRAPH_NODE_TYPE_EMPTY": moving_arrays._EMPTY,
        "CUDA_ERROR_INVALID_VALUE": moving_arrays._INVALID_VALUE,
        "CU_MEMORYTYPE_HOST": moving_arrays._HOST,
    } == ENUMERATORS


def test_driver_without_a_function_is_no_driver() -> None:
    with pytest.raises(AttributeError):
        Driver(SimpleNamespace())
