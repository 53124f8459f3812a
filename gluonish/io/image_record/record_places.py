"""Where the records of one part of a file begin, as far as anyone asked."""

import os
from array import array
from collections.abc import Iterable

import numpy as np

from gluonish.core.errors import FileFormatError
from gluonish.core.files import open_to_read
from gluonish.recordio.framing import FIRST, HEAD_NBYTES, MARK_BYTES, WHOLE
from gluonish.recordio.index_file import read_index
from gluonish.recordio.record_table import RecordFile

__all__ = ["RecordPlaces", "indexed_places", "scanned_places"]

_KIND_SHIFT = 29  # of the word behind a mark: the bits below are a length
_CHUNK_NBYTES = 1 << 20  # a multiple of 4


class RecordPlaces:
    """The bytes at which the records of one part of a file begin, in order.

    Without an index they are found by going from head to head, no further than was asked: a pass in
    the file's order begins at once, however large the file is. One thread at a time may ask.

    Args:
        file: The records.
        offsets: Where records begin that are known already.
        begin: The byte from which on to look for more.
        end: The byte before which the last of them begins; ``begin`` for no more.
    """

    def __init__(self, file: RecordFile, offsets: Iterable[int], begin: int, end: int) -> None:
        self.file = file
        self._offsets = array("q", offsets)
        self._position = begin
        self._end = end
        self._nbytes = file.nbytes

    def has(self, number: int) -> bool:
        """Whether there is a record of this number, from 0.

        Raises:
            FileFormatError: The file is damaged before it.
        """
        while len(self._offsets) <= number:
            if self._position >= self._end:
                return False
            _, following = self.file.extent(self._position, self._nbytes)
            self._offsets.append(self._position)
            self._position = following
        return True

    def offset(self, number: int) -> int:
        """Return where a record begins of which `has` said that it is there."""
        return self._offsets[number]

    def all(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Return where every record begins.

        Raises:
            FileFormatError: The file is damaged.
        """
        while self.has(len(self._offsets)):
            pass
        return np.array(self._offsets, np.int64)


def scanned_places(file: RecordFile, num_parts: int, part_index: int) -> RecordPlaces:
    """Return the records that begin in one of equal parts of a file's bytes.

    Args:
        file: The records.
        num_parts: How many parts.
        part_index: Which one, from 0.
    """
    nbytes = file.nbytes
    step = -(-nbytes // num_parts)
    step += -step % 4
    begin, end = (min(nbytes, step * (part_index + i)) for i in (0, 1))
    return RecordPlaces(file, (), _first_record(file, begin), end)


def _first_record(file: RecordFile, begin: int) -> int:
    """Return where the first record at or behind a byte begins, which is no later part of one."""
    if not begin:
        return 0
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
    file: RecordFile, index: str | os.PathLike[str], name: str, num_parts: int, part_index: int
) -> RecordPlaces:
    """Return the records of one of equal parts of an index.

    Args:
        file: The records.
        index: Path of the index.
        name: What wants to read it, for messages.
        num_parts: How many parts.
        part_index: Which one, from 0.

    Raises:
        MissingFileError: There is no index.
        FileFormatError: It holds a line that is none, or an offset behind the end of the file.
    """
    offsets = [offset for _, offset in read_index(index, name, key_type=str)]
    nbytes = file.nbytes
    beyond = next((offset for offset in offsets if offset >= nbytes), None)
    if beyond is not None:
        raise FileFormatError(
            f"{name}: expected offsets within the {nbytes} bytes of {file.path}, got {beyond} in "
            f"{os.fspath(index)}, which is the index of another file"
        )
    step = -(-len(offsets) // num_parts)
    return RecordPlaces(file, offsets[step * part_index : step * (part_index + 1)], 0, 0)
