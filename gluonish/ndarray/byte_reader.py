"""Reading numbers and arrays from a file of which nothing is trusted.

Where the file is mapped into memory, large arrays stay there: their pages are read when they are
used, and a page that is written to becomes the process's own.
"""

import io
import math
import mmap
import struct
from typing import Any, BinaryIO

import numpy as np

from gluonish.core.errors import FileFormatError

__all__ = ["MAX_RANK", "ByteReader"]

# NumPy 1 has 32 at most, and no operator takes that many.
MAX_RANK = 32
# Smaller arrays are copied: each would cost page faults, and a write to one a whole page.
_LEAST_MAPPED_NBYTES = 1 << 14


class ByteReader:
    """Reads numbers and arrays from a seekable file, from its position on, never past its end.

    Args:
        file: The file; `offset` counts from its beginning.
        name: What error messages call it.
        memory: The whole file as `private_map` gave it; None if it is to be read. Large arrays are
            then views of it, and the file itself is left alone.
        start: Where to begin; None for the file's position.
        end: Where to end before the file does; None for its end.
    """

    def __init__(
        self,
        file: BinaryIO,
        name: str,
        memory: mmap.mmap | None = None,
        start: int | None = None,
        end: int | None = None,
    ) -> None:
        self._file = file
        self.name = name
        self._memory = memory
        self.offset = file.tell() if start is None else start
        if memory is None:
            nbytes = file.seek(0, io.SEEK_END)
            file.seek(self.offset)
        else:
            nbytes = len(memory)
        self._end = nbytes if end is None else min(end, nbytes)

    @property
    def remaining(self) -> int:
        """Bytes between here and the end."""
        return self._end - self.offset

    def error(self, expected: str, got: object) -> FileFormatError:
        """The error for what was found at `offset`."""
        return FileFormatError(f"{self.name}: expected {expected} at byte {self.offset}, got {got}")

    def require(self, nbytes: int, what: str) -> None:
        """Check that so many bytes are left.

        Raises:
            FileFormatError: The file ends before.
        """
        if nbytes > self.remaining:
            got = f"{self.remaining}; the file is truncated or corrupt"
            raise self.error(f"{nbytes} bytes of {what}", got)

    def take(self, nbytes: int, what: str) -> bytes:
        """Return the next bytes.

        Raises:
            FileFormatError: The file ends before.
        """
        self.require(nbytes, what)
        if self._memory is None:
            data = self._file.read(nbytes)
        else:
            data = self._memory[self.offset : self.offset + nbytes]
        self.offset += nbytes
        return data

    def numbers(self, layout: str, what: str) -> tuple[int, ...]:
        """Return the next integers; ``layout`` is as in `struct`, without the byte order.

        Raises:
            FileFormatError: The file ends before.
        """
        layout = "<" + layout
        return struct.unpack(layout, self.take(struct.calcsize(layout), what))

    def array(self, shape: tuple[int, ...], dtype: np.dtype[Any], what: str) -> Any:
        """Return the next array, in C order, which may be written to.

        It has memory of its own, or is a view of the mapped file; that of bools is always its own.

        Raises:
            FileFormatError: The file ends before, or the shape is one that no array can have.
        """
        if math.prod(size for size in shape if size) * dtype.itemsize >= 1 << 63:
            raise self.error("a shape that fits in memory", shape)
        nbytes = math.prod(shape) * dtype.itemsize
        self.require(nbytes, what)
        raw = self._bytes(nbytes, dtype, what)
        self.offset += nbytes
        if dtype == np.bool_:
            # NumPy's loops rely on every bool being 0 or 1.
            np.minimum(raw, 1, out=raw)
        return raw.view(dtype).reshape(shape)

    def _bytes(self, nbytes: int, dtype: np.dtype[Any], what: str) -> Any:
        if self._memory is not None and nbytes:
            # The memory begins with a page.
            stays = nbytes >= _LEAST_MAPPED_NBYTES and self.offset % dtype.alignment == 0
            view = np.frombuffer(self._memory, np.uint8, nbytes, self.offset)
            return view if stays and dtype != np.bool_ else view.copy()
        raw = np.empty(nbytes, np.uint8)
        if self._file.readinto(raw.data) != nbytes:  # type: ignore[attr-defined]  # of all binary files
            raise self.error(f"{nbytes} bytes of {what}", "a file that became shorter")
        return raw
