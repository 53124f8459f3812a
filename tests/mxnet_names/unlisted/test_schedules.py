import pytest

from gluonish.core.errors import ArgumentError
from gluonish.mxnet_names.unlisted.schedules import FactorScheduler, LearningRateScheduler


def test_rate_falls_after_every_step() -> None:
    schedule = FactorScheduler(3, 0.5)
    schedule.base_lr = 1.0
    rates = [schedule(i) for i in (0, 1, 3, 4, 6, 7, 10)]
    assert rates == [1, 1, 0.5, 0.5, 0.25, 0.25, 0.125]  # what MXNet 1.9.1 gives


@pytest.mark.parametrize(("step", "factor"), [(0, 0.1), (2, 1.0)])
def test_what_never_falls_is_refused(step: int, factor: float) -> None:
    with pytest.raises(ArgumentError):
        FactorScheduler(step, factor)


def test_base_says_that_it_is_one() -> None:
    with pytest.raises(NotImplementedError):
        LearningRateScheduler()(3)
