import pickle
from typing import Any

import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.gluon.data import ArrayDataset, Dataset, SequentialSampler, SimpleDataset

FIVE = SimpleDataset([5, 6, 7, 8, 9])
PAIRS = ArrayDataset(np.arange(12).reshape(6, 2), list(range(6)))


def elements(dataset: Dataset) -> list[Any]:
    return [dataset[i] for i in range(len(dataset))]


@pytest.mark.parametrize(
    ("num_shards", "parts"),
    [(1, [[5, 6, 7, 8, 9]]), (2, [[5, 6, 7], [8, 9]]), (3, [[5, 6], [7, 8], [9]])],
)
def test_shards_follow_one_another(num_shards: int, parts: list[list[int]]) -> None:
    assert [elements(FIVE.shard(num_shards, i)) for i in range(num_shards)] == parts


@pytest.mark.parametrize(("num_shards", "index"), [(2, 2), (0, 0), (2, -1)])
def test_shard_that_is_not_there_is_refused(num_shards: int, index: int) -> None:
    with pytest.raises(ArgumentError, match=f"got {index}"):
        FIVE.shard(num_shards, index)


@pytest.mark.parametrize(
    ("count", "expected"), [(2, [5, 6]), (9, [5, 6, 7, 8, 9]), (None, [5, 6, 7, 8, 9]), (0, [])]
)
def test_take_gives_the_first(count: int | None, expected: list[int]) -> None:
    assert elements(FIVE.take(count)) == expected


def test_take_of_less_than_nothing_is_refused() -> None:
    with pytest.raises(ArgumentError, match="got -1"):
        FIVE.take(-1)


def test_sample_takes_a_samplers_order() -> None:
    assert elements(FIVE.sample(SequentialSampler(3, 1))) == [6, 7, 8]
    with pytest.raises(ArgumentTypeError, match="expected a Sampler, got list"):
        FIVE.sample([1, 2])  # type: ignore[arg-type]


def test_filter_keeps_what_passes() -> None:
    assert elements(FIVE.filter(lambda x: x > 6)) == [7, 8, 9]
    assert [label for _, label in elements(PAIRS.filter(lambda pair: pair[1] > 3))] == [4, 5]


@pytest.mark.parametrize("lazy", [True, False])
def test_transform_takes_a_tuples_parts(lazy: bool) -> None:
    assert elements(FIVE.transform(lambda x: x * 2, lazy)) == [10, 12, 14, 16, 18]
    assert PAIRS.transform(lambda data, label: (label, data.sum()), lazy)[1] == (1, 5)


def test_lazy_transform_runs_when_an_element_is_taken() -> None:
    seen: list[int] = []
    dataset = FIVE.transform(lambda x: seen.append(x))
    assert seen == []
    assert dataset[1] is None
    assert seen == [6]


def test_transform_first_leaves_the_rest() -> None:
    data, label = PAIRS.transform_first(lambda x: x * 10)[1]
    assert (data.tolist(), label) == ([20, 30], 1)
    assert FIVE.transform_first(lambda x: x * 10)[1] == 60


def test_one_array_gives_its_elements() -> None:
    assert ArrayDataset(np.arange(4))[1] == 1
    data, label = ArrayDataset(nd.ones((4, 2)), nd.array([4, 5, 6, 7]))[2]
    assert isinstance(data, nd.NDArray)
    assert isinstance(label, np.float32)
    assert label == 6


def test_arrays_need_one_length() -> None:
    with pytest.raises(ArgumentError, match=r"got 1 and 2 \(array 1\)"):
        ArrayDataset([1], [1, 2])
    with pytest.raises(ArgumentError, match="at least one"):
        ArrayDataset()


def test_base_defines_nothing() -> None:
    with pytest.raises(NotSupportedError):
        Dataset()[0]
    with pytest.raises(NotSupportedError):
        len(Dataset())


def test_datasets_can_be_pickled() -> None:
    dataset = PAIRS.transform_first(np.negative).shard(2, 1).take(2)
    restored = pickle.loads(pickle.dumps(dataset))
    assert [data.tolist() for data, _ in elements(restored)] == [[-6, -7], [-8, -9]]


def test_what_is_no_function_is_refused_as_a_transform() -> None:
    message = "transform: expected a function or a transform, got "
    with pytest.raises(ArgumentTypeError, match=f"{message}None"):
        SimpleDataset([1]).transform_first(None)  # type: ignore[arg-type]  # refused
    with pytest.raises(ArgumentTypeError, match=message + r"\[.*put them into transforms.Compose"):
        SimpleDataset([1]).transform([abs, abs])  # type: ignore[arg-type]  # refused
