"""The distinct elements of an array, as in the array API standard; see also `unique`."""

from typing import Any, NamedTuple

import numpy as np

from gluonish.core.argument_docs import document_arguments
from gluonish.numpy.elements import unique

__all__ = ["unique_all", "unique_counts", "unique_inverse", "unique_values"]


class UniqueAll(NamedTuple):
    """Result of `unique_all`.

    Attributes:
        values: The distinct elements, ascending.
        indices: Index of the first occurrence of each in the flattened array, int64.
        inverse_indices: Indices that reconstruct the array from the values, int64.
        counts: Number of occurrences of each, int64.
    """

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCounts(NamedTuple):
    """Result of `unique_counts`.

    Attributes:
        values: The distinct elements, ascending.
        counts: Number of occurrences of each, int64.
    """

    values: Any
    counts: Any


class UniqueInverse(NamedTuple):
    """Result of `unique_inverse`.

    Attributes:
        values: The distinct elements, ascending.
        inverse_indices: Indices that reconstruct the array from the values, int64.
    """

    values: Any
    inverse_indices: Any


def _unique(x: Any, *options: bool) -> tuple[Any, ...]:
    """Return the results of `unique`, also of bool."""
    if x.dtype != np.bool_:
        found = unique(x, *options)
        return found if any(options) else (found,)
    values, *others = _unique(x.astype(np.uint8), *options)
    return (values.astype(np.bool_), *others)


def unique_all(x: Any) -> UniqueAll:
    """Return the distinct elements, with their indices, inverse indices and counts."""
    values, indices, inverse, counts = _unique(x, True, True, True)
    return UniqueAll(values, indices, inverse.reshape(x.shape), counts)


def unique_counts(x: Any) -> UniqueCounts:
    """Return the distinct elements and the number of occurrences of each."""
    return UniqueCounts(*_unique(x, False, False, True))


def unique_inverse(x: Any) -> UniqueInverse:
    """Return the distinct elements and the indices that reconstruct the array from them."""
    values, inverse = _unique(x, False, True, False)
    return UniqueInverse(values, inverse.reshape(x.shape))


def unique_values(x: Any) -> Any:
    """Return the distinct elements in ascending order."""
    return _unique(x, False, False, False)[0]


document_arguments(globals(), __all__)
