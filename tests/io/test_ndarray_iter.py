import gc
import tracemalloc
from typing import Any

import numpy as np
import pytest

from gluonish import nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.io import NDArrayIter

ROWS = np.arange(14, dtype=np.float32).reshape(7, 2)


class Dataset:
    """What `NDArrayIter` uses of a data set of h5py: its own rules of indexing."""

    __module__ = "h5py._hl.dataset"
    shape = ROWS.shape
    dtype = np.dtype(np.float64)

    def __getitem__(self, rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        assert (np.diff(rows) > 0).all(), "h5py: indexing elements must be in increasing order"
        return ROWS.astype(np.float64)[rows]


def first_column(data_iter: NDArrayIter) -> list[list[float]]:
    return [batch.data[0].asnumpy()[:, 0].tolist() for batch in data_iter]


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("handle", ["pad", "roll_over"])
def test_stored_and_sparse_rows_are_those_of_dense_arrays(handle: str, shuffle: bool) -> None:
    found = []
    for source in (ROWS, Dataset(), nd.array(ROWS).tostype("csr"), nd.array(ROWS)):
        np.random.seed(5)  # noqa: NPY002  # the generator that shuffles
        made = NDArrayIter(source, batch_size=3, shuffle=shuffle, last_batch_handle=handle)
        one = []
        for _ in range(3):
            one += first_column(made)
            made.reset()
        assert made.provide_data[0].dtype == np.float32
        found.append(one)
    assert found[0] == found[1] == found[2] == found[3]


@pytest.mark.parametrize("handle", ["discard", "roll_over"])
def test_every_sample_comes_once_before_any_comes_twice(handle: str) -> None:
    made = NDArrayIter(ROWS, batch_size=2, shuffle=True, last_batch_handle=handle)
    for _ in range(4):
        row = np.concatenate(first_column(made))
        assert len(np.unique(row[len(row) % 7 :])) == len(row[len(row) % 7 :])
        made.reset()


def test_roll_over_loses_no_sample() -> None:
    made = NDArrayIter(ROWS, batch_size=3, shuffle=True, last_batch_handle="roll_over")
    found: list[float] = []
    for _ in range(3):
        found += np.concatenate(first_column(made)).tolist()
        made.reset()
    values, counts = np.unique(found, return_counts=True)
    assert len(found) == 21
    assert len(values) == 7
    assert (counts == 3).all()


def test_order_of_every_pass_is_a_permutation_of_its_own() -> None:
    made = NDArrayIter(ROWS, batch_size=1, shuffle=True)
    orders = set()
    for _ in range(5):
        order = tuple(np.concatenate(first_column(made)))
        assert sorted(order) == ROWS[:, 0].tolist()
        assert [made.idx[n] * 2 for n in range(7)] == list(order)
        orders.add(order)
        made.reset()
    assert len(orders) > 1


def test_batches_share_no_memory_with_the_source() -> None:
    source = ROWS.copy()
    made = NDArrayIter(source, batch_size=7)
    source[:] = 100
    batch = made.next()
    batch.data[0][:] = 50
    made.reset()
    assert (made.next().data[0].asnumpy() == ROWS).all()


@pytest.mark.parametrize(
    "source",
    [ROWS.T, np.asfortranarray(ROWS), ROWS[::-1, ::-1], ROWS.astype(">f8")[:, ::2]],
    ids=["transposed", "fortran", "reversed", "big-endian"],
)
def test_numpy_array_may_lie_in_any_order(source: np.ndarray[Any, Any]) -> None:
    found = [batch.data[0].asnumpy() for batch in NDArrayIter(source, batch_size=1)]
    np.testing.assert_array_equal(np.concatenate(found), source)


def test_batches_have_what_was_written_into_the_ndarray_before_they_were_taken() -> None:
    source = nd.array(ROWS)
    data_iter = NDArrayIter(source, batch_size=7)
    source[:] = 5
    assert (data_iter.next().data[0].asnumpy() == 5).all()


def test_ndarray_is_not_copied() -> None:
    source = nd.zeros((1000, 1000))
    source.wait_to_read()
    tracemalloc.start()
    data_iter = NDArrayIter(source, batch_size=10)
    data_iter.next()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 500_000


def test_call_after_the_end_is_still_the_end() -> None:
    made = NDArrayIter(ROWS, batch_size=3, last_batch_handle="roll_over")
    list(made)
    for _ in range(3):
        with pytest.raises(StopIteration):
            made.next()
    made.reset()
    assert first_column(made)[0] == [12, 0, 2]


def test_no_batch_without_next() -> None:
    made = NDArrayIter(ROWS, batch_size=3)
    with pytest.raises(ArgumentError, match="call next"):
        made.getdata()
    list(made)
    with pytest.raises(ArgumentError, match="reset at the end"):
        made.getlabel()


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"data": None}, ArgumentError, "at least one array of data"),
        ({"data": []}, ArgumentError, "at least one array of data"),
        ({"data": {}}, ArgumentError, "at least one array of data"),
        ({"data": "text"}, ArgumentTypeError, "expected an NDArray, .* got str"),
        ({"data": {"a": "text"}}, ArgumentTypeError, "expected a to be an array, got str"),
        ({"data": {"a": np.float32(3)}}, ArgumentError, "expected a to have an axis of samples"),
        ({"data": ROWS, "label": ROWS[:3]}, ArgumentError, "'data': 7, 'softmax_label': 3"),
        ({"data": ROWS, "batch_size": 0}, ArgumentError, "batch_size of at least 1, got 0"),
        ({"data": ROWS, "last_batch_handle": "keep"}, ArgumentError, "last_batch_handle in"),
    ],
    ids=lambda value: repr(value)[:30] if isinstance(value, str) else None,
)
def test_wrong_argument_is_refused(
    given: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        NDArrayIter(**given)


def test_many_passes_keep_no_memory() -> None:
    made = NDArrayIter(np.zeros((64, 1000)), np.zeros(64), 8, True, "roll_over")
    sizes = []
    tracemalloc.start()
    try:
        for passes in (5, 20, 20):
            for _ in range(passes):
                for batch in made:
                    batch.data[0].wait_to_read()
                made.reset()
            gc.collect()
            sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    # Less than one batch of 32 kB in one of the twenties: other threads may fill a cache once.
    assert min(np.diff(sizes)) < 32_000
