"""Schedulers that fall smoothly."""

from collections.abc import Callable
from math import cos, pi

import pytest

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.lr_scheduler import (
    CosineScheduler,
    InverseRootScheduler,
    LinearScheduler,
    PolyScheduler,
)


@pytest.mark.parametrize("kind", [CosineScheduler, LinearScheduler, PolyScheduler])
class TestDecay:
    def test_ends_at_final_lr_and_stays(self, kind: type[CosineScheduler]) -> None:
        scheduler = kind(10, base_lr=1.0, final_lr=0.25)
        assert scheduler(0) == 1.0
        assert scheduler(10) == 0.25
        assert scheduler(11) == 0.25

    def test_warmup_until_the_end_gives_final_lr(self, kind: type[CosineScheduler]) -> None:
        assert kind(5, base_lr=1.0, final_lr=0.25, warmup_steps=5)(5) == 0.25

    def test_no_updates_are_refused(self, kind: type[CosineScheduler]) -> None:
        with pytest.raises(ArgumentError, match="max_update of 1 or more, got 0"):
            kind(0)

    def test_fractional_update_is_refused(self, kind: type[CosineScheduler]) -> None:
        with pytest.raises(ArgumentTypeError, match=r"int max_update, got 2\.5"):
            kind(2.5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "remaining"),
    [
        (LinearScheduler, lambda done: 1 - done),
        (CosineScheduler, lambda done: (1 + cos(pi * done)) / 2),
        (PolyScheduler, lambda done: (1 - done) ** 2),
    ],
)
def test_rates_are_those_of_the_formula(
    kind: type[LinearScheduler], remaining: Callable[[float], float]
) -> None:
    schedule = kind(110, base_lr=0.3, final_lr=0.02, warmup_steps=10, warmup_begin_lr=0.01)
    for step in range(120):
        if step < 10:
            expected = 0.01 + 0.29 * step / 10
        else:
            expected = 0.02 + 0.28 * remaining(min(1, (step - 10) / 100))
        assert schedule(step) == pytest.approx(expected, rel=1e-12)


class TestInverseRoot:
    def test_is_the_schedule_of_the_paper(self) -> None:
        """With d_model 512 and 4,000 steps of warm-up."""
        schedule = InverseRootScheduler(512**-0.5 * 4000**-0.5, warmup_steps=4000)
        for step in (1, 100, 3999, 4000, 4001, 100000):
            paper = 512**-0.5 * min(step**-0.5, step * 4000**-1.5)
            assert schedule(step) == pytest.approx(paper, rel=1e-12)

    def test_without_warmup_and_with_a_limit(self) -> None:
        schedule = InverseRootScheduler(1.0, final_lr=0.3)
        assert [schedule(n) for n in (0, 1, 4, 100)] == [1.0, 1.0, 0.5, 0.3]

    def test_a_limit_above_the_rate_is_refused(self) -> None:
        with pytest.raises(ArgumentError, match=r"final_lr up to base_lr 0.1, got 0.2"):
            InverseRootScheduler(0.1, final_lr=0.2)
