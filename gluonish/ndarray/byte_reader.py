"""Read numbers and arrays from an untrusted binary file.

Arrays are read into new memory. If the caller maps the file, large arrays are views of the mapping:
pages are read on first use and copied on write.
"""

import io
import math
import mmap
import struct
from collections.abc import Callable
from typing import Any, BinaryIO

import numpy as np

from gluonish.core.errors import FileFormatError

# NumPy 1 supports 32 axes, and no operator needs that many.
MAX_RANK = 32
# Smaller arrays are copied: a view would cost page faults, and a write to it a copy of a page.
_MIN_MAPPED_NBYTES = 1 << 14
# Small enough for `on_read` to find the chunk in the processor's cache.
_CHUNK_NBYTES = 1 << 20


class ByteReader:
    """Reads numbers and arrays from a seekable file, never past its end.

    Args:
        file: The file; `offset` counts from its beginning.
        name: Name in error messages.
        memory: The file as mapped by `private_map`, which is then used instead of ``file``; None to
            read the file. Large arrays are views of the mapping.
        start: Offset of the first byte; None for the file's position.
        end: Offset of the end; None for the end of the file.
        on_read: Called with each chunk right after it is read; for checksums.
    """

    def __init__(
        self,
        file: BinaryIO,
        name: str,
        memory: mmap.mmap | None = None,
        start: int | None = None,
        end: int | None = None,
        on_read: Callable[[Any], object] | None = None,
    ) -> None:
        self._file = file
        self.name = name
        self._memory = memory
        self._on_read = on_read
        self.offset = file.tell() if start is None else start
        if memory is not None:
            end = len(memory) if end is None else min(end, len(memory))
        elif end is None:
            end = file.seek(0, io.SEEK_END)
        if memory is None:
            file.seek(self.offset)
        self._end = end

    def at(self, offset: int) -> "ByteReader":
        """Return a reader of the same file at an offset."""
        return ByteReader(self._file, self.name, self._memory, offset, self._end, self._on_read)

    @property
    def remaining(self) -> int:
        """Number of bytes between `offset` and the end."""
        return self._end - self.offset

    def error(self, expected: str, got: object) -> FileFormatError:
        """Return the error for unexpected content at `offset`."""
        return FileFormatError(f"{self.name}: expected {expected} at byte {self.offset}, got {got}")

    def require(self, nbytes: int, what: str) -> None:
        """Check that so many bytes remain.

        Raises:
            FileFormatError: The file ends before.
        """
        if nbytes > self.remaining:
            got = f"{self.remaining}; the file is truncated or corrupt"
            raise self.error(f"{nbytes} bytes of {what}", got)

    def read(self, nbytes: int, what: str) -> bytes:
        """Return the next bytes.

        Raises:
            FileFormatError: The file ends before.
        """
        self.require(nbytes, what)
        if self._memory is None:
            data = self._file.read(nbytes)
            self._check_read(len(data), nbytes, what)
        else:
            data = self._memory[self.offset : self.offset + nbytes]
        if self._on_read is not None:
            self._on_read(data)
        self.offset += nbytes
        return data

    def numbers(self, layout: str, what: str) -> tuple[int, ...]:
        """Return the next integers, of a `struct` format without the byte order.

        Raises:
            FileFormatError: The file ends before.
        """
        layout = "<" + layout
        return struct.unpack(layout, self.read(struct.calcsize(layout), what))

    def array(self, shape: tuple[int, ...], dtype: np.dtype[Any], what: str) -> Any:
        """Return the next array, in C order and writable: a new array, or a view of the mapping.

        Raises:
            FileFormatError: The file ends before, or the shape does not fit in memory.
        """
        if math.prod(size for size in shape if size) * dtype.itemsize >= 1 << 63:
            raise self.error("a shape that fits in memory", shape)
        nbytes = math.prod(shape) * dtype.itemsize
        self.require(nbytes, what)
        raw = self._bytes(nbytes, dtype, what)
        self.offset += nbytes
        if dtype == np.bool_:
            # NumPy's loops rely on every bool being 0 or 1. A copy, because a thread may still be
            # computing the checksum of the original.
            raw = np.minimum(raw, 1)
        return raw.view(dtype).reshape(shape)

    def _bytes(self, nbytes: int, dtype: np.dtype[Any], what: str) -> Any:
        if self._memory is not None and nbytes:
            # The mapping is page-aligned, so the offset decides alignment.
            is_mapped = nbytes >= _MIN_MAPPED_NBYTES and self.offset % dtype.alignment == 0
            view = np.frombuffer(self._memory, np.uint8, nbytes, self.offset)
            return view if is_mapped and dtype != np.bool_ else view.copy()
        raw = np.empty(nbytes, np.uint8)
        self._read_chunks(raw, what)
        return raw

    def read_into(self, out: Any, what: str) -> None:
        """Read the next bytes into a contiguous array; only without a mapped file.

        Raises:
            FileFormatError: The file ends before.
        """
        self.require(out.nbytes, what)
        self._read_chunks(out.reshape(-1).view(np.uint8), what)
        self.offset += out.nbytes

    def _read_chunks(self, raw: Any, what: str) -> None:
        for start in range(0, len(raw), _CHUNK_NBYTES):
            chunk = raw[start : start + _CHUNK_NBYTES].data
            count = self._file.readinto(chunk)  # type: ignore[attr-defined]  # of all binary files
            self._check_read(start + count, start + len(chunk), what)
            if self._on_read is not None:
                self._on_read(chunk)

    def _check_read(self, got: int, expected: int, what: str) -> None:
        if got != expected:
            raise self.error(
                f"{expected} bytes of {what}",
                f"{got}: another program made the file shorter while it was read; load it again",
            )
