"""Several record files that are read as if each began where the one before it ends."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from gluonish.recordio.record_buffer import RecordBuffer
from gluonish.recordio.record_table import RecordFile

__all__ = ["RecordFiles"]


class RecordFiles:
    """Several record files, addressed as one; any number of threads may read at once.

    Args:
        paths: Paths of the files, at least one.

    Attributes:
        files: The open files.
        starts: Offset in the whole at which each file begins, in bytes.
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
        """Close the files. Closing twice does nothing."""
        for file in self.files:
            file.close()

    def at(self, offset: int) -> tuple[RecordFile, int]:
        """Return the file that contains an offset, and the offset at which that file begins.

        Args:
            offset: Offset in bytes, counted through all files.
        """
        number = self._number(offset)
        return self.files[number], self.starts[number]

    def _number(self, offset: int) -> int:
        return bisect_right(self.starts, offset) - 1

    def end_of(self, offset: int) -> int:
        """Return the offset at which a record ends; reads only the headers of its parts.

        Args:
            offset: Offset in bytes at which the record begins.

        Raises:
            FileFormatError: No record begins there, or it is cut off.
        """
        number = self._number(offset)
        start = self.starts[number]
        return start + self.files[number].extent(offset - start, self._sizes[number])[1]

    def read_into(self, buffer: RecordBuffer, offset: int) -> memoryview:
        """Return the record at an offset; see `RecordFile.read_into`.

        Args:
            buffer: Memory to read into.
            offset: Offset in bytes at which the record begins.
        """
        file, start = self.at(offset)
        return file.read_into(buffer, offset - start)

    def place(self, offset: int) -> str:
        """Return a description of an offset (byte and file), for error messages.

        Args:
            offset: Offset in bytes, counted through all files.
        """
        file, start = self.at(offset)
        return f"byte {offset - start} of {file.path}"

    def __str__(self) -> str:
        return ", ".join(file.path for file in self.files)
