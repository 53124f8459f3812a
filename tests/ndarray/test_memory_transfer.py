"""Values that are written by handing memory over: who shares the old memory still sees them."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish import ndarray as nd
from gluonish.core.context import cpu
from gluonish.engine import current_engine
from gluonish.ndarray import NDArray
from gluonish.ndarray.memory_transfer import write_into
from gluonish.ops.support.work import LARGE_COPY

SHAPE = (2, 4096)


def fresh(value: float, shape: tuple[int, ...] = SHAPE, **how: Any) -> NDArray:
    made = nd.full(shape, value, **how)
    made.wait_to_read()
    return made


@pytest.mark.parametrize("shape", [SHAPE, (2, LARGE_COPY)])
def test_memory_that_nobody_else_uses_is_replaced(shape: tuple[int, ...]) -> None:
    source, target = fresh(2, shape), fresh(1, shape)
    address, handle = source.handle.ctypes.data, target
    write_into(source, [target], taken=True)
    assert target.handle.ctypes.data == address
    assert handle.asnumpy().min() == handle.asnumpy().max() == 2


def test_a_source_that_is_not_taken_is_copied() -> None:
    source, target = fresh(2), fresh(1)
    write_into(source, [target], taken=False)
    source[:] = 3
    assert target.asnumpy().max() == 2


SHARERS: dict[str, Callable[[NDArray], Any]] = {
    "slice": lambda x: x[1:],
    "row": lambda x: x[0],
    "shape": lambda x: x.reshape((-1,)),
    "detached": lambda x: x.detach(),
    "NumPy's face": lambda x: x.as_np_ndarray(),
    "raw": lambda x: x.handle,
    "view of raw": lambda x: x.handle[1],
    "buffer": lambda x: memoryview(x.handle),
    "DLPack": lambda x: np.from_dlpack(x),
    "DLPack for writing": lambda x: nd.from_dlpack(nd.to_dlpack_for_write(x)),
}


@pytest.mark.parametrize("name", SHARERS)
@pytest.mark.parametrize("is_view", [False, True])
def test_what_shares_the_memory_has_the_new_values(name: str, is_view: bool) -> None:
    target = fresh(1)
    if is_view:  # as what was read from a file is
        target._data = np.ones(2 * 4096, np.float32).view(np.float32).reshape(SHAPE)
    sharer = SHARERS[name](target)
    write_into(fresh(2), [target], taken=True)
    nd.waitall()
    seen = sharer.asnumpy() if isinstance(sharer, NDArray) else np.asarray(sharer)
    assert seen.min() == seen.max() == 2
    assert target.asnumpy().min() == 2


def test_memory_of_others_is_not_taken(tmp_path: Path) -> None:
    own = np.full(SHAPE, 2, np.float32)
    nd.save(str(tmp_path / "a.safetensors"), {"a": fresh(2, (1 << 10, 1 << 10))})
    mapped: Any = nd.load(str(tmp_path / "a.safetensors"), mmap=True)
    for source in (nd.from_numpy(own), mapped["a"]):
        target = fresh(1, source.shape)
        address = target.handle.ctypes.data
        write_into(source, [target], taken=True)
        assert target.asnumpy().max() == 2
        assert target.handle.ctypes.data == address


def test_memory_that_is_shared_with_others_stays() -> None:
    own = np.zeros(SHAPE, np.float32)
    target = nd.from_numpy(own)
    write_into(fresh(2), [target], taken=True)
    nd.waitall()
    assert own.min() == 2


def test_other_dtypes_and_several_targets_are_copied() -> None:
    targets = [fresh(1), fresh(1, ctx=cpu(1)), fresh(1, dtype="float64")]
    for some in (targets, targets[2:]):
        write_into(fresh(2), some, taken=True)
        assert [x.asnumpy().max() for x in some] == [2] * len(some)
    targets[0][:] = 5
    assert targets[1].asnumpy().max() == 2


def test_storage_types_are_kept() -> None:
    source = nd.sparse.row_sparse_array(([[2.0] * 4096], [1]), shape=SHAPE)
    target = nd.sparse.zeros("row_sparse", SHAPE)
    write_into(source, [target], taken=True)
    assert target.asnumpy().sum() == 2 * 4096


def test_pending_reads_have_the_old_values_and_later_ones_the_new() -> None:
    source, target, out = fresh(2), fresh(1), fresh(0)
    gate = threading.Event()
    opener = threading.Timer(0.2, gate.set)
    opener.start()

    def read_late() -> None:
        assert gate.wait(10)
        out._data[...] = target._data

    reads, writes = [target._var], [out._var]
    current_engine().push(read_late, reads, writes, target._device.lane, 0, "read_late", False)
    write_into(source, [target], taken=True)
    later = target + 0
    assert out.asnumpy().max() == 1
    assert target.asnumpy().min() == later.asnumpy().min() == 2
    opener.join()


def test_values_that_failed_are_replaced() -> None:
    target = fresh(1)

    def fail() -> None:
        raise ValueError("no value")

    current_engine().push(fail, [], [target._var], target._device.lane, 0, "fail", False)
    write_into(fresh(2), [target], taken=True)
    assert target.asnumpy().min() == 2
    with pytest.raises(Exception, match="no value"):
        nd.waitall()
