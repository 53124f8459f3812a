import numpy as np
import pytest

from gluonish.core.context import cpu
from gluonish.core.errors import ArgumentError
from gluonish.gluon.data.split import split_and_load, split_data
from gluonish.ndarray import arange, array


@pytest.mark.parametrize(
    ("size", "count", "lengths"),
    [(8, 3, [3, 3, 2]), (7, 3, [3, 2, 2]), (11, 4, [3, 3, 3, 2]), (2, 5, [1, 1, 0, 0, 0])],
)
def test_first_slices_are_longer_by_one(size: int, count: int, lengths: list[int]) -> None:
    slices = split_data(arange(size).reshape((size, 1)), count, even_split=False)
    assert [len(part) for part in slices] == lengths
    np.testing.assert_array_equal(
        np.concatenate([part.asnumpy() for part in slices]), np.arange(size).reshape(size, 1)
    )


def test_uneven_batch_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"divisible by 3 along axis 0, got shape \(8, 1\)"):
        split_data(arange(8).reshape((8, 1)), 3)


def test_no_slice_is_refused() -> None:
    with pytest.raises(ArgumentError, match="num_slice of at least 1, got 0"):
        split_data(arange(8), 0)


@pytest.mark.parametrize("axis", [1, -1])
def test_any_axis_may_be_split(axis: int) -> None:
    parts = split_data(arange(8).reshape((2, 4)), 2, batch_axis=axis)
    assert [part.asnumpy().tolist() for part in parts] == [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]


def test_slices_go_to_the_devices() -> None:
    parts = split_and_load(np.arange(4), [cpu(0), cpu(1)])
    assert [part.context for part in parts] == [cpu(0), cpu(1)]
    assert [part.asnumpy().tolist() for part in parts] == [[0, 1], [2, 3]]


def test_one_device_gets_all() -> None:
    x = array([1, 2])
    assert split_and_load(x, [cpu(0)])[0] is x
    assert split_and_load([1, 2], [cpu(1)])[0].context == cpu(1)
