"""Shapes of parameters, in which an extent that is not known yet is 0 or -1."""

import operator
from collections.abc import Sequence
from typing import Any

from gluonish.core.errors import ArgumentTypeError, ParameterError
from gluonish.core.numpy_mode import is_np_shape
from gluonish.core.spec import Shape

__all__ = ["as_shape", "check_fits", "join_shapes", "shape_is_known"]


def as_shape(what: str, shape: Any) -> Shape:
    """Return extents as a tuple of ints; a single number is the extent of the only axis.

    Args:
        what: Whose shape, for messages.
        shape: What the caller gave.

    Raises:
        ArgumentTypeError: It is neither a number nor a sequence of numbers.
    """
    several = isinstance(shape, Sequence) and not isinstance(shape, str)
    extents: tuple[Any, ...] = tuple(shape) if several else (shape,)
    try:
        return tuple(operator.index(extent) for extent in extents)
    except TypeError as error:
        raise ArgumentTypeError(
            f"{what}: expected shape as a sequence of ints, got {shape!r}"
        ) from error


def check_fits(what: str, stored: Shape, given: Shape) -> None:
    """Refuse a shape that changes a parameter's known extents.

    Raises:
        ParameterError: It has other extents, or another number of them.
    """
    if len(given) != len(stored) or any(
        old not in (new, 0, -1) for old, new in zip(stored, given, strict=True)
    ):
        raise ParameterError(f"{what}: expected a shape that fits {stored}, got {given}")


def shape_is_known(shape: Shape | None) -> bool:
    """Whether an array of this shape can be made: there are axes, and every extent is above 0.

    With NumPy's semantics of shapes, () is a shape as well, and only an extent of -1 is unknown.
    """
    if shape is None:
        return False
    if is_np_shape():
        return all(extent >= 0 for extent in shape)
    return len(shape) > 0 and all(extent > 0 for extent in shape)


def join_shapes(stored: Shape, given: Shape) -> Shape | None:
    """Fill the unknown extents of one shape from another; None if the two contradict each other."""
    if len(stored) != len(given):
        return None
    if any(a > 0 and b > 0 and a != b for a, b in zip(stored, given, strict=True)):
        return None
    return tuple(a if a > 0 else b for a, b in zip(stored, given, strict=True))
