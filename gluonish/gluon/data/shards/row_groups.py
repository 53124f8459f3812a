"""Reading of row groups of Parquet files, on disks or on servers.

A thread receives the bytes of the next row group of a file on a server, while the rows of one are
decoded and used. Invariants: the thread alone uses its connection and opens the file; it hands over
a row group when all of its bytes are there, or says that the group is too large for memory.
"""

import io
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from gluonish.core.errors import DownloadError, FileFormatError, NotSupportedError
from gluonish.core.files import open_to_read
from gluonish.core.loading import IMPORT_FAILURES
from gluonish.core.object_repr import default_repr, object_repr
from gluonish.gluon.data.shards.shard_names import is_url
from gluonish.gluon.download.http_fetch import RefusedError, Version
from gluonish.gluon.download.http_stream import HttpRanges, open_url_ranges
from gluonish.gluon.download.read_ahead import ReadAhead

# A larger row group is not received ahead, and its file is read as pyarrow likes.
_MOST_NBYTES = 64 << 20
# Footers of files on servers that are kept, so that passes need not request them again.
_FOOTERS_NBYTES = 1 << 20
# Bytes between two columns that are received rather than requested apart; as pyarrow has it.
_GAP_NBYTES = 8192
# Early writers told a column's length without its dictionary's header; pyarrow reads so many more.
_PADDING_NBYTES = 100


class RowGroup(NamedTuple):
    """A row group: path or URL of its file, its number in it, and its number of rows."""

    file: str
    number: int
    rows: int


class Piece(NamedTuple):
    """Rows of a row group: the first one, and the one after the last."""

    group: RowGroup
    first: int
    end: int


class Footer(NamedTuple):
    """Version of a file on a server, and its metadata."""

    version: Version | None
    metadata: Any


class _Received(NamedTuple):
    """Bytes of a row group by their offsets, and the metadata of its file."""

    parts: list[tuple[int, Any]] | None  # None: it was too large
    metadata: Any
    length: int


def row_batches(
    pieces: Sequence[Piece],
    columns: list[str] | None,
    batch_rows: int,
    footers: dict[str, Footer],
) -> Generator[Any, None, None]:
    """Yield the rows of pieces as record batches of pyarrow.

    Of the row groups on servers, the next one is received meanwhile: at most one, and none of more
    than 64 MiB in the chosen columns. A forked process goes on with a thread of its own.

    Args:
        pieces: The pieces, in order.
        columns: Names of the columns; None for all.
        batch_rows: Number of rows of a batch, at most.
        footers: Footers of files on servers by URL, to which others are added.

    Raises:
        DownloadError: A server fails; after the rows of the groups before.
        FileFormatError: A row group is damaged, or has other rows than expected.
    """
    ahead: ReadAhead[_Received | None] | None = None
    with ExitStack() as stack:
        opened = stack.enter_context(_LastFile())
        stack.callback(lambda: ahead.close() if ahead is not None else None)
        for index, piece in enumerate(pieces):
            received = None
            if is_url(piece.group.file):
                if ahead is None or not ahead.is_here:
                    ahead = ReadAhead(_GroupSource(pieces[index:], columns, footers), 1)
                received = ahead.read()
            if received is None or received.parts is None:
                parquet = opened.get(piece.group.file)
            else:
                parquet = _parquet_of(received, piece.group)
            yield from _batches_of(parquet, piece, columns, batch_rows)
            del parquet, received  # before the thread receives one more


def _batches_of(
    parquet: Any, piece: Piece, columns: list[str] | None, batch_rows: int
) -> Iterator[Any]:
    group, first, end = piece
    _check_number(group, parquet.metadata)
    batches = parquet.iter_batches(
        batch_size=batch_rows, row_groups=[group.number], columns=columns
    )
    start = 0
    while start < end:
        with _format_errors(group.file, f"row group {group.number}"):
            batch = next(batches, None)
        if batch is None:
            raise FileFormatError(
                f"{group.file}: expected {group.rows} rows in row group {group.number}, got {start}"
            )
        low, high = max(first - start, 0), min(end - start, len(batch))
        start += len(batch)
        if low < high:
            yield batch.slice(low, high - low)


def _check_number(group: RowGroup, metadata: Any) -> None:
    """Refuse a file that has not so many row groups any more."""
    if group.number >= metadata.num_row_groups:
        raise FileFormatError(
            f"{group.file}: expected row group {group.number}, got {metadata.num_row_groups} of "
            "them"
        )


class _GroupSource:
    """Receives the row groups of pieces that are on servers, in order; a source of `ReadAhead`.

    Args:
        pieces: The pieces; those on disks are left out.
        columns: Names of the columns; None for all.
        footers: Footers by URL.
    """

    __repr__ = default_repr

    def __init__(
        self, pieces: Sequence[Piece], columns: list[str] | None, footers: dict[str, Footer]
    ) -> None:
        self._footers = footers
        self._groups = (piece.group for piece in pieces if is_url(piece.group.file))
        self._columns = columns
        self._url = ""
        self._file: HttpRanges | None = None
        self._metadata: Any = None
        self._stopped = False

    def receive(self) -> _Received | None:
        """Return the next row group, None at the end."""
        group = next(self._groups, None)
        if group is None:
            return None
        known = self._footers.get(group.file) if group.file != self._url else None
        try:
            return self._received(group, known)
        except DownloadError as error:
            if known is None or self._stopped or not isinstance(error.__cause__, RefusedError):
                raise
        self.close()  # the file may have changed since an earlier pass
        self._url = ""
        self._footers.pop(group.file, None)
        return self._received(group, None)

    def _received(self, group: RowGroup, known: Footer | None) -> _Received:
        file = self._open(group.file, known)
        _check_number(group, self._metadata)
        ranges = _ranges(self._metadata.row_group(group.number), self._columns, file.length or 0)
        if sum(end - start for start, end in ranges) > _MOST_NBYTES:
            return _Received(None, None, 0)
        parts = [(start, _filled(file, start, end)) for start, end in ranges]
        return _Received(parts, self._metadata, file.length or 0)

    def stop(self) -> None:
        """Make `receive`, in another thread, end soon with an error."""
        self._stopped = True
        if self._file is not None:
            self._file.stop()

    def close(self) -> None:
        """Close the connection."""
        if self._file is not None:
            self._file.close()

    def _open(self, url: str, known: Footer | None) -> HttpRanges:
        if self._file is None or url != self._url:
            self.close()
            self._file = HttpRanges(url, version=None if known is None else known.version)
            self._url = url
            if self._stopped:  # before `stop` could see the file
                self._file.stop()
            self._metadata = (known or footer_of(self._file, url, self._footers)).metadata
        return self._file


def footer_of(file: HttpRanges, url: str, footers: dict[str, Footer]) -> Footer:
    """Connect to a file, and read its footer, which is kept if there is room.

    Args:
        file: The file.
        url: Its URL.
        footers: Where it is kept.
    """
    file.connect()
    with _format_errors(url, "the end of the file"):
        footer = Footer(file.version, _parquet().ParquetFile(file).metadata)
    # Only where an entity tag or a date tells that the file is the same.
    if footer.version is not None and footer.version.validator:
        kept = sum(each.metadata.serialized_size for each in footers.values())
        if kept + footer.metadata.serialized_size <= _FOOTERS_NBYTES:
            footers[url] = footer
    return footer


def _ranges(group: Any, columns: list[str] | None, length: int) -> list[tuple[int, int]]:
    """Return the first byte of each range of a row group's columns, and the one after the last.

    Args:
        group: Metadata of the row group.
        columns: Names of the columns; None for all.
        length: Length of the file.
    """
    found: list[tuple[int, int]] = []
    for i in range(group.num_columns):
        column = group.column(i)
        path = column.path_in_schema
        if columns is not None and not any(
            path == name or path.startswith(f"{name}.") for name in columns
        ):
            continue
        start = column.data_page_offset
        if column.has_dictionary_page and 0 < column.dictionary_page_offset < start:
            start = column.dictionary_page_offset
        end = start + column.total_compressed_size + _PADDING_NBYTES
        if 0 <= start < end:  # pyarrow says what is wrong with others
            found.append((start, min(end, length)))
    joined: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if joined and start <= joined[-1][1] + _GAP_NBYTES:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return joined


def _filled(file: HttpRanges, start: int, end: int) -> Any:
    """Return a buffer of pyarrow with a range of a file."""
    import pyarrow  # type: ignore[import-untyped,unused-ignore]  # no stubs

    content = pyarrow.allocate_buffer(max(end - start, 0))
    file.seek(start)
    file.readinto(content)
    return content


class _ReceivedFile(io.RawIOBase):
    """A file of which some parts are in memory.

    Args:
        received: The parts.
    """

    def __init__(self, received: _Received) -> None:
        self._received = received
        self._position = 0

    def __repr__(self) -> str:
        return object_repr(self, f"{len(self._received.parts or ())} parts")

    def readable(self) -> bool:
        """Whether the file can be read."""
        return True

    def seekable(self) -> bool:
        """Whether the position can be set."""
        return True

    def tell(self) -> int:
        """Return the position, in bytes."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Set the position, as in files; return it."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position}.get(whence, self._received.length)
        self._position = max(0, base + offset)
        return self._position

    def read(self, size: int | None = -1, /) -> Any:
        """Return the bytes at the position without a copy; none where no part is."""
        for start, content in self._received.parts or ():
            offset = self._position - start
            if 0 <= offset < content.size:
                left = content.size - offset
                found = content.slice(offset, left if size is None or size < 0 else min(size, left))
                self._position += found.size
                return found
        return b""


def _parquet_of(received: _Received, group: RowGroup) -> Any:
    """Return the file of a row group that was received."""
    with _format_errors(group.file, f"row group {group.number}"):
        return _parquet().ParquetFile(
            _ReceivedFile(received), metadata=received.metadata, pre_buffer=False
        )


class _LastFile:
    """Context manager that keeps one file open, for pieces that follow one another."""

    __repr__ = default_repr

    def __init__(self) -> None:
        self._file = ""
        self._parquet: Any = None
        self._stack = ExitStack()

    def get(self, file: str) -> Any:
        """Return a Parquet file."""
        if self._parquet is None or file != self._file:
            self._stack.close()
            self._parquet = self._stack.enter_context(opened(file))
            self._file = file
        return self._parquet

    def __enter__(self) -> "_LastFile":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()


def _parquet() -> Any:
    """Return pyarrow's module.

    Raises:
        NotSupportedError: pyarrow is not installed.
    """
    try:
        import pyarrow.parquet  # type: ignore[import-untyped,unused-ignore]  # no stubs
    except IMPORT_FAILURES as error:
        raise NotSupportedError(
            f"ParquetDataset: expected the package pyarrow, got none ({error}); pip install "
            "'gluonish[parquet]'"
        ) from error
    return pyarrow.parquet


@contextmanager
def opened(file: str) -> Iterator[Any]:
    """Context manager that opens a Parquet file on a disk or a server.

    Raises:
        FileFormatError: It is not such a file.
        NotSupportedError: pyarrow is not installed.
    """
    module = _parquet()
    with open_url_ranges(file) if is_url(file) else open_to_read(file, "ParquetDataset") as source:
        with _format_errors(file, "the end of the file"):
            parquet = module.ParquetFile(source)
        with parquet:
            yield parquet


@contextmanager
def _format_errors(file: str, place: str) -> Iterator[None]:
    """Convert pyarrow's errors of damaged files."""
    import pyarrow

    try:
        yield
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # the disk's
            raise
        reason = " ".join(str(error).split())
        raise FileFormatError(
            f"{file}: expected a Parquet file, got {reason:.300} in {place}"
        ) from error
