import numpy as np
import pytest

from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.gluon.data import (
    BatchSampler,
    FilterSampler,
    RandomSampler,
    RepeatAugSampler,
    Sampler,
    SequentialSampler,
    SplitSampler,
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


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize(("length", "parts"), [(12, 3), (13, 4), (4, 4), (5, 1)])
def test_shares_are_even_and_cover_all(length: int, parts: int, shuffle: bool) -> None:
    samplers = [SplitSampler(length, parts, part, shuffle, seed=3) for part in range(parts)]
    passes = [[list(sampler) for sampler in samplers] for _ in range(2)]
    for shares in passes:
        assert {len(share) for share in shares} == {len(samplers[0])} == {-(-length // parts)}
        assert {index for share in shares for index in share} == set(range(length))
    if not shuffle or length > 4:
        assert (passes[0] == passes[1]) is not shuffle


def test_dropping_gives_no_index_twice() -> None:
    shares = [list(SplitSampler(10, 4, part, even_size="drop")) for part in range(4)]
    assert shares == [[0, 4], [1, 5], [2, 6], [3, 7]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((8, 2, 2), "part_index in 0..num_parts - 1 = 1, got 2"),
        ((1, 2, 0), "at least 2 elements"),
        ((8, 2, 0, False, 0, "pad"), "'repeat' or 'drop', got 'pad'"),
    ],
)
def test_shares_that_cannot_be_are_refused(arguments: tuple[int, ...], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        SplitSampler(*arguments)


def test_repeated_augmentation_has_each_index_several_times_in_a_row() -> None:
    sampler = RepeatAugSampler(9, num_repeats=3, generator=np.random.default_rng(1))
    found = np.array(list(sampler)).reshape(3, 3)
    assert len(sampler) == 9
    assert (found == found[:, :1]).all()
    assert len(set(found[:, 0].tolist())) == 3
    whole = list(RepeatAugSampler(4, 2, num_samples=8))
    assert sorted(whole) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert len(list(RepeatAugSampler(10))) == 10


def test_repeated_augmentation_follows_its_generator() -> None:
    first, second = (
        list(RepeatAugSampler(50, generator=np.random.default_rng(7))) for _ in range(2)
    )
    assert first == second
    sampler = RepeatAugSampler(50, generator=np.random.default_rng(7))
    assert list(sampler) != list(sampler)


def test_many_allowed_repetitions_take_no_memory() -> None:
    assert len(set(RepeatAugSampler(5, 10**12, 4))) == 1


def test_repeated_augmentation_refuses_what_is_no_generator() -> None:
    with pytest.raises(ArgumentTypeError, match=r"expected generator to be one of NumPy .*, got 7"):
        RepeatAugSampler(5, generator=7)  # type: ignore[arg-type]  # refused


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1,), "length"),
        ((5, 0), "num_repeats"),
        ((5, 2, 11), "num_samples up to 10"),
        ((5, 2, -1), "num_samples"),
    ],
)
def test_repeated_augmentation_refuses_numbers_out_of_range(
    arguments: tuple[int, ...], message: str
) -> None:
    with pytest.raises(ArgumentError, match=message):
        RepeatAugSampler(*arguments)
