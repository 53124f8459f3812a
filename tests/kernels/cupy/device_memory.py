"""Devices of a `Machine` and their memory under CuPy's names, and CuPy's own pools."""

import ctypes
import weakref
from types import TracebackType
from typing import Any

import numpy as np

from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.surface import Listed


class Device(Listed):
    """A device as a scope; entering it twice is fine, from several threads too."""

    _listed = "Device"
    _machine: Machine

    def __init__(self, device: Any = None) -> None:
        here = self._machine.here
        self.id = here.device if device is None else int(getattr(device, "id", device))

    compute_capability = "90"
    pci_bus_id = property(lambda self: f"0000:{self.id + 1:02X}:00.0")

    def __enter__(self) -> "Device":
        here = self._machine.here
        here.devices.append(here.device)
        here.device = self.id
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        here = self._machine.here
        here.device = here.devices.pop()

    def use(self) -> None:
        """Make it the thread's current device."""
        self._machine.here.device = self.id

    def synchronize(self) -> None:
        """Block the host until everything is done."""
        for stream in self._machine.streams:
            if stream.device_id == self.id:
                stream.synchronize()


class OutOfMemoryError(MemoryError):
    """What the pool reports."""

    def __init__(self, size: int, total: int, limit: int = 0) -> None:
        super().__init__(
            f"Out of memory allocating {size:,} bytes (allocated so far: {total:,} bytes)."
        )


class _Memory(Listed):
    """Memory on a device."""

    _listed = "Memory"
    _machine: Machine
    device_id = 0

    @property
    def device(self) -> Device:
        """Whose it is."""
        made: Device = self._machine.bound(Device)(self.device_id)
        return made


class DriverMemory(_Memory):
    """Memory of the current device as the driver gives it: CuPy's ``Memory``."""

    def __init__(self, size: int) -> None:
        machine = self._machine
        if machine.broken is not None:
            raise machine.broken
        self.device_id = machine.here.device
        self.size = size
        self.ptr = 0
        if size:
            memory = machine.reserve(size, self.device_id)
            self.ptr = int(memory.raw.ctypes.data)
            # An array of NumPy's goes with the last reference, as memory of CuPy's does. What the
            # collector sees goes earlier, even if another finalizer brings it back to life.
            self._life = np.empty(0)
            weakref.finalize(self._life, machine.free, memory, self.device_id)


class UnownedMemory(_Memory):
    """Memory of somebody else's, who is kept alive."""

    _listed = "UnownedMemory"

    def __init__(self, ptr: int, size: int, owner: object, device_id: int = -1) -> None:
        self.ptr = ptr
        self.size = size
        self._owner = owner
        self.device_id = self._machine.here.device if device_id < 0 else device_id


class MemoryPointer(Listed):
    """A place in memory."""

    _listed = "MemoryPointer"
    _machine: Machine

    def __init__(self, mem: Any, offset: int) -> None:
        self.mem = mem
        self.ptr = mem.ptr + offset

    device = property(lambda self: self.mem.device)
    device_id = property(lambda self: self.mem.device_id)


class MemoryPool(Listed):
    """CuPy's own pool, which here keeps nothing."""

    _listed = "MemoryPool"
    _machine: Machine

    def __init__(self, allocator: Any = None) -> None:
        assert allocator is None, "a pool over an allocator: not known to this double"

    def malloc(self, size: int) -> Any:
        """Return new memory."""
        machine = self._machine
        return machine.bound(MemoryPointer)(machine.bound(DriverMemory)(size), 0)

    def free_all_blocks(self, stream: Any = None) -> None:
        """Note that the blocks of the current device were freed."""
        self._machine.freed.append(self._machine.here.device)


class PinnedMemoryPool(Listed):
    """CuPy's pool of page-locked memory."""

    _listed = "PinnedMemoryPool"
    _machine: Machine

    def __init__(self, allocator: Any = None) -> None:
        assert allocator is None, "a pool over an allocator: not known to this double"

    def malloc(self, size: int) -> Any:
        """Return page-locked memory."""
        memory = self._machine.allocate_pinned(size)
        kind: Any = type("PinnedMemoryPointer", (_Pinned, ctypes.c_uint8 * size), {})
        made = kind.from_buffer(memory.raw)
        made.ptr = int(memory.raw.ctypes.data)
        weakref.finalize(made, self._machine.free_pinned, memory)
        return made

    def free_all_blocks(self) -> None:
        """Note that it was told to."""
        self._machine.freed.append("pinned")


class _Pinned(Listed):
    """Page-locked host memory with its address; also a buffer."""

    _listed = "PinnedMemoryPointer"
    ptr = 0

    def size(self) -> int:
        """Bytes."""
        return ctypes.sizeof(self)  # type: ignore[arg-type]  # which is also a C array
