"""Shapes of parameters, in which an extent that is not known yet is 0 or -1."""

from gluonish.core.errors import ParameterError
from gluonish.core.spec import Shape

__all__ = ["check_fits", "join_shapes", "shape_is_known"]


def check_fits(name: str, stored: Shape, given: Shape) -> None:
    """Refuse a shape that changes a parameter's known extents.

    Raises:
        ParameterError: if it has other extents, or another number of them.
    """
    if len(given) != len(stored) or any(
        old not in (new, 0, -1) for old, new in zip(stored, given, strict=True)
    ):
        raise ParameterError(f"Parameter {name}: expected a shape that fits {stored}, got {given}")


def shape_is_known(shape: Shape | None) -> bool:
    """Whether an array of this shape can be made: it has axes, and every extent is above 0."""
    return shape is not None and len(shape) > 0 and all(extent > 0 for extent in shape)


def join_shapes(stored: Shape, given: Shape) -> Shape | None:
    """Fill the unknown extents of one shape from another; None if the two contradict each other."""
    if len(stored) != len(given):
        return None
    if any(a > 0 and b > 0 and a != b for a, b in zip(stored, given, strict=True)):
        return None
    return tuple(a if a > 0 else b for a, b in zip(stored, given, strict=True))
