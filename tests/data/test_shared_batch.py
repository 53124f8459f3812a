import gc
import os
from typing import Any, NamedTuple

import numpy as np

import gluonish.ndarray as nd
from gluonish.data.shared_batch import Segment, lay_out, map_arrays, new_file, write_arrays


class Pair(NamedTuple):
    left: Any
    right: Any


BATCH: dict[str, Any] = {
    "data": nd.array([[1, 2], [3, 4]]),
    "more": [np.arange(3, dtype=np.int64), ("text", np.zeros((0, 2)))],
    "pair": Pair(nd.array([1]), "right"),
    "objects": np.array([None, "a"], dtype=object),
}


def shared(batch: Any, as_ndarrays: bool = False) -> tuple[Any, Segment, list[str]]:
    described, arrays, nbytes = lay_out(batch, as_ndarrays)
    segment = Segment(new_file(nbytes))
    write_arrays(segment, described, arrays)
    released: list[str] = []
    return map_arrays(segment, described, lambda: released.append("now")), segment, released


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


def test_numpy_arrays_become_ndarrays_on_request() -> None:
    batch, _, _ = shared([np.arange(3)], as_ndarrays=True)
    assert isinstance(batch[0], nd.NDArray)
    assert batch[0].dtype == np.int64


def test_memory_is_released_with_the_last_view() -> None:
    batch, _, released = shared([nd.array([[1, 2], [3, 4]]), np.arange(3)])
    view = batch[1][1:]
    reshaped = batch[0].reshape((4,))
    del batch
    gc.collect()
    assert released == []
    del view
    gc.collect()
    assert released == []
    assert reshaped.asnumpy().tolist() == [1, 2, 3, 4]
    del reshaped
    gc.collect()
    assert released == ["now"]


def test_writes_to_a_private_segment_stay_there() -> None:
    descriptor = new_file(8)
    os.write(descriptor, b"original")
    first, second = (Segment(os.dup(descriptor), private=True) for _ in range(2))
    os.close(descriptor)
    first.memory[:4] = b"copy"
    assert bytes(second.memory) == b"original"
