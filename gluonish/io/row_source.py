"""RowSource: batches of files that hold a sample a line, in the order of the lines."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import FileFormatError
from gluonish.core.spec import Spec
from gluonish.io.data_iter import DataBatch
from gluonish.io.native_iter import BatchSource
from gluonish.io.rows import Columns, RowStream, joined_columns
from gluonish.ndarray import NDArray, from_numpy

__all__ = ["RowSource"]


class RowSource(BatchSource):
    """Makes batches from one file, or from two files that are read in parallel.

    Args:
        name: Class name of the iterator, for error messages.
        path: Path of the data, for error messages.
        data: Shape and dtype of a batch's data.
        label: Shape and dtype of a batch's labels.
        prefetch_buffer: Number of batches to load ahead.
        files: For each file, a function that returns its samples, block by block. Together they
            give data and labels, or only data, and then the labels are zeros.
        round_batch: Whether an incomplete last batch is filled with samples from the start, and the
            next pass continues after them; if not, it is filled with zeros.
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
        # Samples of a pass, once one was read to its end; only then can `start` be other than 0.
        self._count = 0

    def batches(self, epoch: int, start: int) -> Iterator[DataBatch]:
        """Yield the batches of one pass.

        Args:
            epoch: Number of the pass; unused, the order is always that of the lines.
            start: Number of samples that the previous pass already returned.

        Raises:
            FileFormatError: A line cannot be parsed, there are no lines, or the two files differ in
                their number of lines.
        """
        streams = [RowStream(blocks) for blocks in self._files]
        place = start % self._count if start and self._round_batch else 0
        if place:
            self._take(streams, place)
        while (columns := self._take(streams, self.batch_size)) is not None:
            count = len(columns[0])
            index = np.zeros(self.batch_size, np.uint64)
            index[:count] = np.arange(place, place + count)
            place += count
            pad = self.batch_size - count
            if pad:
                self._count = place
                if self._round_batch:
                    columns = self._filled(streams, columns)
                    index[count:] = np.arange(pad) % place
            yield self._batch(columns, pad, index)
            if pad:
                return
        if not place:
            raise FileFormatError(
                f"{self.name}: expected at least one line of data in {self._path!r}, got none"
            )

    def _take(self, streams: Sequence[RowStream], count: int) -> Columns | None:
        """Return the next samples of all files, or None at their common end."""
        taken = [stream.take(count) for stream in streams]
        lengths = [0 if columns is None else len(columns[0]) for columns in taken]
        if len(set(lengths)) > 1:
            raise FileFormatError(
                f"{self.name}: expected as many lines of labels as of data, got "
                f"{'more' if lengths[1] > lengths[0] else 'fewer'}"
            )
        return tuple(rows for columns in taken for rows in columns or ()) or None

    def _filled(self, streams: Sequence[RowStream], columns: Columns) -> Columns:
        """Return a batch whose missing samples come from the start, round and round."""
        parts = [columns]
        missing = self.batch_size - len(columns[0])
        while missing:
            for stream in streams:
                stream.rewind()
            more = self._take(streams, missing)
            assert more is not None, "a file that gave samples gave none"
            parts.append(more)
            missing -= len(more[0])
        return joined_columns(parts)

    def _batch(self, columns: Columns, pad: int, index: np.ndarray[Any, Any]) -> DataBatch:
        arrays: list[NDArray] = [
            rows.to_batch(spec)
            for rows, spec in zip(columns, (self.data, self.label), strict=False)
        ]
        if len(arrays) == 1:
            arrays.append(from_numpy(np.zeros(self.label.shape, self.label.dtype)))
        return DataBatch(arrays[:1], arrays[1:], pad=pad, index=index)
