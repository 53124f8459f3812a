"""Schedulers that fall smoothly."""

import pytest

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.lr_scheduler import CosineScheduler, PolyScheduler


@pytest.mark.parametrize("kind", [CosineScheduler, PolyScheduler])
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
