"""Arguments of stores: keys with arrays, single or in lists."""

from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ndarray import NDArray

Key = int | str


def row_ids_by_array(row_ids: Any, count: int) -> list[Any]:
    """Return ``count`` arrays of row indices from nested lists, or repeat a single one.

    Raises:
        ArgumentError: The number of arrays is neither 1 nor ``count``.
    """
    arrays = _flat(row_ids)
    if len(arrays) == 1:
        arrays *= count
    if len(arrays) != count:
        raise ArgumentError(
            f"row_sparse_pull: expected one array of row_ids, or {count}, got {len(arrays)}"
        )
    return arrays


def _flat(row_ids: Any) -> list[Any]:
    if not isinstance(row_ids, list | tuple):
        return [row_ids]
    return [array for inner in row_ids for array in _flat(inner)]


def pairs_of(what: str, key: Any, value: Any) -> list[tuple[Key, list[NDArray]]]:
    """Group arrays by key: return pairs of a key and all arrays that were passed for it."""
    keys = list(key) if isinstance(key, list | tuple) else [key]
    values = list(value) if isinstance(key, list | tuple) else [value]
    if len(keys) != len(values):
        raise ArgumentError(f"{what}: expected {len(keys)} values for {keys}, got {len(values)}")
    found: dict[Key, list[NDArray]] = {}
    for name, item in zip(keys, values, strict=True):
        if isinstance(name, bool) or not isinstance(name, int | str):
            raise ArgumentTypeError(f"{what}: expected an int or str key, got {name!r}")
        arrays = list(item) if isinstance(item, list | tuple) else [item]
        wrong = [type(x).__name__ for x in arrays if not isinstance(x, NDArray)]
        if wrong or not arrays:
            raise ArgumentTypeError(
                f"{what}: expected NDArrays for key {name!r}, got {', '.join(wrong) or 'none'}"
            )
        found.setdefault(name, []).extend(arrays)
    return list(found.items())


def check_like(
    what: str, key: Key, arrays: list[NDArray], stored: NDArray, dtype: bool = True
) -> None:
    """Raise if arrays differ from the stored value in shape or, if ``dtype``, in dtype."""
    for x in arrays:
        if x.shape != stored.shape or (dtype and x.dtype != stored.dtype):
            raise ArgumentError(
                f"{what}: expected {stored.dtype.__name__}{stored.shape} for key {key!r},"
                f" got {x.dtype.__name__}{x.shape}"
            )
