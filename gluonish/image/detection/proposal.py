"""Heights and widths that random crops and pads are drawn from."""

import math
import random
from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError

__all__ = ["Range", "checked_attempts", "checked_range", "drawn_height", "nearest_side"]

Range = tuple[float, float]


def checked_range(name: str, word: str, given: float | Range) -> Range:
    """Return a range (min, max); a single number is both.

    Args:
        name: Class name of the caller, for error messages.
        word: Name of the argument.
        given: The argument.

    Raises:
        ArgumentTypeError: It is neither a number nor a pair.
        ArgumentError: The minimum is above the maximum, or below 0.
    """
    if isinstance(given, int | float):
        limits: Any = (given, given)
    else:
        limits = given
    if not isinstance(limits, tuple | list) or len(limits) != 2:
        raise ArgumentTypeError(f"{name}: expected {word} (min, max), got {given!r}")
    if not 0 <= limits[0] <= limits[1] or limits[1] == 0:
        raise ArgumentError(f"{name}: expected 0 <= min <= max for {word}, got {tuple(limits)}")
    return limits[0], limits[1]


def checked_attempts(name: str, max_attempts: int) -> int:
    """Return a number of attempts if it is an integer.

    Args:
        name: Class name of the caller, for error messages.
        max_attempts: The argument.

    Raises:
        ArgumentTypeError: It is not an integer.
    """
    if isinstance(max_attempts, bool) or not isinstance(max_attempts, int):
        raise ArgumentTypeError(
            f"{name}: expected a whole number as max_attempts, got {max_attempts!r}"
        )
    return max_attempts


def nearest_side(area: float, ratio: float) -> int:
    """Return the height, in pixels, of a region of a given area and aspect ratio (width / height).

    Args:
        area: The area in pixels.
        ratio: The aspect ratio.
    """
    return round(math.sqrt(area / ratio))


def drawn_height(least: int, largest: int) -> int:
    """Return a height drawn from Python's `random`; ``largest`` if the range is empty.

    Args:
        least: Minimum height, in pixels.
        largest: Maximum height, in pixels.
    """
    return random.randint(least, largest) if least < largest else largest
