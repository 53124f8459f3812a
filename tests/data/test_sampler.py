import numpy as np
import pytest

from gluonish.core.errors import ArgumentError, NotSupportedError
from gluonish.data import (
    BatchSampler,
    FilterSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
)


def test_sequential_sampler_counts_from_its_start() -> None:
    sampler = SequentialSampler(3, 2)
    assert list(sampler) == [2, 3, 4]
    assert len(sampler) == 3


def test_random_order_is_that_of_mxnet_for_a_numpy_seed() -> None:
    sampler = RandomSampler(8)
    np.random.seed(3)  # noqa: NPY002
    assert [int(i) for i in sampler] == [5, 7, 4, 6, 3, 1, 0, 2]
    assert sorted(sampler) == list(range(8))
    assert len(sampler) == 8


def test_filter_sampler_gives_the_indices_that_pass() -> None:
    sampler = FilterSampler(lambda value: value > 12, [10, 13, 11, 15])
    assert list(sampler) == [1, 3]
    assert len(sampler) == 2


@pytest.mark.parametrize(
    ("last_batch", "passes"),
    [
        ("keep", [[[0, 1, 2], [3, 4, 5], [6]]] * 3),
        ("discard", [[[0, 1, 2], [3, 4, 5]]] * 3),
        (
            "rollover",
            [
                [[0, 1, 2], [3, 4, 5]],
                [[6, 0, 1], [2, 3, 4]],
                [[5, 6, 0], [1, 2, 3], [4, 5, 6]],
            ],
        ),
    ],
)
def test_last_batch(last_batch: str, passes: list[list[list[int]]]) -> None:
    sampler = BatchSampler(SequentialSampler(7), 3, last_batch)
    for expected in passes:
        assert len(sampler) == len(expected)
        assert list(sampler) == expected


def test_unknown_last_batch_and_batch_size_are_refused() -> None:
    with pytest.raises(ArgumentError, match="got 'x'"):
        BatchSampler(SequentialSampler(7), 3, "x")
    with pytest.raises(ArgumentError, match="got 0"):
        BatchSampler(SequentialSampler(7), 0)


def test_base_defines_nothing() -> None:
    with pytest.raises(NotSupportedError):
        iter(Sampler())
    with pytest.raises(NotSupportedError):
        len(Sampler())
