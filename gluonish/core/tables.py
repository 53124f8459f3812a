"""Tables and columns of polars, pandas and pyarrow as NumPy arrays.

None of the packages is imported: a value is recognized by its class. Missing values (nulls) of
floats are NaN, and of integers, too, where the array is of floats; other arrays refuse them.
"""

from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentTypeError

__all__ = ["column_values", "columns_of", "is_column", "is_table", "numbers_of", "table_values"]

_PACKAGES = ("pandas", "polars", "pyarrow")
_COMMON = (np.ndarray, list, tuple, float, int)  # what arrays are usually made of
_TABLES = ("DataFrame", "RecordBatch", "Table")


def _package_of(value: object) -> str:
    return type(value).__module__.partition(".")[0]


def is_table(value: object) -> bool:
    """Whether a value is a DataFrame of polars or pandas, or a Table or RecordBatch of pyarrow."""
    return type(value).__name__ in _TABLES and _package_of(value) in _PACKAGES


def is_column(value: object) -> bool:
    """Whether a value is a Series of polars or pandas, or an Array or ChunkedArray of pyarrow."""
    name, package = type(value).__name__, _package_of(value)
    if package == "pyarrow":
        return name.endswith("Array")
    return name == "Series" and package in _PACKAGES


def columns_of(table: Any) -> dict[str, Any]:
    """Return the columns of a table by name."""
    package = _package_of(table)
    if package == "pandas":
        return {str(name): table[name] for name in table.columns}
    names = table.columns if package == "polars" else table.column_names
    return {name: table[name] for name in names}


def column_values(column: Any) -> np.ndarray[Any, Any]:
    """Return the values of a column, without a copy where its package allows it; texts are str."""
    values = np.asarray(column)
    return values.astype(object) if values.dtype.kind == "U" else values


def _null_count(column: Any) -> int:
    package = _package_of(column)
    if package == "pandas":
        return int(column.isna().sum())
    return int(column.null_count() if package == "polars" else column.null_count)


def _described(column: Any, name: str | None) -> str:
    name = name or getattr(column, "name", None)
    dtype = getattr(column, "dtype", getattr(column, "type", ""))
    return f"column {name!r} of {dtype}" if name else f"a column of {dtype}"


def _checked(what: str, column: Any, name: str | None, dtype: Any) -> np.ndarray[Any, Any]:
    values = column_values(column)
    nulls = _null_count(column)
    if nulls and (
        values.dtype.kind == "O" or (dtype is not None and np.dtype(dtype).kind in "biu")
    ):
        raise ArgumentTypeError(
            f"{what}: expected a column without missing values, got {_described(column, name)} "
            f"with {nulls}; fill them, or convert it to floats for NaN"
        )
    if values.dtype.kind not in "biuf":
        raise ArgumentTypeError(
            f"{what}: expected numbers, got {_described(column, name)}; leave it out, or encode it"
        )
    return values


def kind_of(values: np.ndarray[Any, Any]) -> str:
    """Return what an array of no numbers holds, for messages: ``str``, ``object``, or its dtype."""
    return {"U": "str", "S": "bytes", "O": "object"}.get(values.dtype.kind, str(values.dtype))


def table_values(what: str, table: Any, dtype: Any = None) -> np.ndarray[Any, Any]:
    """Return a table of numbers as a matrix (rows, columns) in the common type of its columns.

    Args:
        what: Name of the function, for errors.
        table: The table.
        dtype: Element type that the values are for; None for any.

    Raises:
        ArgumentTypeError: A column has no numbers, or missing values that ``dtype`` cannot hold.
    """
    columns = [_checked(what, column, name, dtype) for name, column in columns_of(table).items()]
    return np.stack(columns, axis=1) if columns else np.zeros((len(table), 0))


def numbers_of(what: str, source: Any, dtype: Any = None) -> Any:
    """Return a table or column of numbers as a NumPy array; any other value unchanged.

    Args:
        what: Name of the function, for errors.
        source: The value.
        dtype: Element type that the values are for; None for any.

    Raises:
        ArgumentTypeError: A column has no numbers, or missing values that ``dtype`` cannot hold.
    """
    if isinstance(source, _COMMON):
        return source
    if is_column(source):
        return _checked(what, source, None, dtype)
    return table_values(what, source, dtype) if is_table(source) else source
