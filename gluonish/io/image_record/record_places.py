"""Where the records of one part of some files begin, as far as anyone asked."""

from array import array
from collections.abc import Iterable, Sequence

import numpy as np

from gluonish.core.errors import ArgumentError, FileFormatError
from gluonish.core.files import open_to_read
from gluonish.io.image_record.record_files import RecordFiles
from gluonish.recordio.framing import FIRST, HEAD_NBYTES, MARK_BYTES, WHOLE
from gluonish.recordio.index_file import read_index
from gluonish.recordio.record_table import RecordFile

__all__ = ["RecordPlaces", "indexed_places", "scanned_places"]

_KIND_SHIFT = 29  # of the word behind a mark: the bits below are a length
_CHUNK_NBYTES = 1 << 20  # a multiple of 4


class RecordPlaces:
    """Offsets of the records of one part of the data, in file order.

    Without an index they are found by following the headers, only as far as needed: an epoch in
    file order starts at once, however large the files are. Only one thread may use it at a time.

    Args:
        files: The record files.
        offsets: Offsets of records that are known already.
        begin: Byte at which to start looking for more records.
        end: Byte before which the last of them begins; ``begin`` for no more.
    """

    def __init__(self, files: RecordFiles, offsets: Iterable[int], begin: int, end: int) -> None:
        self.files = files
        self._offsets = array("q", offsets)
        self._position = begin
        self._end = end

    def has(self, number: int) -> bool:
        """Whether there is a record with this index.

        Args:
            number: Index of the record, from 0.

        Raises:
            FileFormatError: A file is damaged before it.
        """
        while len(self._offsets) <= number:
            if self._position >= self._end:
                return False
            following = self.files.end_of(self._position)
            self._offsets.append(self._position)
            self._position = following
        return True

    def offset(self, number: int) -> int:
        """Return the offset of a record for which `has` returned True.

        Args:
            number: Index of the record, from 0.
        """
        return self._offsets[number]

    def all(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Return the offsets of all records.

        Raises:
            FileFormatError: A file is damaged.
        """
        while self.has(len(self._offsets)):
            pass
        return np.array(self._offsets, np.int64)


def scanned_places(files: RecordFiles, num_parts: int, part_index: int) -> RecordPlaces:
    """Return the records of one part of the data, where parts have equal numbers of bytes.

    Args:
        files: The record files.
        num_parts: Number of parts.
        part_index: Index of the part, from 0.
    """
    nbytes = files.nbytes
    step = -(-nbytes // num_parts)
    step += -step % 4
    begin, end = (min(nbytes, step * (part_index + i)) for i in (0, 1))
    return RecordPlaces(files, (), _first_record(files, begin), end)


def _first_record(files: RecordFiles, begin: int) -> int:
    """Return where the first record at or behind a byte begins, which is no later part of one."""
    file, start = files.at(begin)
    return start + _first_record_of(file, begin - start)


def _first_record_of(file: RecordFile, begin: int) -> int:
    """Return the same of one file; its end, where the next one begins, if there is none."""
    if not begin:
        return 0
    begin += -begin % 4
    with open_to_read(file.path, "RecordPlaces") as stored:
        # Heads lie at multiples of 4, so that only a head can be cut by the end of a chunk.
        while True:
            stored.seek(begin)
            chunk = stored.read(_CHUNK_NBYTES + HEAD_NBYTES)
            found = chunk.find(MARK_BYTES)
            while 0 <= found < _CHUNK_NBYTES:
                word = int.from_bytes(
                    chunk[found + len(MARK_BYTES) : found + HEAD_NBYTES], "little"
                )
                if not found % 4 and word >> _KIND_SHIFT in (WHOLE, FIRST):
                    return begin + found
                found = chunk.find(MARK_BYTES, found + 1)
            if len(chunk) <= _CHUNK_NBYTES:
                return file.nbytes
            begin += _CHUNK_NBYTES


def indexed_places(
    files: RecordFiles, indices: Sequence[str], name: str, num_parts: int, part_index: int
) -> RecordPlaces:
    """Return the records of one part of the data, where parts have equal numbers of index entries.

    Args:
        files: The record files.
        indices: Path of the index of each file.
        name: Class name of the reader, for error messages.
        num_parts: Number of parts.
        part_index: Index of the part, from 0.

    Raises:
        MissingFileError: An index does not exist.
        ArgumentError: There are more or fewer indices than files.
        FileFormatError: A line of an index cannot be parsed, or an offset is beyond the file's end.
    """
    if len(indices) != len(files.files):
        raise ArgumentError(
            f"{name}: expected path_imgidx to name an index of each of {len(files.files)} record "
            f"files, got {len(indices)}"
        )
    offsets = [
        start + offset
        for file, start, index in zip(files.files, files.starts, indices, strict=True)
        for offset in _offsets_in(index, file, name)
    ]
    step = -(-len(offsets) // num_parts)
    return RecordPlaces(files, offsets[step * part_index : step * (part_index + 1)], 0, 0)


def _offsets_in(index: str, file: RecordFile, name: str) -> list[int]:
    offsets = [offset for _, offset in read_index(index, name, key_type=str)]
    nbytes = file.nbytes
    beyond = next((offset for offset in offsets if offset >= nbytes), None)
    if beyond is not None:
        raise FileFormatError(
            f"{name}: expected offsets within the {nbytes} bytes of {file.path}, got {beyond} in "
            f"{index}, which is the index of another file"
        )
    return offsets
