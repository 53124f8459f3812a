"""Functions that join and split arrays."""

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.argument_docs import document_arguments
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.numpy.calls import as_value, axis_in, call, call_list, host_values, pieces, promoted
from gluonish.numpy.shapes import ravel

__all__ = [
    "append",
    "array_split",
    "column_stack",
    "concat",
    "concatenate",
    "dsplit",
    "dstack",
    "hsplit",
    "hstack",
    "row_stack",
    "split",
    "stack",
    "unstack",
    "vsplit",
    "vstack",
]

Cuts = int | Sequence[int]


def concatenate(seq: Any, axis: int | None = 0, out: Any = None) -> Any:
    """Concatenate arrays along an axis.

    Args:
        seq: The arrays.
        axis: Axis along which to join; None flattens the arrays first.
        out: Array that the result is written to, of its shape and dtype.
    """
    if axis is None:
        seq, axis = [ravel(x) for x in seq], 0
    return call_list(
        "_npi_concatenate", _alike(seq, "concatenate"), {"dim": axis}, out, "concatenate"
    )


def _alike(arrays: Any, what: str) -> Any:
    """Return a sequence of arrays in their common dtype; anything else unchanged."""
    return promoted(what, arrays) if isinstance(arrays, list | tuple) else arrays


def concat(seq: Any, axis: int | None = 0, out: Any = None) -> Any:
    """Concatenate arrays along an axis: `concatenate`.

    Args:
        seq: The arrays.
        axis: Axis along which to join; None flattens the arrays first.
        out: Array that the result is written to, of its shape and dtype.
    """
    return concatenate(seq, axis, out)


def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    """Append values to an array along an axis; None flattens both first."""
    return concatenate((arr, values), axis)


def stack(arrays: Any, axis: int = 0, out: Any = None) -> Any:
    """Stack arrays of equal shape along a new axis."""
    return call_list("_npi_stack", _alike(arrays, "stack"), {"axis": axis}, out, "stack")


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """Split an array along an axis into arrays without it.

    Args:
        x: Array of at least one axis.
        axis: The axis.

    Returns:
        As many arrays as the axis has indices.
    """
    value = as_value(x, "unstack")
    before = (slice(None),) * axis_in(axis, value.ndim, "unstack")
    return tuple(value[(*before, i)] for i in range(value.shape[len(before)]))


def vstack(arrays: Any, out: Any = None) -> Any:
    """Stack arrays along axis 0; vectors become rows."""
    return call_list("_npi_vstack", arrays, {}, out, "vstack")


def row_stack(arrays: Any) -> Any:
    """Stack arrays along axis 0: `vstack`."""
    return vstack(arrays)


def hstack(arrays: Any) -> Any:
    """Stack arrays along axis 1; vectors along axis 0."""
    return call_list("_npi_hstack", arrays, {}, None, "hstack")


def dstack(arrays: Any) -> Any:
    """Stack arrays along axis 2, which is added if they have fewer axes."""
    return call_list("_npi_dstack", arrays, {}, None, "dstack")


def column_stack(tup: Any) -> Any:
    """Stack arrays along axis 1; vectors become columns."""
    return call_list("_npi_column_stack", tup, {}, None, "column_stack")


def _split_attrs(what: str, indices_or_sections: Any) -> dict[str, Any]:
    """Return the attributes of the split operator; its list of indices begins with 0."""
    if isinstance(indices_or_sections, int | np.integer):
        sections = int(indices_or_sections)
        if sections < 1:
            raise ArgumentError(f"{what}: expected at least 1 section, got {sections}")
        return {"indices": (), "sections": sections}
    indices_or_sections = host_values(indices_or_sections)
    if not isinstance(indices_or_sections, list | tuple | set | range | np.ndarray):
        raise ArgumentTypeError(
            f"{what}: expected an int or a sequence of ints, got {indices_or_sections!r}"
        )
    try:
        return {"indices": (0, *map(operator.index, indices_or_sections)), "sections": 0}
    except TypeError:
        raise ArgumentTypeError(
            f"{what}: expected an int or a sequence of ints, got {indices_or_sections!r}"
        ) from None


def _split(what: str, name: str, ary: Any, indices_or_sections: Any, axis: int) -> list[Any]:
    value = as_value(ary, what)
    params = _split_attrs(what, indices_or_sections)
    if params["indices"] and hasattr(value, "shape"):
        # Indices may be negative or out of bounds.
        extent = value.shape[axis_in(axis, value.ndim, what)]
        params["indices"] = tuple(slice(i, None).indices(extent)[0] for i in params["indices"])
    params |= {"axis": axis, "squeeze_axis": False}
    return pieces(call(name, (value,), params, what=what))


def split(ary: Any, indices_or_sections: Cuts, axis: int = 0) -> list[Any]:
    """Split an array along an axis.

    Args:
        ary: Array.
        indices_or_sections: Number of equal parts, or the indices at which to split.
        axis: Axis.

    Raises:
        ArgumentError: The number of parts does not divide the axis.
    """
    sections = _split_attrs("split", indices_or_sections)["sections"]
    value = as_value(ary, "split")
    if sections and hasattr(value, "shape"):
        extent = value.shape[axis_in(axis, value.ndim, "split")]
        if extent % sections:
            raise ArgumentError(
                f"split: expected equal parts, got {sections} of an axis of {extent}: "
                "array split does not result in an equal division"
            )
    return _split("split", "_npi_split", ary, indices_or_sections, axis)


def array_split(ary: Any, indices_or_sections: Cuts, axis: int = 0) -> list[Any]:
    """Split an array along an axis; the parts may differ in size by 1, larger ones first."""
    if isinstance(indices_or_sections, int | np.integer):
        sections = _split_attrs("array_split", indices_or_sections)["sections"]
        size, larger = divmod(_extent(ary, axis), sections)
        indices_or_sections = [i * size + min(i, larger) for i in range(1, sections)]
    return split(ary, indices_or_sections, axis)


def _extent(ary: Any, axis: int) -> int:
    value = as_value(ary, "array_split")
    extent: int = value.shape[axis_in(axis, value.ndim, "array_split")]
    return extent


def hsplit(ary: Any, indices_or_sections: Cuts) -> list[Any]:
    """Split along axis 1, a vector along axis 0; larger parts come first if they are not equal."""
    value = as_value(ary, "hsplit")
    _check_axes("hsplit", value, 1)
    return _split("hsplit", "_npi_split", value, indices_or_sections, 1 if value.ndim > 1 else 0)


def vsplit(ary: Any, indices_or_sections: Cuts) -> list[Any]:
    """Split an array of two or more axes along axis 0."""
    value = as_value(ary, "vsplit")
    _check_axes("vsplit", value, 2)
    return split(value, indices_or_sections, 0)


def dsplit(ary: Any, indices_or_sections: Cuts) -> list[Any]:
    """Split an array of three or more axes along axis 2."""
    value = as_value(ary, "dsplit")
    _check_axes("dsplit", value, 3)
    return split(value, indices_or_sections, 2)


def _check_axes(what: str, value: Any, count: int) -> None:
    if value.ndim < count:
        raise ArgumentError(f"{what}: expected at least {count} axes, got shape {value.shape}")


document_arguments(globals(), __all__)
