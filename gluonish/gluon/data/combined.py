"""Datasets made of others: `ConcatDataset`, `Subset` and `random_split`."""

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from operator import index as as_index
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError, OutOfBoundsError
from gluonish.core.number_check import as_float, as_int
from gluonish.core.object_repr import brief, object_repr
from gluonish.gluon.data.dataset import Dataset, indexable

__all__ = ["ConcatDataset", "Subset", "random_split"]


class ConcatDataset(Dataset):
    """The samples of several datasets, one dataset after the other.

    Args:
        datasets: One or more datasets: anything with indices and a length.

    Attributes:
        datasets: List of the datasets.
        cumulative_sizes: For each dataset the number of samples up to its end.

    Raises:
        ArgumentError: ``datasets`` is empty.
        ArgumentTypeError: An item of ``datasets`` has no indices or no length.

    Indexing raises `OutOfBoundsError` for an index outside ``-len(self) .. len(self) - 1``.

    Example:
        >>> from gluonish.gluon.data import ConcatDataset, SimpleDataset
        >>> both = ConcatDataset([SimpleDataset([1, 2, 3]), SimpleDataset([40, 50])])
        >>> len(both), both[3], both[-1]
        (5, 40, 50)
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        if not isinstance(datasets, Iterable):
            raise ArgumentTypeError(
                f"ConcatDataset: expected a list of datasets, got {type(datasets).__name__}"
            )
        self.datasets = [indexable(dataset) for dataset in datasets]
        if not self.datasets:
            raise ArgumentError("ConcatDataset: expected at least one dataset, got none")
        for number, dataset in enumerate(self.datasets):
            _check_indices("ConcatDataset", f"datasets[{number}]", dataset)
        self.cumulative_sizes = list(accumulate(map(len, self.datasets)))

    def __repr__(self) -> str:
        return object_repr(self, f"{len(self)} samples", *map(brief, self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: Any) -> Any:
        length = len(self)
        index = as_index(idx)
        if not -length <= index < length:
            raise OutOfBoundsError(
                f"ConcatDataset: expected an index in {-length}..{length - 1}, got {index}"
            )
        index %= length
        number = bisect_right(self.cumulative_sizes, index)
        start = self.cumulative_sizes[number - 1] if number else 0
        return self.datasets[number][index - start]


class Subset(Dataset):
    """The samples of a dataset at given indices, in their order.

    `Dataset.take`, `shard`, `filter` and `sample` choose the indices by a rule; this class takes
    them as they are, and takes any object with indices as the dataset.

    Args:
        dataset: The dataset: anything with indices and a length.
        indices: Indices of the samples; an index may occur several times; negative ones count from
            the end.

    Attributes:
        dataset: The dataset.
        indices: The indices, an int64 array (samples,).

    Raises:
        ArgumentTypeError: ``dataset`` has no indices or no length, or an index is not a whole
            number.
        OutOfBoundsError: An index is outside the dataset.

    Example:
        >>> from gluonish.gluon.data import SimpleDataset, Subset
        >>> list(Subset(SimpleDataset("abcde"), [4, 0, -2]))
        ['e', 'a', 'd']
    """

    def __init__(self, dataset: Any, indices: Iterable[int]) -> None:
        self.dataset = indexable(dataset)
        _check_indices("Subset", "dataset", self.dataset)
        try:
            # An array, because a list of a million ints is slow to send to workers.
            self.indices = np.array([as_index(i) for i in indices], dtype=np.int64)
        except TypeError as error:
            raise ArgumentTypeError(f"Subset: expected whole numbers as indices: {error}") from None
        length = len(self.dataset)
        outside = self.indices[(self.indices < -length) | (self.indices >= length)]
        if outside.size:
            raise OutOfBoundsError(
                f"Subset: expected indices in {-length}..{length - 1}, got {outside[0]}"
            )
        self.indices[self.indices < 0] += length

    def __repr__(self) -> str:
        return object_repr(self, f"{len(self)} samples", f"of {brief(self.dataset)}")

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, idx: Any) -> Any:
        try:
            index = self.indices[as_index(idx)]
        except IndexError:
            length = len(self)
            raise OutOfBoundsError(
                f"Subset: expected an index in {-length}..{length - 1}, got {idx}"
            ) from None
        return self.dataset[int(index)]


def random_split(dataset: Any, lengths: Sequence[float], seed: int | None = None) -> list[Subset]:
    """Split a dataset at random into parts that have no sample in common.

    Args:
        dataset: The dataset: anything with indices and a length.
        lengths: Numbers of samples of the parts, which add up to the length of the dataset; or
            fractions that add up to 1. A fraction's number of samples is rounded down, and samples
            that are left are given one each to the first parts.
        seed: Seed of the split, which then depends on nothing else; None draws from NumPy's global
            generator, so that ``numpy.random.seed`` repeats it.

    Returns:
        A `Subset` for each part.

    Raises:
        ArgumentError: ``lengths`` is empty, has a negative number, or has another sum.
        ArgumentTypeError: ``dataset`` has no indices or no length, or a length is not a number.

    Example:
        >>> from gluonish.gluon.data import SimpleDataset, random_split
        >>> training, validation = random_split(SimpleDataset(range(10)), [0.8, 0.2], seed=0)
        >>> len(training), len(validation), sorted([*training, *validation]) == list(range(10))
        (8, 2, True)
    """
    dataset = indexable(dataset)
    _check_indices("random_split", "dataset", dataset)
    sizes = _sizes(len(dataset), lengths)
    if seed is None:
        order = np.random.permutation(len(dataset))  # noqa: NPY002  # as RandomSampler does
    else:
        seed = as_int("random_split", "seed", seed, 0)
        order = np.random.default_rng(seed).permutation(len(dataset))
    ends = list(accumulate(sizes))
    return [Subset(dataset, order[end - size : end]) for size, end in zip(sizes, ends, strict=True)]


def _sizes(count: int, lengths: Sequence[float]) -> list[int]:
    """Return the numbers of samples of the parts of ``count`` samples."""
    if not isinstance(lengths, Iterable):
        raise ArgumentTypeError(
            f"random_split: expected a list of lengths, got {type(lengths).__name__}"
        )
    values = [as_float("random_split", "lengths", length) for length in lengths]
    if not values or not all(math.isfinite(value) and value >= 0 for value in values):
        raise ArgumentError(f"random_split: expected lengths of 0 or more, got {list(lengths)}")
    total = sum(values)
    if total == count and all(value.is_integer() for value in values):
        return [int(value) for value in values]
    if not math.isclose(total, 1):
        raise ArgumentError(
            f"random_split: expected lengths with the sum {count}, or fractions with the sum 1, "
            f"got {list(lengths)} with the sum {total:g}"
        )
    # 0.29 * 100 is below 29 in floating point.
    sizes = [math.floor(count * value + 1e-9) for value in values]
    for number in range(count - sum(sizes)):
        sizes[number % len(sizes)] += 1
    return sizes


def _check_indices(what: str, name: str, dataset: Any) -> None:
    kind = type(dataset)
    if not hasattr(kind, "__getitem__") or not hasattr(kind, "__len__"):
        raise ArgumentTypeError(
            f"{what}: expected {name} to have __getitem__ and __len__, got {kind.__name__}"
        )
