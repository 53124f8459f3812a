import pytest

from gluonish.core.errors import ArgumentError
from gluonish.gluon.contrib.data import IntervalSampler


def test_indices_stand_apart_and_roll_over() -> None:
    sampler = IntervalSampler(13, interval=3)
    assert list(sampler) == [0, 3, 6, 9, 12, 1, 4, 7, 10, 2, 5, 8, 11]
    assert list(sampler) == list(sampler)
    assert len(sampler) == 13


def test_without_rollover_the_first_round_is_all() -> None:
    sampler = IntervalSampler(13, interval=3, rollover=False)
    assert list(sampler) == [0, 3, 6, 9, 12]
    assert len(sampler) == 5  # MXNet 1.9.1 says 13, so that a BatchSampler counts too many batches


def test_an_interval_of_one_is_the_plain_order() -> None:
    assert list(IntervalSampler(3, 1)) == [0, 1, 2]


@pytest.mark.parametrize("interval", [0, -1, 4])
def test_an_interval_beyond_the_length_is_refused(interval: int) -> None:
    with pytest.raises(ArgumentError, match=r"expected an interval in 1\.\.length = 3, got"):
        IntervalSampler(3, interval)
