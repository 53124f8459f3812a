"""Large scratch buffers, which threads take in turn.

A buffer belongs to one thread from `Workspaces.take` to `Workspaces.give`. As many are kept as the
CPU's devices may have; a thread that finds none allocates one, which is freed when it comes back.
No lock: taking from a list and putting back are one step of the interpreter each, and two threads
that give one back at once may keep one too many.
"""

import numpy as np

from gluonish.core.context import cpu
from gluonish.core.device import Device, watch_devices
from gluonish.core.memory_owners import Holder, describe_holders
from gluonish.ops.kernel import Array

_PAGE = 4096  # bytes

_devices: list[Device] = []  # those whose operators run here


def _count(device: Device) -> None:
    if device.context.device_type == "cpu" and device not in _devices:
        _devices.append(device)


watch_devices(_count)


class Workspace:
    """One buffer.

    Attributes:
        nbytes: How much of it there is behind ``address``.
        address: Where it starts, at a page.
    """

    __slots__ = ("_buffer", "address", "nbytes")

    def __init__(self, nbytes: int) -> None:
        self._buffer: Array = np.empty(nbytes + _PAGE, np.uint8)
        self.address = -(-self._buffer.ctypes.data // _PAGE) * _PAGE
        self.nbytes = nbytes


def _holder(workspace: Workspace) -> list[Holder]:
    return [Holder(cpu(), "scratch of operators", [workspace._buffer])]


describe_holders(Workspace, _holder)


class Workspaces:
    """Buffers that wait for the next thread.

    Args:
        per_device: How many are kept for each device.
    """

    __slots__ = ("_idle", "per_device")

    def __init__(self, per_device: int) -> None:
        self.per_device = per_device
        self._idle: list[Workspace] = []

    @property
    def nbytes(self) -> int:
        """What is kept now, in bytes."""
        return sum(workspace.nbytes for workspace in tuple(self._idle))

    def take(self, nbytes: int) -> Workspace:
        """Return a buffer of ``nbytes`` or more; what is kept and too small is dropped."""
        while True:
            try:
                found = self._idle.pop()
            except IndexError:
                return Workspace(nbytes)
            if found.nbytes >= nbytes:
                return found

    def give(self, workspace: Workspace) -> None:
        """Take a buffer back."""
        if len(self._idle) < self.per_device * max(1, len(_devices)):
            self._idle.append(workspace)
