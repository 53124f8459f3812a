"""The pool of a GPU, on the double: what it keeps, for whom, and what the environment says."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.config import (
    MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE,
    MXNET_GPU_MEM_POOL_PAGE_SIZE,
    MXNET_GPU_MEM_POOL_RESERVE,
    MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF,
    MXNET_GPU_MEM_POOL_TYPE,
)
from gluonish.core.errors import DeviceError, OutOfMemoryError
from tests.kernels.cupy.double import make_cupy
from tests.kernels.cupy.install import support_of
from tests.kernels.cupy.machine import Machine

MIB = 1 << 20


def blocks(machine: Machine) -> list[int]:
    """Sizes of what the driver gave out, in order."""
    return [memory.raw.size for memory in machine._memories.values()]


def make(nbytes: int) -> Any:
    return nd.zeros((nbytes,), ctx=mx.gpu(0), dtype="uint8")


@pytest.mark.parametrize(
    ("kind", "asked", "sizes"),
    [
        ("Naive", (1, 5000, 3 * MIB), [4096, 8192, 4 * MIB]),
        ("Round", (1, 5000, 3 * MIB, 17 * MIB), [4096, 8192, 4 * MIB, 32 * MIB]),
        ("Unpooled", (1, 5000, 3 * MIB), [1, 5000, 3 * MIB]),
    ],
)
def test_kind_of_pool_says_how_large_blocks_are(
    gpus: Any, machine: Machine, kind: str, asked: tuple[int, ...], sizes: list[int]
) -> None:
    with MXNET_GPU_MEM_POOL_TYPE.override(kind):
        held = [make(nbytes) for nbytes in asked]
    nd.waitall()
    assert blocks(machine) == sizes
    del held
    mx.gpu(0).empty_cache()
    assert machine.reserved[0] == 0


@pytest.mark.parametrize(("kind", "kept"), [("Naive", True), ("Round", True), ("Unpooled", False)])
def test_freed_block_is_kept_unless_unpooled(
    gpus: Any, machine: Machine, kind: str, kept: bool
) -> None:
    with MXNET_GPU_MEM_POOL_TYPE.override(kind):
        make(5000).wait_to_read()
    assert (machine.reserved[0] > 0) is kept
    info = mx.gpu(0).memory_info()
    assert (info.used, info.held) == (0, 8192 if kept else 0)
    assert info.reserved == machine.reserved[0]
    assert info.free == info.total - machine.reserved[0]
    assert info.peak == (8192 if kept else 5000)


def test_page_and_large_size_set_the_grain(gpus: Any, machine: Machine) -> None:
    with (
        MXNET_GPU_MEM_POOL_PAGE_SIZE.override(512),
        MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE.override(10000),
    ):
        held = [make(nbytes) for nbytes in (600, 9000, 10001)]
    assert blocks(machine) == [1024, 9216, 20000]
    del held


def test_cutoff_ends_the_powers_of_two(gpus: Any, machine: Machine) -> None:
    with (
        MXNET_GPU_MEM_POOL_TYPE.override("Round"),
        MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF.override(20),
    ):
        held = [make(nbytes) for nbytes in (MIB - 1, 4 * MIB + 1)]
    assert blocks(machine) == [MIB, 5 * MIB]
    del held


@pytest.mark.parametrize(("percent", "left"), [(0, 2), (50, 1)])
def test_kept_blocks_go_back_before_the_reserve_is_touched(
    gpus: Any, machine: Machine, percent: int, left: int
) -> None:
    machine.capacity = 20 * MIB
    with MXNET_GPU_MEM_POOL_RESERVE.override(percent):
        make(8 * MIB).wait_to_read()
    held = make(6 * MIB)
    nd.waitall()
    assert len(blocks(machine)) == left
    del held


def test_views_keep_a_block_from_being_given_out_again(gpus: Any, machine: Machine) -> None:
    x = nd.array(np.arange(2000), ctx=mx.gpu(0))
    view = x[1000:]
    del x
    nd.zeros((2000,), ctx=mx.gpu(0)).wait_to_read()
    np.testing.assert_array_equal(view.asnumpy(), np.arange(1000, 2000))


def test_devices_have_pools_of_their_own(gpus: Any, machine: Machine) -> None:
    x = nd.zeros((1000,), ctx=mx.gpu(0))
    nd.waitall()
    assert mx.gpu(0).memory_info().used == 4096
    assert mx.gpu(1).memory_info().used == 0
    assert machine.reserved == {0: 4096}
    del x


def test_allocator_of_the_user_stays(machine: Machine) -> None:
    cupy = make_cupy(machine)
    own = cupy.get_default_memory_pool()

    def allocate(nbytes: int) -> Any:
        return own.malloc(nbytes)

    cupy.cuda.set_allocator(allocate)
    support_of(cupy).make_device(mx.gpu(0))
    assert cupy.cuda.get_allocator() is allocate


@pytest.mark.parametrize(
    ("status", "said"), [(401, "cudaErrorIllegalState"), (700, "lost to this process")]
)
def test_failure_of_the_driver_that_is_no_lack_of_memory_is_shown(
    gpus: Any, machine: Machine, monkeypatch: pytest.MonkeyPatch, status: int, said: str
) -> None:
    make(1)
    error = gpus.cuda.runtime.CUDARuntimeError(status)

    def fail(size: int) -> Any:
        raise error

    monkeypatch.setattr(gpus.cuda, "Memory", fail)
    with pytest.raises((type(error), DeviceError), match=said):
        make(5000)


def test_memory_that_other_streams_keep_comes_back_before_an_operator_is_refused(
    gpus: Any, machine: Machine
) -> None:
    machine.capacity = 12 * MIB
    x = nd.array(np.ones(MIB, np.float32)).as_in_context(mx.gpu(0))
    x.copyto(nd.zeros((MIB,), ctx=mx.gpu(0)))  # the stream of copies keeps both for now
    del x
    np.testing.assert_array_equal((make(5 * MIB) + 1).asnumpy()[:2], [1, 1])


def test_operator_that_finds_no_memory_while_it_runs_is_out_of_memory(
    gpus: Any, machine: Machine
) -> None:
    x = make(5 * MIB)
    nd.waitall()

    def fill(out: Any) -> None:
        gpus.empty((machine.capacity,), np.uint8)

    x._write(fill, name="greedy")
    with pytest.raises(OutOfMemoryError, match="greedy: failed with OutOfMemoryError"):
        x.asnumpy()
    np.testing.assert_array_equal((make(2) + 1).asnumpy(), [1, 1])
