"""Heights and widths that random crops and pads are drawn from."""

import math
import random
from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError

__all__ = ["Range", "checked_attempts", "checked_range", "drawn_height", "nearest_side"]

Range = tuple[float, float]


def checked_range(name: str, word: str, given: float | Range) -> Range:
    """Return a range as a pair; of a number both ends are the same.

    Raises:
        ArgumentTypeError: It is neither a number nor a pair.
        ArgumentError: It ends before it begins, or below 0.
    """
    if isinstance(given, int | float):
        limits: Any = (given, given)
    else:
        limits = given
    if not isinstance(limits, tuple | list) or len(limits) != 2:
        raise ArgumentTypeError(f"{name}: expected {word} (least, largest), got {given!r}")
    if not 0 <= limits[0] <= limits[1] or limits[1] == 0:
        raise ArgumentError(
            f"{name}: expected {word} of at least 0, the least first, got {tuple(limits)}"
        )
    return limits[0], limits[1]


def checked_attempts(name: str, max_attempts: int) -> int:
    """Return a number of attempts.

    Raises:
        ArgumentTypeError: It is not a whole number.
    """
    if isinstance(max_attempts, bool) or not isinstance(max_attempts, int):
        raise ArgumentTypeError(
            f"{name}: expected a whole number as max_attempts, got {max_attempts!r}"
        )
    return max_attempts


def nearest_side(area: float, ratio: float) -> int:
    """Return the height of a region of an area and a ratio of width to height, in pixels."""
    return round(math.sqrt(area / ratio))


def drawn_height(least: int, largest: int) -> int:
    """Return a height drawn from `random`; the largest one where there is no other."""
    return random.randint(least, largest) if least < largest else largest
