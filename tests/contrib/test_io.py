import numpy as np
import pytest

from gluonish.contrib.io import DataLoaderIter
from gluonish.core.errors import ArgumentError
from gluonish.gluon.data import ArrayDataset, DataLoader

ROWS = np.arange(14, dtype=np.float32).reshape(7, 2)


def test_last_batch_is_filled_with_zeros_in_the_same_dtype() -> None:
    loader = DataLoader(ArrayDataset(ROWS, np.arange(7)), 3)
    *_, last = DataLoaderIter(loader, dtype="float16")
    assert (last.pad, last.data[0].dtype, last.label[0].dtype) == (2, np.float16, np.float16)
    assert last.data[0].asnumpy().tolist() == [[12, 13], [0, 0], [0, 0]]
    assert last.label[0].asnumpy().tolist() == [6, 0, 0]


def test_batch_that_told_the_shapes_is_not_loaded_twice() -> None:
    taken: list[int] = []

    class Counting(ArrayDataset):
        def __getitem__(self, number: int) -> object:
            taken.append(number)
            return super().__getitem__(number)

    made = DataLoaderIter(DataLoader(Counting(ROWS, np.arange(7)), 7))
    assert len(list(made)) == 1
    assert taken == list(range(7))
    made.reset()
    assert len(list(made)) == 1


def test_iterator_without_a_current_batch_gives_none() -> None:
    made = DataLoaderIter(DataLoader(ArrayDataset(ROWS, np.arange(7)), 7))
    assert (made.getdata(), made.getlabel(), made.getpad(), made.getindex()) == (
        None,
        None,
        0,
        None,
    )


def test_batches_that_are_no_pairs_are_refused() -> None:
    with pytest.raises(ArgumentError, match="batches of data and label, got NDArray"):
        DataLoaderIter(DataLoader(ArrayDataset(ROWS), 3))
    with pytest.raises(ArgumentError, match="got 3 arrays"):
        DataLoaderIter(DataLoader(ArrayDataset(ROWS, ROWS, ROWS), 3))
    with pytest.raises(ArgumentError, match="an empty one"):
        DataLoaderIter(DataLoader(ArrayDataset(ROWS, ROWS), 9, last_batch="discard"))


def test_batch_larger_than_the_first_is_refused() -> None:
    loader = DataLoader(ArrayDataset(ROWS, np.arange(7)), batch_sampler=[[0, 1], [2, 3, 4]])
    made = DataLoaderIter(loader)
    made.next()
    with pytest.raises(ArgumentError, match="at most 2, as the first batch had, got 3 labels of 3"):
        made.next()
