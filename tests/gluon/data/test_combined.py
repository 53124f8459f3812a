"""`ConcatDataset`, `Subset`, `random_split` and `WeightedRandomSampler`."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gluonish import nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError, OutOfBoundsError
from gluonish.gluon.data import (
    ArrayDataset,
    ConcatDataset,
    DataLoader,
    SimpleDataset,
    Subset,
    WeightedRandomSampler,
    random_split,
)


def items(dataset: Any) -> list[Any]:
    return [dataset[i] for i in range(len(dataset))]


def test_concatenated_datasets_give_their_samples_in_order() -> None:
    parts = [[1, 2, 3], [], SimpleDataset([40, 50]), np.array([600])]
    both = ConcatDataset(parts)
    everything = [1, 2, 3, 40, 50, 600]
    assert len(both) == 6
    assert [both[i] for i in range(6)] == everything
    assert [both[i] for i in range(-6, 0)] == everything
    assert both[np.int64(4)] == 50
    assert both.cumulative_sizes == [3, 3, 5, 6]
    assert items(both) == everything
    assert [both.transform(str)[i] for i in (0, 5)] == ["1", "600"]
    assert repr(both).startswith("ConcatDataset(6 samples")


def test_subset_gives_the_samples_at_its_indices() -> None:
    data = ArrayDataset(nd.arange(5), list("abcde"))
    subset = Subset(data, [4, 4, -5])
    assert [float(x) for x, _ in items(subset)] == [4, 4, 0]
    assert [name for _, name in items(subset)] == ["e", "e", "a"]
    assert subset[-1][1] == "a"
    assert subset.indices.dtype == np.int64
    assert len(Subset(data, [])) == 0
    assert pickle.loads(pickle.dumps(Subset([7, 8], [1])))[0] == 8


@pytest.mark.parametrize("num_workers", [0, 1])
def test_loader_takes_them(num_workers: int) -> None:
    data = ConcatDataset([Subset(np.arange(10), [1, 3]), SimpleDataset([5, 7])])
    batches = [x.tolist() for x in DataLoader(data, 3, num_workers=num_workers)]
    assert batches == [[1, 3, 5], [7]]


@pytest.mark.parametrize(
    ("lengths", "sizes"),
    [
        ([60, 30, 10], [60, 30, 10]),
        ([0.29, 0.71], [29, 71]),
        ([1 / 3, 1 / 3, 1 / 3], [34, 33, 33]),
        ([1.0], [100]),
        ([0, 100], [0, 100]),
    ],
)
def test_split_has_the_lengths_and_every_sample_once(
    lengths: list[float], sizes: list[int]
) -> None:
    parts = random_split(range(100), lengths)
    assert [len(part) for part in parts] == sizes
    assert sorted(x for part in parts for x in items(part)) == list(range(100))


def test_split_of_one_sample_takes_lengths() -> None:
    assert [len(part) for part in random_split(["a"], [0, 1])] == [0, 1]
    assert [len(part) for part in random_split(["a"], [0.5, 0.5])] == [1, 0]


def test_equal_seeds_split_equally() -> None:
    def split(seed: int | None) -> list[list[int]]:
        return [items(part) for part in random_split(range(50), [25, 25], seed)]

    assert split(3) == split(3) != split(4)
    np.random.seed(5)  # noqa: NPY002
    first = split(None)
    np.random.seed(5)  # noqa: NPY002
    assert split(None) == first != split(None)
    np.random.seed(5)  # noqa: NPY002
    split(3)  # a seed draws nothing from the global generator
    assert split(None) == first


def test_weighted_frequencies_are_those_of_the_weights() -> None:
    np.random.seed(0)  # noqa: NPY002
    drawn = np.array(list(WeightedRandomSampler([1, 0, 2, 5], 80_000)))
    counts = np.bincount(drawn, minlength=4)
    assert counts[1] == 0
    # Five standard deviations of a binomial of 80,000 draws are at most 708.
    np.testing.assert_allclose(counts, [10_000, 0, 20_000, 50_000], atol=708)


def test_weights_without_replacement_give_each_index_once() -> None:
    np.random.seed(0)  # noqa: NPY002
    sampler = WeightedRandomSampler(nd.array([3, 0, 1, 1]), 3, replacement=False)
    assert len(sampler) == 3
    firsts = []
    for _ in range(3000):
        drawn = list(sampler)
        assert sorted(drawn) == [0, 2, 3]
        firsts.append(drawn[0])
    assert abs(np.mean(np.equal(firsts, 0)) - 0.6) < 5 * (0.24 / 3000) ** 0.5


def test_equal_seeds_draw_equal_indices() -> None:
    sampler = WeightedRandomSampler([1.0, 2.0, 3.0], 20)
    np.random.seed(1)  # noqa: NPY002
    first, second = list(sampler), list(sampler)
    np.random.seed(1)  # noqa: NPY002
    assert list(sampler) == first != second
    assert [x.shape for x in DataLoader(range(3), 8, sampler=sampler)] == [(8,), (8,), (4,)]


def test_large_weights_do_not_overflow() -> None:
    assert set(WeightedRandomSampler([1e308, 1e308], 64)) == {0, 1}


REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: ConcatDataset([]), ArgumentError, "at least one dataset"),
    (lambda: ConcatDataset(5), ArgumentTypeError, "a list of datasets, got int"),  # type: ignore[arg-type]
    (lambda: ConcatDataset([[1], iter([2])]), ArgumentTypeError, r"datasets\[1\]"),
    (lambda: ConcatDataset([[1]])[1], OutOfBoundsError, r"index in -1..0, got 1"),
    (lambda: ConcatDataset([[1]])[-2], OutOfBoundsError, "got -2"),
    (lambda: Subset([1], [1]), OutOfBoundsError, r"indices in -1..0, got 1"),
    (lambda: Subset([1], [0.5]), ArgumentTypeError, "whole numbers"),  # type: ignore[list-item]
    (lambda: Subset(iter([1]), [0]), ArgumentTypeError, "dataset to have __getitem__"),
    (lambda: Subset([1], [0])[1], OutOfBoundsError, "got 1"),
    (lambda: random_split([1, 2], [1, 2]), ArgumentError, r"sum 2, .* with the sum 3"),
    (lambda: random_split([1, 2], [0.3, 0.3]), ArgumentError, "fractions with the sum 1"),
    (lambda: random_split([1, 2], [3, -1]), ArgumentError, "0 or more"),
    (lambda: random_split([1, 2], []), ArgumentError, "0 or more"),
    (lambda: random_split([1, 2], ["a"]), ArgumentTypeError, "lengths to be a number"),  # type: ignore[list-item]
    (lambda: random_split([1, 2], 2), ArgumentTypeError, "list of lengths"),  # type: ignore[arg-type]
    (lambda: WeightedRandomSampler([1, -1], 1), ArgumentError, "got -1"),
    (lambda: WeightedRandomSampler([1, np.nan], 1), ArgumentError, "got nan"),
    (lambda: WeightedRandomSampler([0, 0], 1), ArgumentError, "positive weight"),
    (lambda: WeightedRandomSampler([[1]], 1), ArgumentError, r"got \(1, 1\)"),
    (lambda: WeightedRandomSampler(["a"], 1), ArgumentTypeError, "numbers as weights"),
    (lambda: WeightedRandomSampler([1], 0), ArgumentError, "num_samples"),
    (lambda: WeightedRandomSampler([1, 0], 2, False), ArgumentError, "at most 1"),
    (lambda: WeightedRandomSampler([1], 1, 0.5), ArgumentTypeError, "bool"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("call", "error", "message"), REFUSED)
def test_bad_arguments_are_refused(
    call: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()
