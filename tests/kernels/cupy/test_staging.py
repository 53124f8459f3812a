"""Copies through page-locked chunks on the double, which notices memory reused too early."""

import os
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.config import GLUONISH_STAGING_MB
from gluonish.core.device import device_of
from gluonish.core.errors import DeviceError
from gluonish.kernels.cupy import copy_threads, staging
from gluonish.kernels.cupy.device import GPUDevice
from gluonish.kernels.cupy.stream import DeviceStream
from tests.kernels.cupy.machine import Machine, Race

pytestmark = pytest.mark.timeout(120)

CHUNK = 1 << 16
COUNT = 1 << 16  # float32 numbers: four chunks


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make 64 KB of each chunk, and 16 chunks of each MB."""
    monkeypatch.setattr(staging, "CHUNK_NBYTES", CHUNK)


def naive() -> bool:
    return type(mx.engine.current_engine()).__name__ == "NaiveEngine"


def near() -> GPUDevice:
    device = device_of(mx.gpu(0))
    assert isinstance(device, GPUDevice)
    return device


def copies(machine: Machine, kind: str) -> int:
    return sum(entry[0] == kind for entry in machine.log)


def numbers(seed: int = 0, count: int = COUNT) -> Any:
    return np.random.default_rng(seed).standard_normal(count).astype(np.float32)


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.reshape(512, 128).T,
    "long rows": lambda x: np.repeat(x.reshape(2, -1), 2, axis=1)[:, ::2],
    "short rows": lambda x: np.repeat(x.reshape(-1, 16), 2, axis=1)[:, ::2],
    "broadcast": lambda x: np.broadcast_to(x[:48], (700, 48)),
    "float64": lambda x: x.astype(np.float64) * (1 + 1e-9),
    "integers": lambda x: (x * 100).astype(np.int32),
    "odd": lambda x: x[: COUNT - 7],
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_arrays_of_any_layout_arrive_chunk_by_chunk(gpus: Any, machine: Machine, name: str) -> None:
    values = LAYOUTS[name](numbers())
    wanted = np.array(values, np.float32)
    machine.log.clear()
    x = nd.array(values, ctx=mx.gpu(0), dtype="float32")
    if values.base is not None:
        values = values.copy()
    values += 1  # its memory was read before
    assert copies(machine, "h2d") >= wanted.nbytes / CHUNK
    np.testing.assert_array_equal(x.asnumpy(), wanted)
    assert copies(machine, "d2h") == -(-wanted.nbytes // CHUNK)


@pytest.mark.parametrize("megabytes", [0, 1])
def test_copies_equal_those_that_are_whole(gpus: Any, machine: Machine, megabytes: int) -> None:
    with GLUONISH_STAGING_MB.override(megabytes):
        machine.log.clear()
        x = nd.array(numbers(), ctx=mx.gpu(0))
        np.testing.assert_array_equal(x.asnumpy(), numbers())
        expected = 4 if megabytes else 1
        assert (copies(machine, "h2d"), copies(machine, "d2h")) == (expected, expected)


def test_small_arrays_take_one_copy_each_way(gpus: Any, machine: Machine) -> None:
    machine.log.clear()
    x = nd.array(numbers(count=100), ctx=mx.gpu(0))
    np.testing.assert_array_equal(x.asnumpy(), numbers(count=100))
    assert (copies(machine, "h2d"), copies(machine, "d2h")) == (1, 1)
    assert not near().staging.held


def test_ring_has_the_memory_that_was_asked_for(
    gpus: Any, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[int] = []
    allocate = gpus.cuda.alloc_pinned_memory
    monkeypatch.setattr(
        gpus.cuda, "alloc_pinned_memory", lambda n: (taken.append(n), allocate(n))[1]
    )
    with GLUONISH_STAGING_MB.override(1):
        kept = [nd.array(numbers(i, 8 * COUNT), ctx=mx.gpu(0)) for i in range(3)]
        for i, x in enumerate(kept):
            np.testing.assert_array_equal(x.asnumpy(), numbers(i, 8 * COUNT))
    assert taken == [CHUNK] * 16
    mx.gpu(0).empty_cache()
    assert not near().staging.held


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_chunk_that_is_reused_too_early_is_noticed(
    gpus: Any, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    if naive():
        pytest.skip("the naive engine synchronizes after each launch")
    nd.waitall()
    monkeypatch.setattr(DeviceStream, "event_done", lambda *_: True)
    x = nd.array(numbers(), ctx=mx.gpu(0))
    with pytest.raises((Race, DeviceError, mx.MXNetError), match="not ordered behind the upload"):
        x.asnumpy()


def test_write_into_a_busy_array_waits_for_no_kernel(gpus: Any, machine: Machine) -> None:
    if naive():
        pytest.skip("the naive engine synchronizes after each launch")
    target = nd.zeros((32 * COUNT,), ctx=mx.gpu(0))
    doubled = target * 2
    before = machine.counts.synchronizations
    with GLUONISH_STAGING_MB.override(1):
        nd.array(numbers(0, 32 * COUNT)).copyto(target)  # eight times the ring
        assert machine.counts.synchronizations == before
    np.testing.assert_array_equal((doubled + target).asnumpy(), numbers(0, 32 * COUNT))


def test_memory_that_is_page_locked_is_copied_at_once_both_ways(
    gpus: Any, machine: Machine
) -> None:
    pinned = nd.array(numbers(), ctx=mx.cpu_pinned())
    nd.waitall()
    machine.log.clear()
    x = pinned.as_in_context(mx.gpu(0))
    back = nd.zeros((COUNT,), ctx=mx.cpu_pinned())
    (x + 1).copyto(back)
    np.testing.assert_array_equal(back.asnumpy(), numbers() + 1)
    assert (copies(machine, "h2d"), copies(machine, "d2h")) == (1, 1)


@pytest.mark.parametrize("chunks", [0, 1])
def test_driver_that_pins_no_memory_copies_from_pageable(
    gpus: Any, machine: Machine, monkeypatch: pytest.MonkeyPatch, chunks: int
) -> None:
    x = nd.array(numbers()[: chunks * CHUNK // 4], ctx=mx.gpu(0)) if chunks else None
    machine.pins = False
    for count in (10, COUNT, 3 * COUNT):
        x = nd.array(numbers(1, count), ctx=mx.gpu(0))
        x[:] = x * 2 + nd.array(numbers(2, count)).as_in_context(mx.gpu(0))
        np.testing.assert_array_equal(x.asnumpy(), numbers(1, count) * 2 + numbers(2, count))


def test_threads_share_the_chunks(gpus: Any, machine: Machine) -> None:
    wrong: list[int] = []

    def use(seed: int) -> None:
        for step in range(4):
            values = numbers(10 * seed + step, 3 * COUNT)
            x = nd.array(values, ctx=mx.gpu(0))
            if not np.array_equal((x + 1).asnumpy(), values + 1):
                wrong.append(seed)

    with GLUONISH_STAGING_MB.override(1):
        threads = [threading.Thread(target=use, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert not wrong
    assert near().staging.held <= 20 * CHUNK


def test_error_of_a_copy_leaves_the_ring_whole(
    gpus: Any, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    nd.array(numbers(), ctx=mx.gpu(0)).wait_to_read()
    before = len(near().staging._free)

    def fail(*_: Any, **__: Any) -> None:
        raise ValueError("no number")

    with monkeypatch.context() as patch:
        patch.setattr(np, "copyto", fail)
        with pytest.raises(Exception, match="no number"):
            nd.array(numbers(), ctx=mx.gpu(0)).wait_to_read()
    assert len(near().staging._free) == before
    np.testing.assert_array_equal(nd.array(numbers(), ctx=mx.gpu(0)).asnumpy(), numbers())


def test_lost_device_is_told_of_by_copies(gpus: Any, machine: Machine) -> None:
    x = nd.array(numbers(), ctx=mx.gpu(0))
    x.wait_to_read()
    machine.broken = gpus.cuda.runtime.CUDARuntimeError(700)
    with pytest.raises(DeviceError, match="lost"):
        x.asnumpy()
    with pytest.raises(DeviceError, match="lost"):
        nd.array(numbers(), ctx=mx.gpu(0)).asnumpy()
    machine.broken = None


@pytest.mark.parametrize("helpers", [0, 1, 3])
def test_steps_run_once_each_whatever_helps(monkeypatch: pytest.MonkeyPatch, helpers: int) -> None:
    monkeypatch.setattr(copy_threads, "_helpers", lambda: helpers)
    monkeypatch.setattr(copy_threads._State, "jobs", SimpleQueue())  # no other thread's
    left, ran = deque(range(50)), deque[int]()
    for _ in range(copy_threads._helpers()):
        threading.Thread(target=lambda: copy_threads._State.jobs.get().help(), daemon=True).start()
    copy_threads.run_steps(lambda: ran.append(left.popleft()), 50)
    assert sorted(ran) == list(range(50))


def test_error_of_a_helper_is_raised_and_ends_the_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    caller, ran = threading.current_thread(), deque[int]()
    monkeypatch.setattr(copy_threads, "_helpers", lambda: 1)
    monkeypatch.setattr(copy_threads._State, "jobs", SimpleQueue())
    entered = threading.Event()

    def step() -> None:
        ran.append(1)
        if threading.current_thread() is caller:
            assert entered.wait(20)
        else:
            entered.set()
            raise ValueError("in a helper")

    threading.Thread(target=lambda: copy_threads._State.jobs.get().help(), daemon=True).start()
    with pytest.raises(ValueError, match="in a helper"):
        copy_threads.run_steps(step, 30)
    assert len(ran) < 30


def test_forked_child_starts_helpers_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(3))
    assert copy_threads._helpers() >= 2
    before = copy_threads._State.jobs
    monkeypatch.setattr(copy_threads._State, "pid", -1)
    assert copy_threads._helpers() == 2
    assert copy_threads._State.jobs is not before


def test_values_of_threads_that_copy_are_those_of_one(
    gpus: Any, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(4))
    with GLUONISH_STAGING_MB.override(1):
        for seed in range(3):
            x = nd.array(numbers(seed, 24 * COUNT), ctx=mx.gpu(seed % 2))
            np.testing.assert_array_equal(x.asnumpy(), numbers(seed, 24 * COUNT))
