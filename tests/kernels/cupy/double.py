"""The double of CuPy: a module on a `Machine`, for device and kernels to run on without CUDA."""

from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from tests.kernels.cupy import cublas_double, host_kernels
from tests.kernels.cupy.arrays import SURFACE, Array, add_functions
from tests.kernels.cupy.linear_algebra import make_fft, make_linalg
from tests.kernels.cupy.machine import CUDARuntimeError, DriverMemory, Event, Machine

__all__ = ["CUDARuntimeError", "OutOfMemoryError", "make_cupy", "make_special"]


class OutOfMemoryError(MemoryError):
    """What the pool reports."""

    def __init__(self, size: int, total: int, limit: int = 0) -> None:
        super().__init__(
            f"Out of memory allocating {size:,} bytes (allocated so far: {total:,} bytes)."
        )


class UnownedMemory:
    """Memory of somebody else's, who is kept alive."""

    def __init__(self, ptr: int, size: int, owner: object, device_id: int = -1) -> None:
        self.ptr = ptr
        self.size = size
        self._owner = owner
        self.device_id = device_id


class MemoryPointer:
    """A place in memory."""

    def __init__(self, mem: Any, offset: int) -> None:
        self.mem = mem
        self.ptr = mem.ptr + offset


class _DefaultPool:
    """CuPy's own pool."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self.freed: list[Any] = []

    def malloc(self, size: int) -> Any:
        """Return new memory."""
        return MemoryPointer(DriverMemory(self._machine, size), 0)

    def free_all_blocks(self) -> None:
        """Note that the blocks of the current device were freed."""
        self.freed.append(self._machine.here.device)


class _Device:
    """Device as a scope; entering it twice is fine, from several threads too."""

    compute_capability = "90"

    def __init__(self, machine: Machine, number: int) -> None:
        self.id = number
        self._machine = machine

    def __enter__(self) -> "_Device":
        here = self._machine.here
        here.__dict__.setdefault("devices", []).append(here.device)
        here.device = self.id
        return self

    def __exit__(self, *exc_info: object) -> None:
        here = self._machine.here
        here.device = here.__dict__["devices"].pop()


def _cuda(machine: Machine) -> Any:
    null = SimpleNamespace(ptr=0)

    def device_count() -> int:
        if machine.devices == 0:
            raise CUDARuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")
        return machine.devices

    runtime = SimpleNamespace(
        CUDARuntimeError=CUDARuntimeError,
        errorMemoryAllocation=2,
        getDeviceCount=device_count,
        getDevice=lambda: machine.here.device,
        driverGetVersion=lambda: 13000,
        runtimeGetVersion=lambda: 13000,
        memGetInfo=lambda: (
            machine.capacity - machine.reserved.get(machine.here.device, 0),
            machine.capacity,
        ),
        memcpyHostToDevice=1,
        memcpyDeviceToHost=2,
        memcpyAsync=lambda dst, src, size, kind, stream: machine.copy(
            dst, src, size, stream, {1: "h2d", 2: "d2h"}[kind]
        ),
        deviceCanAccessPeer=lambda number, peer: int(number != peer),
        deviceEnablePeerAccess=lambda peer: machine.log.append(("way", machine.here.device, peer)),
        memcpyPeerAsync=lambda dst, to, src, of, size, stream: machine.copy(
            dst, src, size, stream, f"peer{of}to{to}"
        ),
    )
    return SimpleNamespace(
        Device=lambda number: _Device(machine, number),
        Stream=machine.new_stream,
        Event=lambda disable_timing=False: Event(machine, disable_timing),
        alloc_pinned_memory=machine.allocate_pinned,
        get_current_stream=lambda: machine.here.streams[-1] if machine.here.streams else null,
        memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
        Memory=lambda size: DriverMemory(machine, size),
        UnownedMemory=UnownedMemory,
        MemoryPointer=MemoryPointer,
        runtime=runtime,
    )


def make_cupy(machine: Machine) -> Any:
    """Return a module like CuPy over a machine."""
    module: Any = ModuleType("cupy")
    module.__version__ = SURFACE["cupy"]
    module.cuda = _cuda(machine)
    module.lib = SimpleNamespace(stride_tricks=SimpleNamespace())
    add_functions(module, machine)
    module.linalg, module.fft = make_linalg(machine), make_fft(machine)
    pool = _DefaultPool(machine)
    module.freed = pool.freed
    pinned = SimpleNamespace(free_all_blocks=lambda: module.freed.append("pinned"))
    module.get_default_memory_pool = lambda: pool
    module.get_default_pinned_memory_pool = lambda: pinned

    def set_allocator(allocator: Any = None) -> None:
        machine.allocator = allocator

    module.cuda.set_allocator = set_allocator
    module.cuda.get_allocator = lambda: machine.allocator or pool.malloc
    cublas_double.install(module, machine)
    host_kernels.install(module, machine)
    return module


def make_special() -> Any:
    """Return a module like ``cupyx.scipy.special`` for arrays of the double, in float64."""
    from gluonish.ops import special as own

    def apply(name: str) -> Any:
        def function(x: Array) -> Array:
            out = x.astype(np.float64)
            out.raw[...] = own._NUMPY[name](x.raw.reshape(-1)).reshape(x.shape)
            return out

        return function

    special: Any = ModuleType("cupyx.scipy.special")
    for name in ("erf", "erfinv", "gamma", "gammaln", "digamma"):
        setattr(special, name, apply(name))

    def zeta(order: float, x: Array) -> Array:
        assert order == 2.0, "the second derivative of log gamma is what it is here for"
        return apply("trigamma")(x)

    special.zeta = zeta
    return special
