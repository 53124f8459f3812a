"""A store that adds up through NCCL: on the doubles of CuPy and of its communicators."""

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.errors import DeviceError
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
        self.NcclCommunicator = SimpleNamespace(initAll=self._make)

    def _make(self, devices: list[int]) -> list[Any]:
        def maker(number: int) -> Any:
            return SimpleNamespace(reduce=lambda *call: self.calls.append((number, *call)))

        return [maker(number) for number in devices]

    def groupStart(self) -> None:  # the library's name
        self.calls = []

    def groupEnd(self) -> None:
        self.groups += 1
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
