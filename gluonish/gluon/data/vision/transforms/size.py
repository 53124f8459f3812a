"""Sizes as transforms take them: one number, or width and height."""

from collections.abc import Sequence

from gluonish.core.errors import ArgumentError

__all__ = ["Size", "both_extents"]

Size = float | Sequence[int]


def both_extents(name: str, size: Size) -> tuple[int, int]:
    """Return width and height, in pixels.

    Args:
        name: Class name of the transform, for error messages.
        size: (width, height), or one int for both.

    Raises:
        ArgumentError: It is not one or two integers of at least 1.
    """
    extents = (size, size) if isinstance(size, int | float) else tuple(size)
    if len(extents) != 2 or any(extent != int(extent) or extent < 1 for extent in extents):
        raise ArgumentError(
            f"{name}: expected a size of one or two whole numbers of at least 1 (width, height), "
            f"got {size!r}"
        )
    return int(extents[0]), int(extents[1])
