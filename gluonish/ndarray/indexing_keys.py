"""What an index is made of, for programs that take MXNet's indexing apart."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.ndarray.ndarray import NDArray

__all__ = [
    "get_indexing_dispatch_code",
    "get_oshape_of_gather_nd_op",
    "indexing_key_expand_implicit_axes",
]

_BASIC, _ADVANCED = 0, 1
_NO_BOOL = -1


def indexing_key_expand_implicit_axes(
    key: Any, shape: Sequence[int]
) -> tuple[tuple[Any, ...], int]:
    """Return an index with a part for each axis, and the plain bool among its parts.

    Args:
        key: An index of an array.
        shape: The array's shape.

    Returns:
        The parts, where slices stand for what the index leaves out and for an ellipsis; and 1 for
        True among the parts, 0 for False, -1 for neither. It is not in the tuple.

    Raises:
        ArgumentError: There are several ellipses.
    """
    parts = list(key) if isinstance(key, tuple) else [key]
    flags = [part for part in parts if isinstance(part, bool | np.bool_)]
    parts = [part for part in parts if not isinstance(part, bool | np.bool_)]
    ellipses = [i for i, part in enumerate(parts) if part is Ellipsis]
    if len(ellipses) > 1:
        raise ArgumentError(f"index: expected one ellipsis at most, got {len(ellipses)}")
    taken = sum(part is not None and part is not Ellipsis for part in parts)
    whole = [slice(None)] * max(len(shape) - taken, 0)
    at = ellipses[0] if ellipses else len(parts)
    return (*parts[:at], *whole, *parts[at + 1 :]), int(all(flags)) if flags else _NO_BOOL


def get_indexing_dispatch_code(key: Sequence[Any]) -> int:
    """Return 1 if an index has arrays, lists or tuples among its parts, 0 if it has none.

    Args:
        key: The parts, with no ellipsis.

    Raises:
        ArgumentError: A part is nothing that an array is indexed by.
    """
    code = _BASIC
    for part in key:
        if isinstance(part, NDArray | np.ndarray | list | tuple):
            code = _ADVANCED
        elif part is not None and not isinstance(part, int | np.integer | slice):
            raise ArgumentError(
                f"index: expected integers, slices, None and arrays, got {part!r} of {type(part)}"
            )
    return code


def get_oshape_of_gather_nd_op(dshape: Sequence[int], ishape: Sequence[int]) -> tuple[int, ...]:
    """Return the shape of ``gather_nd(data, indices)``.

    Args:
        dshape: Shape of ``data``.
        ishape: Shape of ``indices``, whose first axis goes over the axes of ``data``.
    """
    return (*ishape[1:], *dshape[ishape[0] :])
