import logging
from itertools import islice

import numpy as np
import pytest

from gluonish.core.errors import ArgumentTypeError
from gluonish.io import DataBatch, DataIter, NDArrayIter
from gluonish.module.feed_forward_data import epochs_of, evaluation_iterator

ROWS = np.arange(8, dtype=np.float32).reshape(4, 2)


def first_values(size: int | None, epochs: int) -> list[list[float]]:
    data = NDArrayIter(ROWS, np.zeros(4), batch_size=2)
    found = islice(epochs_of(data, 0, size, logging), epochs)
    return [[float(batch.data[0][0, 0].asscalar()) for batch in epoch] for epoch in found]


def test_an_epoch_is_one_pass_over_the_data() -> None:
    assert first_values(None, 2) == [[0, 4], [0, 4]]


@pytest.mark.parametrize(
    ("size", "wanted"),
    [(1, [[0], [4], [0]]), (2, [[0, 4], [0, 4], [0, 4]]), (3, [[0, 4, 0], [4, 0, 4], [0, 4, 0]])],
)
def test_an_epoch_of_a_size_goes_on_where_the_last_one_ended(
    size: int, wanted: list[list[float]]
) -> None:
    assert first_values(size, 3) == wanted


def test_data_that_end_for_good_end_an_epoch() -> None:
    class Once(DataIter):
        left = 2

        def next(self) -> DataBatch:
            if not self.left:
                raise StopIteration
            self.left -= 1
            return DataBatch([])

    epochs = epochs_of(Once(), 0, 3, logging)
    assert len(list(next(epochs))) == 2
    assert not list(next(epochs))


def test_evaluation_data_are_an_iterator_or_a_pair() -> None:
    data = NDArrayIter(ROWS, batch_size=2)
    assert evaluation_iterator(None, 2) is None
    assert evaluation_iterator(data, 2) is data
    assert evaluation_iterator((data, None), 2) is data
    made = evaluation_iterator((ROWS.tolist(), [1, 2, 3, 4]), 3)
    assert [batch.label[0].shape for batch in made] == [(3,), (3,)]
    with pytest.raises(ArgumentTypeError, match=r"FeedForward.fit: expected eval_data.*got dict"):
        evaluation_iterator({}, 2)
