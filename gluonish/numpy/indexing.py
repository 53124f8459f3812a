"""``x[key]`` by NumPy's rules, on arrays and traced values.

Arrays are indexed as in ``nd``, but a single element has shape (). A key that contains traced
values becomes an operator.
"""

from typing import Any

import numpy as np

from gluonish.core.errors import NoValuesError
from gluonish.ndarray.indexing import gather_by_key, host_key, is_basic, select, slice_by_key
from gluonish.ndarray.ndarray import NDArray
from gluonish.numpy.calls import call, is_value

__all__ = ["get_item", "get_traced_item"]


def get_item(x: NDArray, key: Any) -> NDArray:
    """Return ``x[key]``: a view for a basic key that selects contiguous memory, else a copy.

    Raises:
        OutOfBoundsError: An index is out of bounds, or there are too many.
        ArgumentTypeError: The key is not an index.
    """
    return select(x, key, ())


def get_traced_item(x: Any, key: Any) -> Any:
    """Return ``x[key]`` of a traced value.

    Args:
        x: The value.
        key: A key as for an array; or a traced mask; or a key with traced integer indices.

    Raises:
        NoValuesError: A traced index is combined with other indices than full slices.
    """
    keys = key if isinstance(key, tuple) else (key,)
    traced = [i for i, k in enumerate(keys) if is_value(k) and not isinstance(k, NDArray)]
    if not traced:
        basic = is_basic(key)
        return slice_by_key(x, key, ()) if basic else gather_by_key(x, host_key(key), ())
    if len(keys) == 1 and keys[0].dtype == np.bool_:
        return call("_npi_boolean_mask", (x, keys[0]), {"axis": 0}, what="index")
    if len(traced) == 1 and all(_is_full_slice(k) for i, k in enumerate(keys) if i != traced[0]):
        (axis,) = traced
        index = keys[axis]
        if Ellipsis in [k for i, k in enumerate(keys) if i < axis]:
            axis = x.ndim - (len(keys) - axis)
        return call("_npi_take", (x, index), {"axis": axis, "mode": "wrap"}, what="index")
    if len(traced) == len(keys):
        indices = call("_npi_stack", keys, {"axis": 0, "num_args": len(keys)}, what="index")
        return call("_npi_gather_nd", (x, indices), what="index")
    raise NoValuesError(
        "index: expected traced values as the only indices besides full slices, got "
        f"{key!r}; use take or gather_nd"
    )


def _is_full_slice(key: Any) -> bool:
    return key is Ellipsis or (isinstance(key, slice) and key == slice(None))
