import ctypes
import gc
import os
from typing import Any, NamedTuple

import numpy as np

import gluonish.ndarray as nd
from gluonish.core.finalizer import Leases
from gluonish.gluon.data.shared_memory import Segment, new_file
from gluonish.io.shared_batch import Slot, lay_out, map_arrays, ndarray_view, write_arrays


class Pair(NamedTuple):
    left: Any
    right: Any


BATCH: dict[str, Any] = {
    "data": nd.array([[1, 2], [3, 4]]),
    "more": [np.arange(3, dtype=np.int64), ("text", np.zeros((0, 2)))],
    "pair": Pair(nd.array([1]), "right"),
    "objects": np.array([None, "a"], dtype=object),
}


def shared(batch: Any) -> tuple[Any, Segment, Leases[str]]:
    described, arrays, nbytes = lay_out(batch, Slot())
    segment = Segment(new_file(nbytes, "a test"))
    write_arrays(segment.memory, described, arrays)
    memory = (ctypes.c_ubyte * nbytes).from_buffer(segment.memory)
    lending: Leases[str] = Leases()
    lending.grant("now", memory)
    return map_arrays(memory, described), segment, lending


def test_batch_comes_back_with_its_structure_and_types() -> None:
    batch, _, _ = shared(BATCH)
    assert isinstance(batch["data"], nd.NDArray)
    assert batch["data"].asnumpy().tolist() == [[1, 2], [3, 4]]
    assert isinstance(batch["more"][0], np.ndarray)
    assert batch["more"][0].tolist() == [0, 1, 2]
    text, empty = batch["more"][1]
    assert (text, empty.shape) == ("text", (0, 2))
    assert type(batch["pair"]) is Pair
    assert batch["pair"].left.asnumpy().tolist() == [1]
    assert batch["objects"].tolist() == [None, "a"]


def test_arrays_lie_in_the_segment_on_cache_lines() -> None:
    batch, segment, _ = shared([np.arange(3), np.arange(5)])
    batch[0][:] = 7
    assert np.frombuffer(segment.memory, np.int64, 3).tolist() == [7, 7, 7]
    assert all(array.ctypes.data % 64 == 0 for array in batch)


def test_arrays_made_in_a_slot_are_not_copied() -> None:
    segment = Segment(new_file(8192, "a test"))
    slot = Slot(segment.memory, 4096, 4096)
    inside = slot.empty((4,), np.int64)
    inside[:] = [1, 2, 3, 4]
    view = slot.empty((2, 2), np.float32)
    view[:] = [[5, 6], [7, 8]]
    described, arrays, nbytes = lay_out([ndarray_view(inside), np.arange(3), view.T], slot)
    inside[0] = 9
    write_arrays(slot.memory, described, arrays, slot)
    batch = map_arrays((ctypes.c_ubyte * nbytes).from_buffer(segment.memory, 4096), described)
    assert batch[0].asnumpy().tolist() == [9, 2, 3, 4]
    assert batch[1].tolist() == [0, 1, 2]
    assert batch[2].tolist() == [[5, 7], [6, 8]]
    assert bytes(segment.memory[:4096]) == bytes(4096)


def test_what_a_slot_has_no_room_for_lies_elsewhere() -> None:
    segment = Segment(new_file(4096, "a test"))
    slot = Slot(segment.memory, 0, 4096)
    inside, outside = slot.empty((512,), np.int64), slot.empty((1,), np.int64)
    assert slot.offset_of(inside) == 0
    assert slot.offset_of(outside) is None
    assert lay_out([inside, outside], slot)[2] == 4104


def test_memory_is_released_with_the_last_view() -> None:
    batch, _, lending = shared([nd.array([[1, 2], [3, 4]]), np.arange(3)])
    view = batch[1][1:]
    reshaped = batch[0].reshape((4,))
    del batch
    gc.collect()
    assert list(lending.reclaim()) == []
    del view
    gc.collect()
    assert list(lending.reclaim()) == []
    assert reshaped.asnumpy().tolist() == [1, 2, 3, 4]
    del reshaped
    gc.collect()
    assert list(lending.reclaim()) == ["now"]


def test_writes_to_a_private_segment_stay_there() -> None:
    descriptor = new_file(8, "a test")
    os.write(descriptor, b"original")
    first, second = (Segment(os.dup(descriptor), private=True) for _ in range(2))
    os.close(descriptor)
    first.memory[:4] = b"copy"
    assert bytes(second.memory) == b"original"
