"""Records read by one call of the system, into memory that is used again.

To ask for a record's length first is a second call, and new memory for each record costs more than
what is read into it. So as much is read as the longest record before had; what that does not do for
is left to the reader that says what is wrong.
"""

import os
from collections.abc import Callable

from gluonish.recordio.framing import HEAD_NBYTES, MARK_BYTES

__all__ = ["RecordBuffer"]

# Not on Windows.
_PREADV: Callable[[int, list[bytearray], int], int] | None = getattr(os, "preadv", None)
_MOST_NBYTES = 1 << 20  # longer records are read by their length


class RecordBuffer:
    """Memory into which records are read, one after another; for one thread at a time."""

    __slots__ = ("_memory",)

    def __init__(self) -> None:
        self._memory = bytearray()

    def read(self, descriptor: int, start: int, otherwise: Callable[[], bytes]) -> memoryview:
        """Return the bytes of a record, which stay valid until the next one is read.

        Args:
            descriptor: File descriptor.
            start: Offset in bytes at which the record begins.
            otherwise: Called for records that are not stored in one part or are invalid: reads the
                record, or raises.

        Raises:
            FileFormatError: From ``otherwise``.
        """
        memory = self._memory
        if memory and _PREADV is not None:
            count = _PREADV(descriptor, [memory], start)
            # The bits above the length are those of records of several parts.
            end = HEAD_NBYTES + int.from_bytes(memory[4:HEAD_NBYTES], "little")
            if end <= count and memory.startswith(MARK_BYTES):
                return memoryview(memory)[HEAD_NBYTES:end]
        record = otherwise()
        if len(memory) < HEAD_NBYTES + len(record) and len(record) <= _MOST_NBYTES:
            self._memory = bytearray(HEAD_NBYTES + len(record))  # whoever has a view keeps the old
        return memoryview(record)
