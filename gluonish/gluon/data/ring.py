"""The memory that batches of worker processes come in: a fixed number of slots, used in turn.

Invariants: a slot is free, promised to a task, or lent to arrays of a batch that somebody still
holds. Only the thread that serves the pool decides which; slots come back from wherever an array is
dropped, a garbage collection included.
"""

import ctypes
import mmap
import os
from typing import Any

from gluonish.core.lending import Lending
from gluonish.gluon.data.shared_memory import Segment, new_file

__all__ = ["SPARE_SLOTS", "Ring"]

# More slots than batches that are loaded ahead: one for the batch that is waited for, one that the
# program works on while it waits, and two that it, or the engine on its behalf, may still hold.
SPARE_SLOTS = 4

_REMEDY = (
    "lower num_workers, prefetch or batch_size, or take thread_pool=True, which shares no memory"
)


class Ring:
    """Slots of shared memory of equal size, all reserved at once.

    Args:
        slots: Number of slots.
        nbytes: Minimum size of a slot, in bytes.

    Attributes:
        slot_nbytes: Size of a slot, in bytes.
        descriptor: Descriptor of the file, for other processes; open until `close`.

    Raises:
        SharedMemoryError: There is not enough memory.
    """

    def __init__(self, slots: int, nbytes: int) -> None:
        self.slot_nbytes = -(-max(1, nbytes) // mmap.PAGESIZE) * mmap.PAGESIZE
        total = slots * self.slot_nbytes
        purpose = f"{slots} batches of {nbytes} bytes"
        self.descriptor = new_file(total, purpose, _REMEDY)
        try:
            self._memory = Segment(os.dup(self.descriptor)).memory
        except OSError:
            self.close()
            raise
        self._free = list(range(0, total, self.slot_nbytes))
        self._lending: Lending[int] = Lending()

    def take(self) -> int | None:
        """Return the offset of a free slot, the one used last; None if none is free."""
        self._free.extend(self._lending.returned())
        return self._free.pop() if self._free else None

    def give_back(self, offset: int) -> None:
        """Return a slot that was taken but not lent.

        Args:
            offset: Offset of the slot.
        """
        self._free.append(offset)

    def lend(self, offset: int, nbytes: int) -> Any:
        """Return the first bytes of a taken slot; the slot is free again once they are freed.

        Args:
            offset: Offset of the slot.
            nbytes: Number of bytes.
        """
        memory = (ctypes.c_ubyte * nbytes).from_buffer(self._memory, offset)
        self._lending.lend(offset, memory)
        return memory

    def has_room(self) -> bool:
        """Whether a slot is free; may be called from any thread."""
        return bool(self._free) or self._lending.has_returned()

    def close(self) -> None:
        """Close the file; lent memory stays valid."""
        os.close(self.descriptor)
