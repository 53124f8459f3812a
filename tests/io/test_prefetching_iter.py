import gc
import threading
import time
import weakref
from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import ArgumentError, GluonishError
from gluonish.io import DataBatch, DataDesc, DataIter, NDArrayIter, PrefetchingIter, ResizeIter

ROWS = np.arange(8, dtype=np.float32).reshape(8, 1)


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "gluonish-PrefetchingIter"]


def threads_end() -> bool:
    deadline = time.monotonic() + 10
    while threads() and time.monotonic() < deadline:
        time.sleep(0.005)
    return not threads()


class Broken(DataIter):
    """Fails at its third batch, once."""

    def __init__(self) -> None:
        super().__init__(2)
        self.provide_data = [DataDesc("x", (2, 1))]
        self.provide_label: list[DataDesc] = []
        self.count = 0

    def next(self) -> DataBatch:
        self.count += 1
        if self.count == 3:
            raise OSError("disk")
        return DataBatch([ROWS[:2]], None, 0)


def first_column(data_iter: Any) -> list[list[float]]:
    return [batch.data[0].asnumpy()[:, 0].tolist() for batch in data_iter]


def test_passes_are_those_of_the_iterator() -> None:
    made = PrefetchingIter(NDArrayIter(ROWS, batch_size=3))
    for _ in range(3):
        assert first_column(made) == [[0, 1, 2], [3, 4, 5], [6, 7, 0]]
        assert not made.iter_next()
        made.reset()


def test_reset_in_mid_pass_begins_again() -> None:
    made = PrefetchingIter(NDArrayIter(ROWS, batch_size=3))
    for _ in range(20):
        assert made.next().data[0].asnumpy()[0, 0] == 0
        made.reset()
    assert first_column(made) == [[0, 1, 2], [3, 4, 5], [6, 7, 0]]
    del made
    gc.collect()
    assert threads_end()


def test_dropped_iterator_leaves_no_thread() -> None:
    made = PrefetchingIter([NDArrayIter(ROWS, batch_size=1), NDArrayIter(ROWS, batch_size=1)])
    made.next()
    assert threads()
    gone = weakref.ref(made)
    del made
    gc.collect()
    assert gone() is None
    assert threads_end()


def test_error_in_a_thread_arrives_at_next() -> None:
    made = PrefetchingIter(Broken())
    assert made.next().label == []
    made.next()
    with pytest.raises(OSError, match="disk"):
        made.next()
    made.reset()
    assert made.next().pad == 0


def test_iterators_of_different_length_are_refused() -> None:
    made = PrefetchingIter([NDArrayIter(ROWS, batch_size=4), NDArrayIter(ROWS[:4], batch_size=4)])
    made.next()
    with pytest.raises(GluonishError, match="numbers of batches, got iterator 1 ending first"):
        made.next()


def test_different_pads_are_refused() -> None:
    made = PrefetchingIter([NDArrayIter(ROWS, batch_size=8), NDArrayIter(ROWS[:7], batch_size=8)])
    with pytest.raises(GluonishError, match="the same pad"):
        made.next()


def test_wrong_names_are_refused() -> None:
    inner = NDArrayIter(ROWS, batch_size=4)
    with pytest.raises(ArgumentError, match="expected a new name for 'data' of iterator 0"):
        PrefetchingIter([inner], rename_data=[{"x": "y"}])
    with pytest.raises(ArgumentError, match="expected names for 1 iterators"):
        PrefetchingIter([inner], rename_data=[{}, {}])
    with pytest.raises(ArgumentError, match="at least one iterator"):
        PrefetchingIter([])


def test_renamed_descriptions_keep_dtype_and_layout() -> None:
    inner = NDArrayIter(ROWS, batch_size=4, layout="NC")
    (desc,) = PrefetchingIter([inner], rename_data=[{"data": "x"}]).provide_data
    assert (desc.name, desc.dtype, desc.layout) == ("x", np.float32, "NC")


class Buckets(NDArrayIter):
    default_bucket_key = 10

    def next(self) -> DataBatch:
        batch = super().next()
        batch.bucket_key = 5
        return batch


def test_resized_pass_keeps_buckets() -> None:
    made = ResizeIter(Buckets(ROWS, batch_size=4), 3)
    assert made.default_bucket_key == 10
    assert [batch.bucket_key for batch in made] == [5, 5, 5]


def test_resized_iterator_without_batches_ends() -> None:
    empty = NDArrayIter(ROWS, batch_size=9, last_batch_handle="discard")
    assert list(ResizeIter(empty, 2)) == []
