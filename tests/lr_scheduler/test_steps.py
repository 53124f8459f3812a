"""Schedulers that step down."""

import pytest

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.lr_scheduler import FactorScheduler, MultiFactorScheduler


def test_rate_never_rises_again() -> None:
    scheduler = FactorScheduler(3, 0.5, base_lr=0.4)
    assert scheduler(7) == 0.1
    assert scheduler(1) == 0.1


def test_rate_stops_falling() -> None:
    scheduler = FactorScheduler(1, 0.1, stop_factor_lr=0.02, base_lr=1.0)
    assert scheduler(100) == 0.02


def test_count_is_that_of_the_last_change() -> None:
    scheduler = MultiFactorScheduler([2, 5], 0.5, base_lr=0.4)
    assert scheduler(6) == 0.1
    assert (scheduler.count, scheduler.cur_step_ind) == (5, 2)


def test_factor_above_one_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"factor of 1 at most, got 1\.5"):
        FactorScheduler(2, 1.5)
    with pytest.raises(ArgumentError, match=r"factor of 1 at most, got 1\.5"):
        MultiFactorScheduler([2], 1.5)


def test_step_below_one_is_refused() -> None:
    with pytest.raises(ArgumentError, match="step of 1 or more, got 0"):
        FactorScheduler(0)


@pytest.mark.parametrize("step", [[], [0, 2], [3, 2], [2, 2]])
def test_steps_that_do_not_increase_are_refused(step: list[int]) -> None:
    with pytest.raises(ArgumentError, match="increasing steps"):
        MultiFactorScheduler(step)


def test_tuple_of_steps_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="list step"):
        MultiFactorScheduler((1, 2))
