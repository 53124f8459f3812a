"""ParquetDataset: a stream of the rows of Parquet files, on disks or on servers."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from random import Random
from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError, nearest
from gluonish.core.number_check import as_int
from gluonish.gluon.data.dataset import TableRows
from gluonish.gluon.data.shards.order import ShardStream, shuffled
from gluonish.gluon.data.shards.row_groups import (
    Footer,
    Piece,
    RowGroup,
    footer_of,
    opened,
    row_batches,
)
from gluonish.gluon.data.shards.shard_dataset import Shards
from gluonish.gluon.data.shards.shard_names import is_url, shard_names
from gluonish.gluon.download.http_stream import HttpRanges


class ParquetDataset(ShardStream):
    """A stream of the rows of Parquet files; samples are dicts of the values by column.

    Only the chosen columns are read, some rows at a time; of a file on a server only their bytes
    are requested, and a thread receives the next row group while the rows of one are used: at most
    one group, and none of more than 64 MiB. Needs pyarrow:
    ``pip install 'gluonish[parquet]'``.

    Values are NumPy's numbers, texts (str), bytes, arrays for lists, and dicts for structs. Missing
    numbers are NaN, by which whole numbers become floats; other missing values are None.

    The files tell the number of rows, so that each worker gets an equal share of them, and each
    process, too: rows of a row group at the border of shares are read by both. Where the rows
    cannot be divided equally, some processes repeat a row, as `SplitSampler` does.

    Args:
        files: Path or URL (HTTP, HTTPS) of a file, or a pattern, or a list of them, as for
            `ShardDataset`.
        columns: Names of the columns to read; None for all.
        batch_rows: Number of rows that are read at a time.
        shuffle: Whether each pass has the row groups in another order, and draws rows at random
            from a buffer.
        buffer_size: Number of rows in the buffer, in each worker.
        seed: Seed of the order, the same in all processes.
        num_parts: Number of processes that share the stream: a store's ``num_workers``.
        part_index: Number of this process, from 0: a store's ``rank``.
        samples_per_epoch: Number of rows of a pass in each process; None for its share, once.
        equal_parts: Whether processes give equally many rows; if not, some give one row less, and
            no row is repeated.
        epoch: Number of the first pass, from 0; a training that goes on after k passes has k.

    Raises:
        ArgumentError: A number is out of range, a file has not the columns, or without ``columns``
            others than the first file, there are no rows, or a pattern stands for no name or too
            many.
        ArgumentTypeError: An argument has another type.
        DownloadError: A server fails, or does not send parts of files.
        FileFormatError: A file is truncated or corrupt.
        MissingFileError: A path does not exist, or no path matches a pattern.
        NotSupportedError: pyarrow is not installed, or a file has a protocol other than HTTP.

    Iterating raises `FileFormatError` with the file and the row group, and `DownloadError`.

    Example::

        dataset = ParquetDataset("train-*.parquet", columns=("image", "label"), shuffle=True)
        loader = DataLoader(dataset, batch_size=128, num_workers=2)
    """

    _knows_length = True

    def __init__(
        self,
        files: Shards,
        columns: Sequence[str] | None = None,
        *,
        batch_rows: int = 1024,
        shuffle: bool = False,
        buffer_size: int = 1000,
        seed: int = 0,
        num_parts: int = 1,
        part_index: int = 0,
        samples_per_epoch: int | None = None,
        equal_parts: bool = True,
        epoch: int = 0,
    ) -> None:
        self.columns = _column_names(columns)
        self.batch_rows = as_int("ParquetDataset", "batch_rows", batch_rows, 1)
        self._footers: dict[str, Footer] = {}
        groups: list[RowGroup] = []
        names: list[str] | None = None  # of the columns of the first file
        for file in shard_names("ParquetDataset", files):
            found, new = _row_groups(file, self.columns, self._footers)
            if names is not None and self.columns is None and sorted(found) != sorted(names):
                raise ArgumentError(
                    f"ParquetDataset: expected the columns of the first file in {file}, too, "
                    f"{', '.join(names):.300}, got {', '.join(found):.300}; choose common ones by "
                    "columns="
                )
            names = found
            groups += new
        self.num_rows = sum(group.rows for group in groups)
        if not self.num_rows:
            raise ArgumentError("ParquetDataset: expected at least one row, got none")
        super().__init__(
            groups,
            shuffle=shuffle,
            buffer_size=buffer_size,
            seed=seed,
            num_parts=num_parts,
            part_index=part_index,
            samples_per_epoch=samples_per_epoch,
            equal_parts=equal_parts,
            epoch=epoch,
        )

    def __len__(self) -> int:
        """Return the number of rows of a pass in this process."""
        return self.samples_per_epoch or len(self._share())

    def _share(self) -> range:
        """Return the places of this process's rows in all of them; beyond the end they repeat."""
        if self.equal_parts:
            count = -(-self.num_rows // self.num_parts)
            return range(self.part_index * count, (self.part_index + 1) * count)
        return _division(range(self.num_rows), self.num_parts, self.part_index)

    def _round(
        self, epoch: int, number: int, worker: int, workers: int, whole: bool
    ) -> Iterator[Any]:
        key = f"{self.seed} {epoch} {number}"
        groups = list(self._shards)
        if self.shuffle:
            Random(key).shuffle(groups)
        places = _division(self._share(), workers, worker)
        if whole:
            places = range(self.num_rows)
        rows = self._read_pieces(self._pieces(groups, places))
        if not self.shuffle:
            return rows
        return shuffled(rows, self.buffer_size, Random(f"{key} {self.part_index} {worker}"))

    def _pieces(self, groups: list[RowGroup], places: range) -> Iterator[Piece]:
        """Yield the row groups that have rows at some places."""
        start = 0
        while start < places.stop:  # again from the first group beyond the last
            for group in groups:
                first = max(places.start - start, 0)
                end = min(places.stop - start, group.rows)
                if first < end:
                    yield Piece(group, first, end)
                start += group.rows

    def _read_pieces(self, pieces: Iterator[Piece]) -> Iterator[dict[str, Any]]:
        """Yield the rows of pieces."""
        found = row_batches(list(pieces), self.columns, self.batch_rows, self._footers)
        with closing(found) as batches:
            for batch in batches:
                rows = TableRows(batch)
                yield from (rows[i] for i in range(len(batch)))


def _column_names(columns: Sequence[str] | None) -> list[str] | None:
    """Return the names of columns as a list.

    Raises:
        ArgumentError: There are none.
        ArgumentTypeError: They are no list of names.
    """
    if columns is None:
        return None
    if (
        isinstance(columns, str)
        or not isinstance(columns, Iterable)
        or not all(isinstance(name, str) for name in columns)
    ):
        raise ArgumentTypeError(
            f"ParquetDataset: expected columns to be a list of names, got {columns!r:.100}"
        )
    if not columns:
        raise ArgumentError("ParquetDataset: expected at least one column, got none")
    return list(columns)


def _division(places: range, num_parts: int, index: int) -> range:
    """Return one of several contiguous parts; the first parts may be longer by 1."""
    count, longer = divmod(len(places), num_parts)
    start = places.start + index * count + min(index, longer)
    return range(start, start + count + (index < longer))


def _row_groups(
    file: str, columns: list[str] | None, footers: dict[str, Footer]
) -> tuple[list[str], list[RowGroup]]:
    """Return the names of the columns of a file, and its row groups; keep a server's footer.

    Raises:
        ArgumentError: The file has not the columns.
    """
    if is_url(file):
        with HttpRanges(file) as source:
            metadata = footer_of(source, file, footers).metadata
    else:
        with opened(file) as parquet:
            metadata = parquet.metadata
    names = metadata.schema.to_arrow_schema().names
    for name in columns or ():
        if name not in names:
            raise ArgumentError(
                f"ParquetDataset: expected a column {name!r} in {file}, got "
                f"{', '.join(names):.500}{nearest(name, names)}"
            )
    rows = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    return list(names), [RowGroup(file, number, count) for number, count in enumerate(rows)]
