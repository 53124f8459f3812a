"""Spec: shape and dtype of an array without its values, complete or partial."""

import math
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.errors import OperatorError

Shape = tuple[int, ...]

MOST_ELEMENTS = 1 << 40  # maximum for a shape from attributes: more is a mistake

UNKNOWN = -1  # an extent that is not inferred yet; 0 in files and in MXNet's interface


class Spec(NamedTuple):
    """Shape and dtype of an array; immutable, and shared between arrays."""

    shape: Shape
    dtype: np.dtype[Any]

    @property
    def size(self) -> int:
        """Number of elements."""
        size = 1
        for extent in self.shape:
            size *= extent
        return size

    @property
    def nbytes(self) -> int:
        """Size of the values in bytes."""
        return self.size * self.dtype.itemsize

    def __str__(self) -> str:
        return f"{self.dtype.name}{self.shape}"


def checked_spec(operator: str, shape: Shape, dtype: np.dtype[Any]) -> Spec:
    """Return the spec of an output whose shape comes from attributes.

    Raises:
        OperatorError: An extent is negative, or there are more than `MOST_ELEMENTS` elements, with
            extents of 0 counted as 1.
    """
    spec = Spec(shape, dtype)
    count = math.prod(extent or 1 for extent in shape)
    if any(extent < 0 for extent in shape) or count > MOST_ELEMENTS:
        raise OperatorError(
            f"{operator}: expected sizes of at least 0 and at most {MOST_ELEMENTS} elements in "
            f"total, got shape {shape}"
        )
    return spec


class PartialSpec(NamedTuple):
    """Partially inferred spec: ``shape`` may be None or have `UNKNOWN` extents."""

    shape: Shape | None = None
    dtype: np.dtype[Any] | None = None

    def known(self) -> bool:
        """Whether shape and dtype are completely known."""
        return self.dtype is not None and self.shape is not None and UNKNOWN not in self.shape


def merge_shapes(a: Shape | None, b: Shape | None, what: str) -> Shape | None:
    """Merge two partial shapes of one array.

    Raises:
        OperatorError: The shapes conflict; ``what`` names the operator and the array.
    """
    if a is None or a == b:
        return b
    if b is None:
        return a
    if len(a) != len(b) or any(x != y and UNKNOWN not in (x, y) for x, y in zip(a, b, strict=True)):
        raise OperatorError(f"{what}: expected shape {_text(a)}, got {_text(b)}")
    return tuple(y if x == UNKNOWN else x for x, y in zip(a, b, strict=True))


def merge_dtypes(
    a: np.dtype[Any] | None, b: np.dtype[Any] | None, what: str
) -> np.dtype[Any] | None:
    """Merge two optional dtypes of one array.

    Raises:
        OperatorError: The dtypes differ.
    """
    if a is None or b is None:  # checked first, because the float64 dtype equals None
        return b if a is None else a
    if a == b:
        return a
    if a.kind in "iub" and b.kind not in "iub":  # weights are floating: the data is wrong
        a, b = b, a
    raise OperatorError(
        f"{what}: expected dtype {a.name}, got {b.name}; convert the data: x.astype({a.name!r})"
    )


def _text(shape: Shape) -> str:
    return str(tuple("?" if extent == UNKNOWN else extent for extent in shape)).replace("'", "")
