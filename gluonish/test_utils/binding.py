"""Arrays for a Symbol's variables, as the checks of this package take them: lists or dicts."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gluonish.core.context import Context
from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ndarray.creation import array
from gluonish.ndarray.ndarray import NDArray
from gluonish.symbol.symbol import Symbol
from gluonish.test_utils.surroundings import default_context

__all__ = ["Location", "as_ndarray", "bound_arrays", "float_dtype", "named"]

Location = Mapping[str, Any] | Sequence[Any]

_FLOATS = ("float16", "float32", "float64")


def float_dtype(name: str, dtype: Any) -> Any:
    """Return the dtype of a check; None for ``"asnumpy"``, which leaves arrays as they are.

    Raises:
        ArgumentError: It is neither this nor float16, float32 or float64.
    """
    if isinstance(dtype, str) and dtype == "asnumpy":
        return None
    found = normalize_dtype(dtype)
    if found.name not in _FLOATS:
        raise ArgumentError(
            f"{name}: expected dtype to be one of {', '.join(_FLOATS)}, got {found.name}"
        )
    return found


def named(name: str, what: str, given: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return values by name: a dict as it is, a list or tuple in the order of the names.

    Raises:
        ArgumentError: A dict has an unknown name, or a list is too long.
        ArgumentTypeError: It is neither.
    """
    if isinstance(given, Mapping):
        unknown = [key for key in given if key not in names]
        if unknown:
            raise ArgumentError(f"{name}: expected {what} among {list(names)}, got {unknown[0]!r}")
        return dict(given)
    if not isinstance(given, list | tuple):
        raise ArgumentTypeError(
            f"{name}: expected {what} as a list, tuple or dict, got {type(given).__name__}"
        )
    if len(given) > len(names):
        raise ArgumentError(f"{name}: expected {what} for {list(names)}, got {len(given)}")
    return dict(zip(names, given, strict=False))


def as_ndarray(name: str, value: Any, ctx: Context, dtype: Any) -> NDArray:
    """Return a value as an NDArray; an NDArray is returned as it is.

    Args:
        name: Name of the calling function, for error messages.
        value: The value.
        ctx: Device of a new NDArray.
        dtype: Dtype of a new NDArray.

    Raises:
        ArgumentTypeError: The value is not an array.
    """
    if isinstance(value, NDArray):
        moved: NDArray = value.as_in_context(ctx)
        return moved
    if not isinstance(value, np.ndarray | np.generic):
        raise ArgumentTypeError(
            f"{name}: expected NDArrays or NumPy arrays, got {type(value).__name__}"
        )
    return array(value, ctx, value.dtype if dtype is None else dtype)


def bound_arrays(
    name: str,
    sym: Symbol,
    location: Location,
    aux_states: Location | None,
    ctx: Context | None,
    dtype: Any,
) -> tuple[Context, dict[str, NDArray], dict[str, NDArray]]:
    """Return the device, the arguments and the auxiliary states to bind a Symbol with.

    Raises:
        ArgumentError: Some have no array, or an array belongs to none.
        ArgumentTypeError: Something is no array.
    """
    context = ctx or default_context()
    groups = (
        ("location", location, sym.list_arguments()),
        ("aux_states", {} if aux_states is None else aux_states, sym.list_auxiliary_states()),
    )
    found: list[dict[str, NDArray]] = []
    for what, given, names in groups:
        values = named(name, what, given, names)
        missing = [each for each in names if each not in values]
        if missing:
            raise ArgumentError(
                f"{name}: expected {what} for {list(names)}, got none for {missing[0]!r}"
            )
        found.append({key: as_ndarray(name, values[key], context, dtype) for key in names})
    return context, found[0], found[1]
