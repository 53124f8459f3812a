"""Axis arguments: negative ones counted from the end, and refused where there is no such axis."""

from collections.abc import Iterable

from gluonish.core.errors import OperatorError
from gluonish.core.spec import Shape

__all__ = ["named_axes", "normalize_axes", "normalize_axis"]


def normalize_axis(operator: str, axis: int, rank: int) -> int:
    """Return an axis as a number from 0.

    Raises:
        OperatorError: An array of ``rank`` axes has no such axis.
    """
    if not -rank <= axis < rank:
        raise OperatorError(
            f"{operator}: expected axis in [{-rank}, {rank}) for an array of {rank} axes, got "
            f"{axis}"
        )
    return axis % rank


def normalize_axes(operator: str, axes: Iterable[int], rank: int) -> Shape:
    """Return axes as sorted numbers from 0.

    Raises:
        OperatorError: One does not exist or is named twice.
    """
    found = sorted(normalize_axis(operator, axis, rank) for axis in axes)
    if len(set(found)) != len(found):
        raise OperatorError(f"{operator}: expected every axis once, got {tuple(found)}")
    return tuple(found)


def named_axes(operator: str, axes: Iterable[int], rank: int) -> Shape:
    """Return axes as `normalize_axes`; an array without axes may be said to have one, 0 or -1.

    As in NumPy this holds where an axis is to go: reductions and squeeze.

    Raises:
        OperatorError: One does not exist or is named twice.
    """
    axes = tuple(axes)
    return () if not rank and axes in ((0,), (-1,)) else normalize_axes(operator, axes, rank)
