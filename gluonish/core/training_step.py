"""The current training step, for messages: that of the newest Trainer, or of the last step."""

from typing import Protocol
from weakref import ReferenceType, ref


class CountsSteps(Protocol):
    """An object that counts its training steps, such as a Trainer."""

    @property
    def steps_done(self) -> int:
        """Number of steps done."""
        raise NotImplementedError


_latest: list[ReferenceType[CountsSteps]] = []


def count_steps_of(trainer: CountsSteps) -> None:
    """Use a Trainer's count of steps from now on."""
    _latest[:] = [ref(trainer)]


def current_step() -> int | None:
    """Return the number of the current step, from 1; None without a Trainer."""
    trainer = _latest[0]() if _latest else None
    return None if trainer is None else trainer.steps_done + 1
