"""Graphs of the double: what a stream notes, what it refuses meanwhile, and what a launch does."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.kernels.cupy.arrays import Array, allocate
from tests.kernels.cupy.double import make_cupy
from tests.kernels.cupy.linear_algebra import errstate
from tests.kernels.cupy.machine import Counts, Machine
from tests.kernels.cupy.streams import CUDARuntimeError, Stream

Call = Callable[[Any, Array], Any]
# CuPy 14.2 asks whether the current stream captures, and raises before it does anything.
UNSUPPORTED: dict[str, Call] = {
    "cuBLAS": lambda cp, x: cp.matmul(x, x),
    "operator of products": lambda cp, x: x @ x,  # type: ignore[operator]
    "cuSOLVER": lambda cp, x: cp.linalg.inv(x),
}
SYNCHRONOUS: dict[str, Call] = {
    "array of NumPy's": lambda cp, x: cp.asarray(np.ones(2)),
    "copy to the host": lambda cp, x: x.get(),
    "number": lambda cp, x: float(x[0, 0]),
    "truth": lambda cp, x: bool(x[0, 0]),
    "places that are not zero": lambda cp, x: cp.nonzero(x),
    "where of a condition alone": lambda cp, x: cp.where(x),
    "elements under a mask": lambda cp, x: x[x > 0],  # type: ignore[operator]
    "distinct values": lambda cp, x: cp.unique(x),
}


@pytest.fixture
def cupy(machine: Machine) -> Any:
    module = make_cupy(machine)
    with module.cuda.Device(0), machine.new_stream(non_blocking=True):
        yield module


@pytest.fixture
def x(cupy: Any, machine: Machine) -> Array:
    array = allocate(machine, (2, 2), "f4")
    array._raw[...] = [[2, 0], [0, 1]]
    return array


@pytest.mark.parametrize("what", UNSUPPORTED)
def test_library_is_refused(cupy: Any, machine: Machine, x: Array, what: str) -> None:
    machine.current().begin_capture()
    with errstate(linalg="raise"), pytest.raises(NotImplementedError, match="stream capture"):
        UNSUPPORTED[what](cupy, x)
    machine.current().end_capture()


@pytest.mark.parametrize("what", SYNCHRONOUS)
def test_call_that_waits_is_refused(cupy: Any, machine: Machine, x: Array, what: str) -> None:
    machine.current().begin_capture()
    with pytest.raises(RuntimeError, match="capturing"):
        SYNCHRONOUS[what](cupy, x)
    machine.current().end_capture()


def test_product_of_whole_numbers_is_noted(cupy: Any, machine: Machine) -> None:
    whole = cupy.ones((2, 2), "i4")
    machine.current().begin_capture()
    cupy.matmul(whole, whole)
    machine.current().end_capture()


@pytest.mark.parametrize(
    "ask",
    [
        lambda stream, event: stream.synchronize(),
        lambda stream, event: stream.done,
        lambda stream, event: event.synchronize(),
        lambda stream, event: event.done,
    ],
)
def test_wait_for_what_is_captured_breaks_the_capture(
    cupy: Any, machine: Machine, ask: Callable[[Stream, Any], Any]
) -> None:
    stream = machine.current()
    stream.begin_capture()
    event = stream.record()
    with pytest.raises(CUDARuntimeError):
        ask(stream, event)
    assert stream.is_capturing()
    with pytest.raises(CUDARuntimeError, match="Invalidated"):
        stream.end_capture()
    assert not stream.is_capturing()


def test_event_of_before_may_be_asked(cupy: Any, machine: Machine) -> None:
    stream = machine.current()
    event = stream.record()
    stream.begin_capture()
    assert event.done
    stream.end_capture()


def test_wait_for_an_event_of_before_breaks_the_capture(cupy: Any, machine: Machine) -> None:
    stream = machine.current()
    event = stream.record()
    stream.begin_capture()
    with pytest.raises(CUDARuntimeError, match="Isolation"):
        stream.wait_event(event)
    with pytest.raises(CUDARuntimeError, match="Invalidated"):
        stream.end_capture()


def test_end_without_a_beginning_is_refused(cupy: Any, machine: Machine) -> None:
    with pytest.raises(CUDARuntimeError, match="IllegalState"):
        machine.current().end_capture()


def test_nothing_has_happened_before_the_launch(cupy: Any, machine: Machine, x: Array) -> None:
    stream = machine.current()
    stream.begin_capture()
    x += 1  # type: ignore[assignment, operator]
    y = x * 2  # type: ignore[operator]
    graph = stream.end_capture()
    assert x._raw.tolist() == [[2, 0], [0, 1]]
    for times in (1, 2):
        graph.launch()
        assert x._raw.tolist() == [[2 + times, times], [times, 1 + times]]
        assert y._raw.tolist() == (2 * x._raw).tolist()  # type: ignore[attr-defined]


def test_launch_reads_what_memory_holds_then(cupy: Any, machine: Machine, x: Array) -> None:
    stream = machine.current()
    stream.begin_capture()
    y = cupy.sqrt(x)
    graph = stream.end_capture()
    x.fill(9)
    graph.launch()
    assert y._raw.tolist() == [[3, 3], [3, 3]]


def test_graph_is_one_launch(cupy: Any, machine: Machine, x: Array) -> None:
    stream = machine.current()
    stream.begin_capture()
    for _ in range(5):
        x += 1  # type: ignore[assignment, operator]
    graph = stream.end_capture()
    machine.counts = Counts()
    graph.launch()
    assert machine.counts.launches == 1


def test_stream_that_waits_for_a_capturing_one_joins_it(
    cupy: Any, machine: Machine, x: Array
) -> None:
    stream, other = machine.current(), machine.new_stream(non_blocking=True)
    y = cupy.zeros((2, 2), "f4")
    stream.begin_capture()
    x += 1  # type: ignore[assignment, operator]
    other.wait_event(stream.record())
    with other:
        cupy.multiply(x, 2, out=y)
        back = other.record()
    assert other.is_capturing()
    stream.wait_event(back)
    graph = stream.end_capture()
    assert not other.is_capturing()
    graph.launch()
    assert y._raw.tolist() == [[6, 2], [2, 4]]


def test_copy_of_page_locked_memory_is_noted(cupy: Any, machine: Machine) -> None:
    runtime, target = cupy.cuda.runtime, cupy.zeros((4,), "u1")
    pinned = cupy.cuda.alloc_pinned_memory(4)
    staged = np.frombuffer(pinned, np.uint8, 4)
    stream = machine.current()
    stream.begin_capture()
    kind = runtime.memcpyHostToDevice
    runtime.memcpyAsync(target.data.ptr, pinned.ptr, 4, kind, stream.ptr)
    graph = stream.end_capture()
    staged[:] = [1, 2, 3, 4]
    graph.launch()
    assert target._raw.tolist() == [1, 2, 3, 4]
