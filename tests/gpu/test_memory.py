"""The pool of a real device: its figures, its limits, and the variables that shape it."""

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.allocation_observers import AllocationTally
from gluonish.core.config import MXNET_GPU_WORKER_NSTREAMS
from gluonish.core.errors import OutOfMemoryError
from gluonish.tools.env_checks import CHECKS

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(300)]

GPU = mx.gpu(0)
SIZE = 64 << 20  # bytes


@pytest.mark.parametrize("name", sorted(n for n in CHECKS if n.startswith("MXNET_GPU_MEM_")))
def test_variable_acts(name: str) -> None:
    assert CHECKS[name]()


def test_used_held_and_peak_follow_an_array() -> None:
    GPU.empty_cache()
    before = GPU.memory_info()
    x = nd.zeros((SIZE,), ctx=GPU, dtype="uint8")
    x.wait_to_read()
    during = GPU.memory_info()
    assert during.used - before.used == SIZE
    assert during.peak >= during.used
    del x
    nd.waitall()
    assert GPU.memory_info().held - before.held >= SIZE
    GPU.empty_cache()
    assert GPU.memory_info().held == 0


@pytest.mark.skipif(
    MXNET_GPU_WORKER_NSTREAMS.value > 1,
    reason="with several streams, a block is free once its stream has finished with it",
)
def test_freed_block_serves_the_next_array_of_its_size() -> None:
    addresses = []
    for _ in range(3):
        x = nd.zeros((SIZE,), ctx=GPU, dtype="uint8")
        addresses.append(x.handle.data.ptr)
        del x
    assert len(set(addresses)) == 1


def test_array_larger_than_the_device_is_refused_and_the_next_one_is_not() -> None:
    total = GPU.memory_info().total
    with pytest.raises(OutOfMemoryError, match=r"_full: expected memory for uint8.* on gpu\(0\)"):
        nd.zeros((total + 1,), ctx=GPU, dtype="uint8")
    np.testing.assert_array_equal(nd.ones((3,), ctx=GPU).asnumpy(), np.ones(3))


def test_allocations_are_told_with_the_operator() -> None:
    with AllocationTally() as tally:
        x = nd.ones((1000,), ctx=GPU) * 2
        nd.waitall()
        assert "_mul_scalar" in {holding.name for holding in tally.holdings()}
        del x
        GPU.empty_cache()  # several streams hold the arrays of their last launches
        assert tally.nbytes(GPU) == 0
