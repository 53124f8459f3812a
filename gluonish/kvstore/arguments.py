"""What users give to stores: keys with arrays, alone or in lists."""

from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ndarray import NDArray

Key = int | str


def one_for_each(row_ids: Any, count: int) -> list[Any]:
    """Return ``count`` arrays of row numbers in order.

    Args:
        row_ids: As many arrays, in a list or in lists; or one for all.
        count: How many there have to be.

    Raises:
        ArgumentError: They are neither one nor as many.
    """
    wanted = _flat(row_ids)
    if len(wanted) == 1:
        wanted *= count
    if len(wanted) != count:
        raise ArgumentError(
            f"row_sparse_pull: expected one array of row_ids, or {count}, got {len(wanted)}"
        )
    return wanted


def _flat(row_ids: Any) -> list[Any]:
    if not isinstance(row_ids, list | tuple):
        return [row_ids]
    return [array for part in row_ids for array in _flat(part)]


def pairs_of(what: str, key: Any, value: Any) -> list[tuple[Key, list[NDArray]]]:
    """Return pairs of a key and its list of arrays; arrays of a repeated key are combined.

    Args:
        what: Name of the calling method, for error messages.
        key: An int or a str, or a list of keys.
        value: For each key an NDArray or a list of NDArrays.
    """
    keys = list(key) if isinstance(key, list | tuple) else [key]
    values = list(value) if isinstance(key, list | tuple) else [value]
    if len(keys) != len(values):
        raise ArgumentError(f"{what}: expected {len(keys)} values for {keys}, got {len(values)}")
    found: dict[Key, list[NDArray]] = {}
    for name, given in zip(keys, values, strict=True):
        if isinstance(name, bool) or not isinstance(name, int | str):
            raise ArgumentTypeError(f"{what}: expected an int or str key, got {name!r}")
        arrays = list(given) if isinstance(given, list | tuple) else [given]
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
    """Check that arrays have the shape, and if required the dtype, of the stored value.

    Args:
        what: Name of the calling method, for error messages.
        key: Key of the value.
        arrays: The arrays.
        stored: The stored value.
        dtype: Whether to check the dtype, too.
    """
    for x in arrays:
        if x.shape != stored.shape or (dtype and x.dtype != stored.dtype):
            raise ArgumentError(
                f"{what}: expected {stored.dtype.__name__}{stored.shape} for key {key!r},"
                f" got {x.dtype.__name__}{x.shape}"
            )
