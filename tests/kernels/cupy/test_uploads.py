"""Copies to a GPU on the double: ahead of its kernels, from pinned memory, in few blocks."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.config import MXNET_GPU_WORKER_NSTREAMS
from gluonish.core.device import device_of
from gluonish.gluon.data import ArrayDataset, DataLoader
from gluonish.kernels.cupy import CuPySupport
from tests.kernels.cupy.machine import Machine

pytestmark = pytest.mark.timeout(120)

LARGE = 1 << 14  # float32 numbers that a copy gets its own stream for


def naive() -> bool:
    return type(mx.engine.current_engine()).__name__ == "NaiveEngine"


def waits(machine: Machine, stream: Any) -> list[Any]:
    return [entry for entry in machine.log if entry[:2] == ("wait", stream.raw._name)]


@pytest.mark.parametrize(
    "upload",
    [
        lambda values: nd.array(values, ctx=mx.gpu(0)),
        lambda values: nd.array(values).as_in_context(mx.gpu(0)),
        lambda values: nd.array(values).copyto(mx.gpu(0)),
    ],
)
def test_upload_waits_for_no_kernel(gpus: Any, machine: Machine, upload: Any) -> None:
    if naive():
        pytest.skip("the naive engine synchronizes after each launch")
    values = np.arange(LARGE, dtype=np.float32)
    before = upload(values)
    busy = before * 2 + 1
    machine.log.clear()
    after = upload(values)
    assert waits(machine, before._device.ahead) == []
    assert ("h2d", before._device.ahead.raw._name) in machine.log
    np.testing.assert_array_equal((busy + after).asnumpy(), values * 3 + 1)


def test_copy_into_an_array_that_is_there_comes_behind_the_kernels(
    gpus: Any, machine: Machine
) -> None:
    target = nd.zeros((LARGE,), ctx=mx.gpu(0))
    doubled = target + 1
    nd.ones((LARGE,)).copyto(target)
    np.testing.assert_array_equal((doubled + target).asnumpy(), np.full(LARGE, 2))


@pytest.mark.parametrize("streams", [1, 3])
@pytest.mark.parametrize("ahead", [0, 1, 2])
def test_prefetching_loop_reads_what_it_uploaded(
    gpus: Any, machine: Machine, streams: int, ahead: int
) -> None:
    with MXNET_GPU_WORKER_NSTREAMS.override(streams):
        device_of(mx.gpu(0))
    batches = [np.full((LARGE,), i, np.float32) for i in range(16)]
    waiting = [nd.array(batch, ctx=mx.gpu(0)) for batch in batches[:ahead]]
    sums = []
    for i in range(16):
        if i + ahead < 16:
            waiting.append(nd.array(batches[i + ahead], ctx=mx.gpu(0)))
        here = waiting.pop(0)
        sums.append((here + 1).max())
        del here
    assert [s.asscalar() for s in sums] == [i + 1 for i in range(16)]


def test_program_that_never_waits_uses_a_few_blocks_for_its_uploads(
    gpus: Any, machine: Machine
) -> None:
    kept = nd.zeros((LARGE,), ctx=mx.gpu(0))
    for i in range(40):
        kept += nd.array(np.full((LARGE,), i, np.float32), ctx=mx.gpu(0))
    of_uploads = machine.reserved[0] // (LARGE * 4)
    assert of_uploads <= 12
    np.testing.assert_array_equal(kept.asnumpy(), np.full(LARGE, sum(range(40))))


def test_emptied_cache_holds_nothing_of_the_uploads(gpus: Any, machine: Machine) -> None:
    for _ in range(3):
        nd.ones((LARGE,)).as_in_context(mx.gpu(0))
    mx.gpu(0).empty_cache()
    assert machine.reserved[0] == 0


def test_uploads_give_memory_back_before_they_are_refused(gpus: Any, machine: Machine) -> None:
    machine.capacity = 10 * LARGE * 4
    for _ in range(30):
        nd.array(np.ones(3 * LARGE, np.float32), ctx=mx.gpu(0))
    np.testing.assert_array_equal(nd.ones((LARGE,)).copyto(mx.gpu(0)).asnumpy(), np.ones(LARGE))


def test_pinned_array_lies_in_page_locked_memory(gpus: Any, machine: Machine) -> None:
    pinned = nd.ones((3, 5), ctx=mx.cpu_pinned())
    assert pinned.context == mx.cpu_pinned()
    assert gpus.cuda.runtime.pointerGetAttributes(pinned.handle.ctypes.data).type == 1
    np.testing.assert_array_equal((pinned * 2).asnumpy(), np.full((3, 5), 2))
    assert nd.zeros((0, 2), ctx=mx.cpu_pinned()).shape == (0, 2)


def test_upload_from_pinned_memory_needs_no_staging(
    gpus: Any, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.arange(LARGE, dtype=np.float32)
    pinned = nd.array(values, ctx=mx.cpu_pinned())
    nd.waitall()
    with monkeypatch.context() as patch:
        patch.setattr(gpus.cuda, "alloc_pinned_memory", None)
        near = pinned.as_in_context(mx.gpu(0))
        pinned += 1  # waits for the copy, which reads the memory itself
        del pinned
    np.testing.assert_array_equal(near.asnumpy(), values)


def test_values_of_the_program_are_taken_at_once_even_from_pinned_memory(gpus: Any) -> None:
    values = nd.array(np.ones(LARGE), ctx=mx.cpu_pinned()).handle
    near = nd.array(values, ctx=mx.gpu(0))
    values[:] = 7
    np.testing.assert_array_equal(near.asnumpy(), np.ones(LARGE))


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_copy_to_pinned_memory_arrives(gpus: Any, dtype: str) -> None:
    near = nd.array(np.arange(12).reshape(3, 4), ctx=mx.gpu(0))
    pinned = nd.zeros((3, 4), ctx=mx.cpu_pinned(), dtype=dtype)
    near.copyto(pinned)
    np.testing.assert_array_equal(pinned.asnumpy(), np.arange(12).reshape(3, 4))


def test_loader_pins_its_batches(gpus: Any) -> None:
    data = DataLoader(ArrayDataset(np.arange(8, dtype=np.float32)), 4, pin_memory=True)
    batches = list(data)
    assert [batch.context for batch in batches] == [mx.cpu_pinned()] * 2
    flags = [gpus.cuda.runtime.pointerGetAttributes(b.handle.ctypes.data).type for b in batches]
    assert flags == [1, 1]
    np.testing.assert_array_equal(batches[1].as_in_context(mx.gpu(0)).asnumpy(), [4, 5, 6, 7])


def test_pinned_memory_that_the_driver_refuses_is_no_memory(
    gpus: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    nd.ones((1,), ctx=mx.cpu_pinned())

    def refuse(nbytes: int) -> Any:
        raise gpus.cuda.runtime.CUDARuntimeError(2)

    monkeypatch.setattr(gpus.cuda, "alloc_pinned_memory", refuse)
    with pytest.raises(MemoryError, match=r"expected memory for .* on cpu_pinned\(0\)"):
        nd.ones((1000,), ctx=mx.cpu_pinned())


def test_without_a_gpu_pinned_memory_is_ordinary() -> None:
    def missing() -> Any:
        raise ImportError("No module named 'cupy'")

    assert CuPySupport(missing).make_pinned(mx.cpu_pinned()) is None
