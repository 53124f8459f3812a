"""TestStore: copies and sums, and nothing kept."""

from typing import Any

import numpy as np
import pytest

from gluonish.core.context import cpu
from gluonish.core.errors import ArgumentError, NotSupportedError
from gluonish.kvstore import TestStore, create
from gluonish.ndarray import NDArray, array, zeros


@pytest.fixture
def store() -> TestStore:
    made = create("TestStore")
    assert isinstance(made, TestStore)
    return made


def values() -> list[NDArray]:
    return [array([1.0, 2.0]), array([3.0, 4.0], ctx=cpu(1))]


def lists(arrays: Any) -> list[Any]:
    return [x.asnumpy().tolist() for x in arrays]


def test_value_reaches_all_devices(store: TestStore) -> None:
    targets = [zeros((2,)), zeros((2,), cpu(1))]
    store.broadcast("3", array([1.0, 2.0]), targets)
    assert lists(targets) == [[1, 2], [1, 2]]


def test_sum_goes_over_the_values(store: TestStore) -> None:
    given = values()
    store.pushpull(3, given)
    assert lists(given) == [[4, 6], [4, 6]]


def test_sum_goes_to_out_where_there_is_one(store: TestStore) -> None:
    given, out = values(), zeros((2,))
    store.pushpull(3, given, out=out)
    assert lists(given) == [[1, 2], [3, 4]]
    assert out.asnumpy().tolist() == [4, 6]


def test_sparse_values_are_added_up(store: TestStore) -> None:
    rows = [array(np.eye(3)[i : i + 1].repeat(3, 0)).tostype("row_sparse") for i in (0, 1)]
    store.pushpull(3, rows)
    assert lists(rows) == [[[1, 1, 0]] * 3] * 2


def test_it_cannot_update(store: TestStore) -> None:
    assert not store.is_capable("optimizer")
    with pytest.raises(ArgumentError, match="foo"):
        store.is_capable("foo")
    with pytest.raises(NotSupportedError, match=r"TestStore: .*defines set_optimizer"):
        store.set_optimizer(None)


def test_facts_are_those_of_one_process(store: TestStore) -> None:
    assert (store.type, store.rank, store.num_workers) == ("teststore", 0, 1)
