"""A pool of large scratch buffers, shared by threads.

A buffer belongs to one thread from `Workspaces.acquire` to `Workspaces.release`. The pool keeps a
fixed number for each CPU device; if it is empty, a thread allocates a buffer, which is freed on
release when the pool is full. There is no lock: list pop and append are atomic, and two threads
that release at once may keep one buffer too many.
"""

import numpy as np

from gluonish.core.context import cpu
from gluonish.core.device import Device, observe_devices
from gluonish.core.memory_owners import MemoryOwner, register_memory_owner
from gluonish.ops.kernel import Array

_PAGE = 4096  # bytes

_devices: list[Device] = []  # CPU devices


def _count(device: Device) -> None:
    if device.context.device_type == "cpu" and device not in _devices:
        _devices.append(device)


observe_devices(_count)


class Workspace:
    """A buffer of ``nbytes`` bytes at the page-aligned ``address``; ``floats`` is its array."""

    __slots__ = ("_buffer", "address", "floats", "nbytes")

    def __init__(self, nbytes: int) -> None:
        self._buffer: Array = np.empty(nbytes + _PAGE, np.uint8)
        self.address = -(-self._buffer.ctypes.data // _PAGE) * _PAGE
        self.nbytes = nbytes
        start = self.address - self._buffer.ctypes.data
        self.floats: Array = self._buffer[start : start + nbytes // 4 * 4].view(np.float32)


def _holder(workspace: Workspace) -> list[MemoryOwner]:
    return [MemoryOwner(cpu(), "scratch of operators", [workspace._buffer])]


register_memory_owner(Workspace, _holder)


class Workspaces:
    """A pool of idle buffers, which keeps ``per_device`` buffers for each device."""

    __slots__ = ("_idle", "per_device")

    def __init__(self, per_device: int) -> None:
        self.per_device = per_device
        self._idle: list[Workspace] = []

    @property
    def nbytes(self) -> int:
        """Size of all idle buffers in bytes."""
        return sum(workspace.nbytes for workspace in tuple(self._idle))

    def acquire(self, nbytes: int) -> Workspace:
        """Return a buffer of at least ``nbytes``, freeing idle buffers that are too small."""
        while True:
            try:
                found = self._idle.pop()
            except IndexError:
                return Workspace(nbytes)
            if found.nbytes >= nbytes:
                return found

    def release(self, workspace: Workspace) -> None:
        """Return a buffer to the pool, or free it if the pool is full."""
        if len(self._idle) < self.per_device * max(1, len(_devices)):
            self._idle.append(workspace)
