"""Rows of numbers from text files, as batches."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, Self

import numpy as np

from gluonish.core.context import cpu
from gluonish.core.errors import FileFormatError
from gluonish.core.spec import Spec
from gluonish.io.data_iter import DataBatch
from gluonish.io.native_iter import BatchSource
from gluonish.ndarray import NDArray, from_numpy
from gluonish.ndarray.ndarray import from_host
from gluonish.ndarray.sparse.storage import compressed

Array = np.ndarray[Any, Any]


class Rows(Protocol):
    """Consecutive samples of one array."""

    def __len__(self) -> int: ...

    def subset(self, begin: int, end: int) -> Self:
        """Return the rows in [begin, end)."""
        ...

    def concatenate(self, others: Sequence[Self]) -> Self:
        """Return these rows followed by others."""
        ...

    def to_batch(self, spec: Spec) -> NDArray:
        """Return the array of a batch; missing rows at its end are zeros."""
        ...


# Rows of the same samples in each array: data, or data and labels.
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

    def subset(self, begin: int, end: int) -> "DenseRows":
        """Return the rows in [begin, end)."""
        return DenseRows(self._values[begin:end])

    def concatenate(self, others: Sequence["DenseRows"]) -> "DenseRows":
        """Return these rows followed by others."""
        return DenseRows(np.concatenate([self._values, *(rows._values for rows in others)]))

    def take(self, rows: Array) -> "DenseRows":
        """Return the rows with these indices."""
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
        pointers: (rows + 1,) int64, ascending: start of each row's elements in ``values``, and end
            of the last row's.
    """

    def __init__(self, values: Array, columns: Array, pointers: Array) -> None:
        self._values = values
        self._columns = columns
        self._pointers = pointers

    def __len__(self) -> int:
        return len(self._pointers) - 1

    def subset(self, begin: int, end: int) -> "SparseRows":
        """Return the rows in [begin, end)."""
        return SparseRows(self._values, self._columns, self._pointers[begin : end + 1])

    def concatenate(self, others: Sequence["SparseRows"]) -> "SparseRows":
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
        """Return the rows with these indices."""
        counts = np.diff(self._pointers)[rows]
        pointers = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        # Index of each element of the new rows: start of its row + position in the row.
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


def concat_columns(blocks: Sequence[Columns]) -> Columns:
    """Concatenate consecutive blocks of a file, column by column."""
    first, *others = blocks
    return tuple(
        rows.concatenate([other[column] for other in others]) if others else rows
        for column, rows in enumerate(first)
    )


class RowStream:
    """The samples of a file in order, read in blocks of any size.

    Args:
        blocks: Returns an iterator over all samples, in non-empty blocks of any size.
    """

    def __init__(self, blocks: Callable[[], Iterator[Columns]]) -> None:
        self._open = blocks
        self._blocks = blocks()
        self._block: Columns | None = None
        self._position = 0

    def rewind(self) -> None:
        """Go back to the first sample."""
        self._blocks = self._open()
        self._block = None
        self._position = 0

    def read(self, count: int) -> Columns | None:
        """Return the next ``count`` samples; fewer at the end, and None after it."""
        parts: list[Columns] = []
        while count:
            if self._block is None:
                self._block = next(self._blocks, None)
                self._position = 0
                if self._block is None:
                    break
            length = len(self._block[0])
            end = min(length, self._position + count)
            parts.append(tuple(rows.subset(self._position, end) for rows in self._block))
            count -= end - self._position
            self._position = end
            if end == length:
                self._block = None
        return concat_columns(parts) if parts else None


class RowSource(BatchSource):
    """Makes batches from one file, or from two files that are read in parallel.

    Args:
        name: Class name of the iterator, for error messages.
        path: Path of the data, for error messages.
        data: Shape and dtype of a batch's data.
        label: Shape and dtype of a batch's labels.
        prefetch_buffer: Number of batches to load ahead.
        files: For each file, a function that returns its samples, block by block. Together they are
            data and labels, or only data; then the labels are zeros.
        round_batch: Whether an incomplete last batch is filled with samples from the start, and the
            next pass continues after them; otherwise it is filled with zeros.
    """

    def __init__(
        self,
        name: str,
        path: str,
        data: Spec,
        label: Spec,
        prefetch_buffer: int,
        files: Sequence[Callable[[], Iterator[Columns]]],
        round_batch: bool,
    ) -> None:
        super().__init__(name, data, label, prefetch_buffer)
        self._path = path
        self._files = files
        self._round_batch = round_batch
        # Number of samples of a pass, known after the first pass; before, `start` is 0.
        self._count = 0

    def batches(self, epoch: int, start: int) -> Iterator[DataBatch]:
        """Yield the batches of one pass.

        Args:
            epoch: Number of the pass; unused, the order is the order of the lines.
            start: Number of samples that the previous pass already returned.

        Raises:
            FileFormatError: A line cannot be parsed, there are no lines, or the two files differ in
                their number of lines.
        """
        streams = [RowStream(blocks) for blocks in self._files]
        position = start % self._count if start and self._round_batch else 0
        if position:
            self._read(streams, position)
        while (columns := self._read(streams, self.batch_size)) is not None:
            count = len(columns[0])
            index = np.zeros(self.batch_size, np.uint64)
            index[:count] = np.arange(position, position + count)
            position += count
            pad = self.batch_size - count
            if pad:
                self._count = position
                if self._round_batch:
                    columns = self._filled(streams, columns)
                    index[count:] = np.arange(pad) % position
            yield self._batch(columns, pad, index)
            if pad:
                return
        if not position:
            raise FileFormatError(
                f"{self.name}: expected at least one line of data in {self._path!r}, got none"
            )

    def _read(self, streams: Sequence[RowStream], count: int) -> Columns | None:
        """Return the next samples of all files, or None at their common end."""
        blocks = [stream.read(count) for stream in streams]
        lengths = [0 if columns is None else len(columns[0]) for columns in blocks]
        if len(set(lengths)) > 1:
            raise FileFormatError(
                f"{self.name}: expected as many lines of labels as of data, got "
                f"{'more' if lengths[1] > lengths[0] else 'fewer'}"
            )
        return tuple(rows for columns in blocks for rows in columns or ()) or None

    def _filled(self, streams: Sequence[RowStream], columns: Columns) -> Columns:
        """Fill a batch with samples from the start, repeatedly if needed."""
        parts = [columns]
        missing = self.batch_size - len(columns[0])
        while missing:
            for stream in streams:
                stream.rewind()
            more = self._read(streams, missing)
            assert more is not None, "expected samples after rewind"
            parts.append(more)
            missing -= len(more[0])
        return concat_columns(parts)

    def _batch(self, columns: Columns, pad: int, index: np.ndarray[Any, Any]) -> DataBatch:
        arrays: list[NDArray] = [
            rows.to_batch(spec)
            for rows, spec in zip(columns, (self.data, self.label), strict=False)
        ]
        if len(arrays) == 1:
            arrays.append(from_numpy(np.zeros(self.label.shape, self.label.dtype)))
        return DataBatch(arrays[:1], arrays[1:], pad=pad, index=index)
