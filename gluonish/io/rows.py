"""Rows of samples, dense or sparse, that can be cut and joined; and streams of them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, Self

import numpy as np

from gluonish.core.context import cpu
from gluonish.core.spec import Spec
from gluonish.ndarray import NDArray, from_numpy
from gluonish.ndarray.ndarray import from_host
from gluonish.ndarray.sparse.storage import compressed

__all__ = ["Columns", "DenseRows", "RowStream", "Rows", "SparseRows", "joined_columns"]

Array = np.ndarray[Any, Any]


class Rows(Protocol):
    """Consecutive samples of one array."""

    def __len__(self) -> int: ...

    def part(self, begin: int, end: int) -> Self:
        """Return the rows in [begin, end)."""
        ...

    def with_more(self, others: Sequence[Self]) -> Self:
        """Return these rows followed by others."""
        ...

    def to_batch(self, spec: Spec) -> NDArray:
        """Return the array of a batch; missing rows at its end are zeros."""
        ...


# The same samples of several arrays: data, or data and labels.
Columns = tuple[Rows, ...]


class DenseRows:
    """Rows of a dense array.

    Args:
        values: Array (rows, ...).
    """

    def __init__(self, values: Array) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def part(self, begin: int, end: int) -> "DenseRows":
        """Return the rows in [begin, end)."""
        return DenseRows(self._values[begin:end])

    def with_more(self, others: Sequence["DenseRows"]) -> "DenseRows":
        """Return these rows followed by others."""
        return DenseRows(np.concatenate([self._values, *(rows._values for rows in others)]))

    def take(self, rows: Array) -> "DenseRows":
        """Return the rows of the given indices."""
        return DenseRows(self._values[rows])

    def to_batch(self, spec: Spec) -> NDArray:
        """Return the array of a batch; missing rows at its end are zeros."""
        if len(self) == spec.shape[0] and self._values.dtype == spec.dtype:
            return from_numpy(np.array(self._values.reshape(spec.shape)))
        batch = np.zeros(spec.shape, spec.dtype)
        batch[: len(self)] = self._values.reshape(len(self), *spec.shape[1:])
        return from_numpy(batch)


class SparseRows:
    """Rows of a matrix in compressed sparse row (CSR) format.

    Args:
        values: The elements (n,); may include elements of rows before and after.
        columns: Column of each element (n,), from 0.
        pointers: (rows + 1,) int64, ascending: where in ``values`` the elements of each row begin,
            and where those of the last row end.
    """

    def __init__(self, values: Array, columns: Array, pointers: Array) -> None:
        self._values = values
        self._columns = columns
        self._pointers = pointers

    def __len__(self) -> int:
        return len(self._pointers) - 1

    def part(self, begin: int, end: int) -> "SparseRows":
        """Return the rows in [begin, end)."""
        return SparseRows(self._values, self._columns, self._pointers[begin : end + 1])

    def with_more(self, others: Sequence["SparseRows"]) -> "SparseRows":
        """Return these rows followed by others."""
        parts = [self, *others]
        pointers = [np.zeros(1, np.int64)]
        for rows in parts:
            pointers.append(rows._pointers[1:] + (pointers[-1][-1] - rows._pointers[0]))
        return SparseRows(
            np.concatenate([rows._values[rows._elements()] for rows in parts]),
            np.concatenate([rows._columns[rows._elements()] for rows in parts]),
            np.concatenate(pointers),
        )

    def take(self, rows: Array) -> "SparseRows":
        """Return the rows of the given indices."""
        counts = np.diff(self._pointers)[rows]
        pointers = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        # Where each element of the new rows stands: its row's begin, and its place in the row.
        within = np.arange(pointers[-1]) - np.repeat(pointers[:-1], counts)
        elements = np.repeat(self._pointers[:-1][rows], counts) + within
        return SparseRows(self._values[elements], self._columns[elements], pointers)

    def to_batch(self, spec: Spec) -> NDArray:
        """Return the matrix of a batch; missing rows at its end are empty."""
        elements = self._elements()
        pointers = np.full(spec.shape[0] + 1, elements.stop - elements.start)
        np.subtract(self._pointers, elements.start, out=pointers[: len(self._pointers)])
        values = from_host(self._values[elements], cpu(), spec.dtype)
        return compressed(values, self._columns[elements], pointers, spec.shape)

    def _elements(self) -> slice:
        return slice(int(self._pointers[0]), int(self._pointers[-1]))


def joined_columns(parts: Sequence[Columns]) -> Columns:
    """Return the rows of several parts, concatenated, for each column of the file.

    Args:
        parts: Parts of the file, in order.
    """
    first, *others = parts
    return tuple(
        rows.with_more([other[place] for other in others]) if others else rows
        for place, rows in enumerate(first)
    )


class RowStream:
    """The samples of a file in order, returned in portions of any size.

    Args:
        blocks: Returns an iterator over all samples, in non-empty blocks of any size.
    """

    def __init__(self, blocks: Callable[[], Iterator[Columns]]) -> None:
        self._open = blocks
        self._blocks = blocks()
        self._block: Columns | None = None
        self._place = 0

    def rewind(self) -> None:
        """Go back to the first sample."""
        self._blocks = self._open()
        self._block = None
        self._place = 0

    def take(self, count: int) -> Columns | None:
        """Return the next ``count`` samples; fewer at the end, and None after it.

        Args:
            count: Number of samples.
        """
        parts: list[Columns] = []
        while count:
            if self._block is None:
                self._block = next(self._blocks, None)
                self._place = 0
                if self._block is None:
                    break
            length = len(self._block[0])
            end = min(length, self._place + count)
            parts.append(tuple(rows.part(self._place, end) for rows in self._block))
            count -= end - self._place
            self._place = end
            if end == length:
                self._block = None
        return joined_columns(parts) if parts else None
