"""The records of a pass: their files, offsets and order."""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

import numpy as np

from gluonish.core.errors import ArgumentError, FileFormatError
from gluonish.core.files import open_to_read
from gluonish.recordio.framing import FIRST, HEAD_NBYTES, MAGIC_BYTES, WHOLE
from gluonish.recordio.index_file import read_index
from gluonish.recordio.record_file import RecordBuffer
from gluonish.recordio.record_table import RecordFile


class RecordFiles:
    """Several record files with a common address space; thread-safe.

    Args:
        paths: Paths of the files, at least one.

    Attributes:
        files: The open files.
        starts: Offset of each file in the address space, in bytes.
        nbytes: Total size in bytes.

    Raises:
        MissingFileError: A file does not exist.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self.files: list[RecordFile] = []
        try:
            for path in paths:
                self.files.append(RecordFile(path))
        except BaseException:
            self.close()
            raise
        self._sizes = [file.nbytes for file in self.files]
        *self.starts, self.nbytes = accumulate(self._sizes, initial=0)

    def close(self) -> None:
        """Close the files; may be called twice."""
        for file in self.files:
            file.close()

    def at(self, offset: int) -> tuple[RecordFile, int]:
        """Return the file that contains a byte offset, and the file's start."""
        number = self._number(offset)
        return self.files[number], self.starts[number]

    def _number(self, offset: int) -> int:
        return bisect_right(self.starts, offset) - 1

    def end_of(self, offset: int) -> int:
        """Return the end of the record at an offset; reads only headers.

        Raises:
            FileFormatError: No record begins there, or the record is truncated.
        """
        number = self._number(offset)
        start = self.starts[number]
        return start + self.files[number].extent(offset - start, self._sizes[number])[1]

    def read_into(self, buffer: RecordBuffer, offset: int) -> memoryview:
        """Read the record at an offset; see `RecordFile.read_into`."""
        file, start = self.at(offset)
        return file.read_into(buffer, offset - start)

    def describe_offset(self, offset: int) -> str:
        """Describe an offset (byte and file) for error messages."""
        file, start = self.at(offset)
        return f"byte {offset - start} of {file.path}"

    def __str__(self) -> str:
        return ", ".join(file.path for file in self.files)


_KIND_SHIFT = 29  # of the word after the magic number; the lower bits are the length
_CHUNK_NBYTES = 1 << 20  # a multiple of 4


class RecordOffsets:
    """Offsets of the records of one part of the data, in file order.

    Without an index, offsets are found by scanning the headers lazily, so that an epoch in file
    order starts at once. Not thread-safe.

    Args:
        files: The record files.
        offsets: Known offsets of records.
        begin: Byte at which to start scanning for more records.
        end: Byte at which to stop scanning; ``begin`` for no more records.
    """

    def __init__(self, files: RecordFiles, offsets: Iterable[int], begin: int, end: int) -> None:
        self.files = files
        self._offsets = array("q", offsets)
        self._position = begin
        self._end = end

    def has(self, number: int) -> bool:
        """Whether there is a record with this index, from 0.

        Raises:
            FileFormatError: A file is damaged before the record.
        """
        while len(self._offsets) <= number:
            if self._position >= self._end:
                return False
            following = self.files.end_of(self._position)
            self._offsets.append(self._position)
            self._position = following
        return True

    def offset(self, number: int) -> int:
        """Return the offset of a record for which `has` returned True."""
        return self._offsets[number]

    def all(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Return the offsets of all records.

        Raises:
            FileFormatError: A file is damaged.
        """
        while self.has(len(self._offsets)):
            pass
        return np.array(self._offsets, np.int64)


def scan_offsets(files: RecordFiles, num_parts: int, part_index: int) -> RecordOffsets:
    """Return the records of one part of the data; parts have equal numbers of bytes.

    Args:
        files: The record files.
        num_parts: Number of parts.
        part_index: Index of the part, from 0.
    """
    nbytes = files.nbytes
    step = -(-nbytes // num_parts)
    step += -step % 4
    begin, end = (min(nbytes, step * (part_index + i)) for i in (0, 1))
    return RecordOffsets(files, (), _first_record(files, begin), end)


def _first_record(files: RecordFiles, begin: int) -> int:
    """Return the offset of the first record at or after a byte."""
    file, start = files.at(begin)
    return start + _first_record_of(file, begin - start)


def _first_record_of(file: RecordFile, begin: int) -> int:
    """Return the offset of the first record of a file at or after a byte, or the file's size."""
    if not begin:
        return 0
    begin += -begin % 4
    with open_to_read(file.path, "RecordOffsets") as stored:
        # Headers are aligned to 4 bytes; the extra bytes complete a header at the end of a chunk.
        while True:
            stored.seek(begin)
            chunk = stored.read(_CHUNK_NBYTES + HEAD_NBYTES)
            found = chunk.find(MAGIC_BYTES)
            while 0 <= found < _CHUNK_NBYTES:
                word = int.from_bytes(
                    chunk[found + len(MAGIC_BYTES) : found + HEAD_NBYTES], "little"
                )
                if not found % 4 and word >> _KIND_SHIFT in (WHOLE, FIRST):
                    return begin + found
                found = chunk.find(MAGIC_BYTES, found + 1)
            if len(chunk) <= _CHUNK_NBYTES:
                return file.nbytes
            begin += _CHUNK_NBYTES


def indexed_offsets(
    files: RecordFiles, indices: Sequence[str], name: str, num_parts: int, part_index: int
) -> RecordOffsets:
    """Return the records of one part of the data; parts have equal numbers of index entries.

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
    return RecordOffsets(files, offsets[step * part_index : step * (part_index + 1)], 0, 0)


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


# Epoch and record number of a sample, which seed its random numbers.
Sample = tuple[int, int]

_MASK = (1 << 64) - 1


class PassOrder:
    """The order in which each epoch visits the records.

    A shuffled epoch is a random permutation of all records; or, with chunks, a random permutation
    of chunks of the file, with the records of each chunk permuted, so that the disk is read in
    large blocks.

    Args:
        offsets: Offsets of the records.
        shuffle: Whether the order is random.
        seed: Seed of the permutations, together with the number of the epoch.
        chunk_nbytes: Size of a chunk in bytes; 0 for no chunks.
        chunk_seed: Seed of the order of the chunks.
    """

    def __init__(
        self, offsets: RecordOffsets, shuffle: bool, seed: int, chunk_nbytes: int, chunk_seed: int
    ) -> None:
        self._offsets = offsets
        self._shuffle = shuffle
        self._seed = seed & _MASK
        self._chunk_nbytes = chunk_nbytes
        self._chunk_seed = chunk_seed & _MASK

    def samples(self, epoch: int, start: int) -> Iterator[Sample]:
        """Yield the samples of an epoch.

        Args:
            epoch: Number of the epoch, from 0.
            start: Number of samples at the start that the previous epoch's last batch already used;
                if that batch wrapped around more than once, in its last round.

        Raises:
            FileFormatError: A file is damaged.
        """
        if self._shuffle:
            order = self._permutation(epoch)
            for number in order[start % max(1, len(order)) :].tolist():
                yield epoch, number
            return
        if start and not self._offsets.has(start):
            start %= max(1, len(self._offsets.all()))
        while self._offsets.has(start):
            yield epoch, start
            start += 1

    def filling(self, epoch: int) -> Iterator[Sample]:
        """Yield the first samples of the next epoch, repeatedly; nothing if there are no records.

        Args:
            epoch: Number of the epoch whose last batch is filled.
        """
        while self._offsets.has(0):
            yield from self.samples(epoch + 1, 0)

    def _permutation(self, epoch: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        offsets = self._offsets.all()
        generator = np.random.default_rng((self._seed, epoch))
        if not self._chunk_nbytes or not len(offsets):
            return generator.permutation(len(offsets))
        chunk = (offsets - offsets[0]) // self._chunk_nbytes
        runs = np.split(np.arange(len(offsets)), np.flatnonzero(np.diff(chunk)) + 1)
        of_runs = np.random.default_rng((self._chunk_seed, epoch)).permutation(len(runs))
        return np.concatenate([generator.permutation(runs[i]) for i in of_runs])
