"""Waits of `gluonish_engine.idle`: wake-ups that come when a wait has just timed out."""

from typing import Any

from gluonish_engine.idle import _wait_until
from gluonish_engine.scheduler import Scheduler


class _Core:
    """What a wait asks of a scheduler, whose tasks end right after it timed out, and before."""

    def __init__(self) -> None:
        self.waiters: list[Any] = []
        self.turns = 0

    def close_all(self) -> None:
        pass

    def catch_up(self) -> None:
        self.turns += 1
        if self.turns > 1:
            Scheduler.notify_all(self)  # type: ignore[arg-type]

    def wake_lanes(self) -> None:
        Scheduler.notify_all(self)  # type: ignore[arg-type]


def test_a_wake_up_after_a_time_out_leaves_a_gate_that_can_be_released() -> None:
    core: Any = _Core()
    assert _wait_until(core, lambda: core.turns >= 4, 5.0, 0.01)
    assert not core.waiters
