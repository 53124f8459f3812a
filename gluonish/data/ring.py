"""The memory that batches of worker processes come in: a fixed number of slots, used in turn.

Invariants: a slot is free, promised to a task, or leased to arrays of a batch that somebody still
holds. Only the main process decides which. Slots come back from wherever an array is dropped, a
garbage collection included, so that this takes no lock.
"""

import mmap
import os
import weakref
from collections import deque

from gluonish.data.shared_memory import Segment, new_file

__all__ = ["SPARE_SLOTS", "Ring"]

# More slots than batches that are loaded ahead: one for the batch that is waited for, one that the
# program works on while it waits, and two that it, or the engine on its behalf, may still hold.
SPARE_SLOTS = 4

_REMEDY = (
    "lower num_workers, prefetch or batch_size, or take thread_pool=True, which shares no memory"
)


class Ring:
    """Slots of one size, all reserved at once.

    Args:
        slots: How many.
        nbytes: What a slot holds at least, in bytes.

    Attributes:
        slot_nbytes: What it holds, in bytes.
        descriptor: The file, for other processes; open as long as the ring lives.
        memory: It, mapped here.
        free: The offsets of the slots that nobody uses.

    Raises:
        SharedMemoryError: There is no room for them.
    """

    def __init__(self, slots: int, nbytes: int) -> None:
        self.slot_nbytes = -(-max(1, nbytes) // mmap.PAGESIZE) * mmap.PAGESIZE
        total = slots * self.slot_nbytes
        purpose = f"{slots} batches of {nbytes} bytes"
        self.descriptor = new_file(total, purpose, _REMEDY)
        weakref.finalize(self, os.close, self.descriptor)
        self.memory = Segment(os.dup(self.descriptor)).memory
        self.free: deque[int] = deque(range(0, total, self.slot_nbytes))

    def take(self) -> int | None:
        """Return the offset of a slot that was free, the one used last; None without one."""
        try:
            return self.free.pop()
        except IndexError:
            return None
