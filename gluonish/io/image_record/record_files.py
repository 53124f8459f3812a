"""Several record files that are read as if each began where the one before it ends."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from gluonish.recordio.record_buffer import RecordBuffer
from gluonish.recordio.record_table import RecordFile

__all__ = ["RecordFiles"]


class RecordFiles:
    """Record files that any number of threads read at once; offsets count through all of them.

    Args:
        paths: The files, at least one.

    Attributes:
        files: They, open.
        starts: The offset at which each begins.
        nbytes: The size of all, in bytes.

    Raises:
        MissingFileError: There is no such file.
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
        """Return the file that an offset is in, and where that file begins."""
        number = self._number(offset)
        return self.files[number], self.starts[number]

    def _number(self, offset: int) -> int:
        return bisect_right(self.starts, offset) - 1

    def end_of(self, offset: int) -> int:
        """Return where the record ends that begins at an offset; reads only the heads of its parts.

        Raises:
            FileFormatError: No record begins there, or it is cut off.
        """
        number = self._number(offset)
        start = self.starts[number]
        return start + self.files[number].extent(offset - start, self._sizes[number])[1]

    def read_into(self, buffer: RecordBuffer, offset: int) -> memoryview:
        """Return the record at an offset; see `RecordFile.read_into`."""
        file, start = self.at(offset)
        return file.read_into(buffer, offset - start)

    def place(self, offset: int) -> str:
        """Return an offset in words, for messages."""
        file, start = self.at(offset)
        return f"byte {offset - start} of {file.path}"

    def __str__(self) -> str:
        return ", ".join(file.path for file in self.files)
