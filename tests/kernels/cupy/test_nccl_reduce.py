"""A store that adds up through NCCL: on the doubles of CuPy and of its communicators."""

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
from gluonish.kvstore.nccl_reduce import NCCLReduction
from gluonish.kvstore.nccl_team import find_nccl
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.nccl_double import LocalNCCL

pytestmark = pytest.mark.timeout(120)
FLOAT32 = 7


class FakeNCCL(LocalNCCL):
    """Counts what fails, too."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.made = 0

    def initAll(self, devices: list[int]) -> list[Any]:  # the library's name
        self.made += 1
        return super().initAll(devices)


def test_gradients_of_two_gpus_go_through_the_library(gpus: Any, machine: Machine) -> None:
    nccl = FakeNCCL(machine)
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
    assert nccl.calls == [[("reduce", 0, 4, FLOAT32), ("reduce", 1, 4, FLOAT32)]] * 2


def test_what_the_library_cannot_add_is_added_up_without_it(gpus: Any, machine: Machine) -> None:
    nccl = FakeNCCL(machine)
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
    def add(self, call: Any) -> None:
        if call.device == 1 and not self.groups:
            raise ValueError("NCCL_ERROR_INVALID_ARGUMENT")
        super().add(call)


def test_call_that_fails_ends_its_group_and_later_sums_are_refused(
    gpus: Any, machine: Machine
) -> None:
    nccl = FailsOnce(machine)
    with pytest.raises(OperatorError, match="NCCL_ERROR_INVALID_ARGUMENT"):
        push_and_wait(nccl)
    assert (nccl.open, nccl.groups) == (0, 1)
    assert nccl.aborted == [0, 1]
    assert nccl.made == 1


def test_store_with_aborted_communicators_refuses_sums(gpus: Any, machine: Machine) -> None:
    nccl = FailsOnce(machine)
    reduction = NCCLReduction(nccl)
    values = [nd.ones((2,), ctx=mx.gpu(i)) for i in range(2)]
    with pytest.raises(OperatorError, match="INVALID_ARGUMENT"):
        reduction.reduce([values], mx.gpu(0), 0)[0].wait_to_read()
    with pytest.raises(OperatorError, match="aborted after an earlier failure of a sum"):
        reduction.reduce([values], mx.gpu(0), 0)[0].wait_to_read()
    assert nccl.groups == 1


def test_asynchronous_error_is_raised_by_the_next_sum(gpus: Any, machine: Machine) -> None:
    class Broken(FakeNCCL):
        def check_async_error(self) -> None:
            if self.groups:
                raise RuntimeError("NCCL_ERROR_REMOTE_ERROR")

    nccl = Broken(machine)
    push = push_and_wait(nccl)
    with pytest.raises(OperatorError, match="NCCL_ERROR_REMOTE_ERROR"):
        push()
    assert nccl.groups == 1
    assert nccl.aborted == [0, 1]


def test_threads_make_the_communicators_once_and_launch_one_at_a_time(
    gpus: Any, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gluonish.core.timeout_lock.PATIENCE_S", 0.05)

    class Slow(FakeNCCL):
        def initAll(self, devices: list[int]) -> list[Any]:
            made = super().initAll(devices)
            time.sleep(0.5)
            return made

        def add(self, call: Any) -> None:
            time.sleep(0.05)
            super().add(call)

    nccl = Slow(machine)
    reduction = NCCLReduction(nccl)
    failed: list[BaseException] = []

    def run() -> None:
        values = [nd.ones((2,), ctx=mx.gpu(i)) for i in range(2)]
        try:
            (total,) = reduction.reduce([values], mx.gpu(0), 0)
            assert total.asnumpy().tolist() == [2, 2]
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
