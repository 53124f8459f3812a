"""Loss scales in device memory, by which a step with an overflow is skipped on the device.

The state is a float32 array, whose elements `State` names.
"""

from collections.abc import Sequence
from enum import IntEnum
from types import ModuleType
from typing import Any, NamedTuple, Protocol


class State(IntEnum):
    """Positions in the state of a loss scale.

    Attributes:
        LOSS_SCALE: The scale of the current step.
        NEXT: The scale of the next step.
        CLEAN: Number of steps without overflow since the scale changed.
        DIVISOR: By how much the update divides gradients.
        OVERFLOW: Whether the current step is skipped, 0 or 1.
        SKIPPED: Number of skipped steps.
    """

    LOSS_SCALE = 0
    NEXT = 1
    CLEAN = 2
    DIVISOR = 3
    OVERFLOW = 4
    SKIPPED = 5


class Divides(IntEnum):
    """By what a step divides gradients: as the step before, by the loss scale, or not at all."""

    AS_BEFORE = 0
    BY_SCALE = 1
    NOT = 2


class Limits(NamedTuple):
    """Steps without overflow until the scale doubles, and its bounds."""

    length: int
    largest: float
    smallest: float


class Gate(NamedTuple):
    """What an update on the device depends on besides its rates.

    Attributes:
        state: The state of the loss scale; the raw array.
        update: The number of this update, if no step is skipped that the host does not know of.
        skipped: Number of skipped steps that the host knows of.
    """

    state: Any
    update: int
    skipped: int


class Outcomes(Protocol):
    """Outcomes of the last steps of a loss scale, which the host reads without waiting."""

    def __init__(self, xp: ModuleType, count: int) -> None: ...

    def of(self, step: int) -> bool | None:
        """Return whether a step was skipped; None if that is not known yet."""

    def bind(self, gradients: Sequence[Any]) -> None:
        """Set the gradients of the following steps, which must not be reallocated."""

    def end_step(self, state: Any, scale: Any, step: int, divides: int, limits: Limits) -> None:
        """Test whether the gradients of a step are finite, and update the state.

        Args:
            state: The state.
            scale: Array of one element, which gets the loss scale.
            step: Number of the step, from 1 on.
            divides: One of `Divides`.
            limits: When and how far the scale changes.
        """
