"""A store that adds up through NCCL: on the doubles of CuPy and of its communicators."""

import ctypes
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.errors import DeviceError, OperatorError
from gluonish.kvstore import KVStore
from gluonish.kvstore.nccl_reduce import NCCLReduction, find_nccl

pytestmark = pytest.mark.timeout(120)
FLOAT32 = 7


class FakeNCCL:
    """Communicators that do their sums when a group ends."""

    NCCL_FLOAT32, NCCL_SUM = FLOAT32, 0

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.groups = 0
        self.open = 0
        self.made = 0
        self.aborted: list[int] = []
        self.NcclCommunicator = SimpleNamespace(initAll=self._make)

    def _make(self, devices: list[int]) -> list[Any]:
        self.made += 1

        def maker(number: int) -> Any:
            return SimpleNamespace(
                reduce=lambda *call: self.reduce(number, *call),
                check_async_error=self.check_async_error,
                abort=lambda: self.aborted.append(number),
            )

        return [maker(number) for number in devices]

    def reduce(self, number: int, *call: Any) -> None:
        self.calls.append((number, *call))

    def check_async_error(self) -> None:
        pass

    def groupStart(self) -> None:  # the library's name
        assert not self.open, "one thread at a time"
        self.open += 1
        self.calls = []

    def groupEnd(self) -> None:
        self.open -= 1
        self.groups += 1
        if len(self.calls) < 2:
            return  # a group that failed
        counts = {call[3:7] for call in self.calls}
        ((size, dtype, operation, root),) = counts
        assert (dtype, operation) == (FLOAT32, self.NCCL_SUM)
        sources = [np.frombuffer(ctypes.string_at(c[1], 4 * size), np.float32) for c in self.calls]
        total = sum(sources).astype(np.float32)
        ctypes.memmove(self.calls[root][2], total.tobytes(), total.nbytes)


def test_gradients_of_two_gpus_go_through_the_library(gpus: Any) -> None:
    nccl = FakeNCCL()
    store = KVStore("nccl", NCCLReduction(nccl))
    assert store.type == "nccl"
    store.init("w", nd.zeros((2, 2), ctx=mx.gpu(0)))
    values = [nd.array([[1.0, 2], [3, 4]], ctx=mx.gpu(i)) * (10**i) for i in range(2)]
    for _ in range(2):
        store.push("w", values)
    out = nd.zeros((2, 2))
    store.pull("w", out)
    np.testing.assert_array_equal(out.asnumpy(), [[11, 22], [33, 44]])
    np.testing.assert_array_equal(values[0].asnumpy(), [[1, 2], [3, 4]])
    assert nccl.groups == 2
    assert [call[0] for call in nccl.calls] == [0, 1]
    assert len({call[-1] for call in nccl.calls}) == 2  # a stream for each


def test_what_the_library_cannot_add_is_added_up_without_it(gpus: Any) -> None:
    nccl = FakeNCCL()
    store = KVStore("nccl", NCCLReduction(nccl))
    store.init("w", nd.zeros((2,)))
    store.push("w", [nd.ones((2,), ctx=mx.cpu(i)) for i in range(2)])
    out = nd.zeros((2,))
    store.pull("w", out)
    assert out.asnumpy().tolist() == [2, 2]
    assert nccl.groups == 0


def test_library_is_found_where_there_is_a_gpu(gpus: Any) -> None:
    module: Any = SimpleNamespace(available=True)
    assert find_nccl(lambda: module) is module
    with pytest.raises(DeviceError, match="expected the NCCL library"):
        find_nccl(lambda: SimpleNamespace(available=False))  # type: ignore[arg-type, return-value]


def test_missing_cupy_is_told() -> None:
    def load() -> Any:
        raise ImportError("no module cupy")

    with pytest.raises(DeviceError, match="got no module cupy"):
        find_nccl(load)


def push_and_wait(nccl: FakeNCCL) -> Callable[[], None]:
    """Push two arrays to a store, which NCCL adds up, and wait; return a function that does it."""
    store = KVStore("nccl", NCCLReduction(nccl))
    store.init("w", nd.zeros((2,), ctx=mx.gpu(0)))
    values = [nd.ones((2,), ctx=mx.gpu(i)) for i in range(2)]

    def push() -> None:
        store.push("w", values)
        nd.waitall()

    push()
    return push


class FailsOnce(FakeNCCL):
    def reduce(self, number: int, *call: Any) -> None:
        if number == 1 and not self.groups:
            raise ValueError("NCCL_ERROR_INVALID_ARGUMENT")
        super().reduce(number, *call)


def test_call_that_fails_ends_its_group_and_later_sums_are_refused(gpus: Any) -> None:
    nccl = FailsOnce()
    with pytest.raises(OperatorError, match="NCCL_ERROR_INVALID_ARGUMENT"):
        push_and_wait(nccl)
    assert (nccl.open, nccl.groups) == (0, 1)
    assert nccl.aborted == [0, 1]
    assert nccl.made == 1


def test_store_with_aborted_communicators_refuses_sums(gpus: Any) -> None:
    nccl = FailsOnce()
    reduction = NCCLReduction(nccl)
    values = [nd.ones((2,), ctx=mx.gpu(i)) for i in range(2)]
    with pytest.raises(OperatorError, match="INVALID_ARGUMENT"):
        reduction.reduce(values, mx.gpu(0), 0).wait_to_read()
    with pytest.raises(OperatorError, match="aborted after an earlier failure of a sum"):
        reduction.reduce(values, mx.gpu(0), 0).wait_to_read()
    assert nccl.groups == 1


def test_asynchronous_error_is_raised_by_the_next_sum(gpus: Any) -> None:
    class Broken(FakeNCCL):
        def check_async_error(self) -> None:
            if self.groups:
                raise RuntimeError("NCCL_ERROR_REMOTE_ERROR")

    nccl = Broken()
    push = push_and_wait(nccl)
    with pytest.raises(OperatorError, match="NCCL_ERROR_REMOTE_ERROR"):
        push()
    assert nccl.groups == 1
    assert nccl.aborted == [0, 1]


def test_threads_make_the_communicators_once_and_launch_one_at_a_time(
    gpus: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gluonish.core.timeout_lock.PATIENCE_S", 0.05)

    class Slow(FakeNCCL):
        def _make(self, devices: list[int]) -> list[Any]:
            made = super()._make(devices)
            time.sleep(0.5)
            return made

        def reduce(self, number: int, *call: Any) -> None:
            time.sleep(0.05)
            super().reduce(number, *call)

    nccl = Slow()
    reduction = NCCLReduction(nccl)
    failed: list[BaseException] = []

    def run() -> None:
        values = [nd.ones((2,), ctx=mx.gpu(i)) for i in range(2)]
        try:
            assert reduction.reduce(values, mx.gpu(0), 0).asnumpy().tolist() == [2, 2]
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert nccl.made == 1
    assert nccl.groups == 3
