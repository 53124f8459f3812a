"""``cupy.cuda`` of the double, with the names and arguments that CuPy has and no others."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from tests.kernels.cupy.device_memory import (
    Device,
    DriverMemory,
    MemoryPointer,
    MemoryPool,
    OutOfMemoryError,
    PinnedMemoryPool,
    UnownedMemory,
)
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.streams import CUDADriverError, CUDARuntimeError, Event, Graph, Stream
from tests.kernels.cupy.surface import Listed, ListedModule

_NO_DEVICE, _NO_CONTEXT = 100, 201
_KINDS = {1: "h2d", 2: "d2h", 3: "d2d"}


class _Null(Listed):
    """The null stream, which nobody uses."""

    _listed = "Stream"
    ptr = 0
    device_id = -1


def make_runtime(machine: Machine) -> ListedModule:
    """Return a module like ``cupy.cuda.runtime``."""

    def getDeviceCount() -> int:  # here and below: CuPy's names
        if machine.devices == 0:
            raise CUDARuntimeError(_NO_DEVICE)
        return machine.devices

    def getDevice() -> int:
        return machine.here.device

    def setDevice(device: int) -> None:
        machine.here.device = device

    def driverGetVersion() -> int:
        return 13000

    def runtimeGetVersion() -> int:
        return 13000

    def getDeviceProperties(device: int) -> dict[str, Any]:
        return {"name": b"a double", "multiProcessorCount": 132}

    def memGetInfo() -> tuple[int, int]:
        machine.here.contexts.add(getDevice())
        return machine.capacity - machine.reserved.get(getDevice(), 0), machine.capacity

    return ListedModule(
        "cuda.runtime",
        {
            **_named(getDeviceCount, getDevice, setDevice, driverGetVersion, runtimeGetVersion),
            **_named(memGetInfo, getDeviceProperties, *_copies(machine)),
            "CUDARuntimeError": CUDARuntimeError,
        },
    )


def make_driver(machine: Machine) -> ListedModule:
    """Return a module like ``cupy.cuda.driver``."""

    def launchKernel(  # CuPy's names
        f: int,
        grid_dim_x: int,
        grid_dim_y: int,
        grid_dim_z: int,
        block_dim_x: int,
        block_dim_y: int,
        block_dim_z: int,
        shared_mem_bytes: int,
        stream: int,
        kernel_params: int,
        extra: int,
    ) -> None:
        assert not shared_mem_bytes, "shared memory: not known to this double"
        assert not extra, "packed parameters: not known to this double"
        here = machine.here
        if here.device not in here.contexts:
            raise CUDADriverError(_NO_CONTEXT)
        grid = (grid_dim_x, grid_dim_y, grid_dim_z)
        block = (block_dim_x, block_dim_y, block_dim_z)
        machine.functions[f](grid, block, stream, kernel_params)

    known = {"launchKernel": launchKernel, "CUDADriverError": CUDADriverError}
    return ListedModule("cuda.driver", known)


def _named(*functions: Callable[..., Any]) -> dict[str, Any]:
    return {function.__name__: function for function in functions}


def _copies(machine: Machine) -> tuple[Callable[..., Any], ...]:
    """Return the functions of ``cupy.cuda.runtime`` that copy, or tell what may be copied."""

    def memcpyAsync(dst: int, src: int, size: int, kind: int, stream: int) -> None:
        machine.copy(dst, src, size, stream, _KINDS[kind])

    def deviceCanAccessPeer(device: int, peerDevice: int) -> int:
        return int(device != peerDevice)

    def deviceEnablePeerAccess(peerDevice: int) -> None:
        machine.log.append(("way", machine.here.device, peerDevice))

    def memcpyPeerAsync(
        dst: int, dstDevice: int, src: int, srcDevice: int, size: int, stream: int
    ) -> None:
        machine.copy(dst, src, size, stream, f"peer{srcDevice}to{dstDevice}")

    def pointerGetAttributes(ptr: int) -> Any:
        return SimpleNamespace(type=machine.kind_of(ptr))

    def deviceGetPCIBusId(device: int) -> str:  # as CuPy has it
        return f"{os.getpid():x}:{device:02x}:00.0"  # each process has devices of its own

    copies = (memcpyAsync, memcpyPeerAsync, deviceGetPCIBusId)
    return (*copies, deviceCanAccessPeer, deviceEnablePeerAccess, pointerGetAttributes)


def make_cuda(machine: Machine, own: MemoryPool, pinned: PinnedMemoryPool) -> ListedModule:
    """Return a module like ``cupy.cuda``, with CuPy's own pools."""
    null = _Null()

    def get_current_stream(device_id: int = -1) -> Any:
        assert device_id in (-1, machine.here.device), "a stream of another device: not known"
        return machine.here.streams[-1] if machine.here.streams else null

    def set_allocator(allocator: Callable[[int], Any] | None = None) -> None:
        machine.allocator = allocator

    def get_allocator() -> Any:
        scopes = machine.here.allocators
        return scopes[-1] if scopes else machine.allocator or own.malloc

    @contextmanager
    def using_allocator(allocator: Callable[[int], Any] | None = None) -> Iterator[None]:
        assert allocator is not None, "no pool at all: not known to this double"
        machine.here.allocators.append(allocator)
        try:
            yield
        finally:
            machine.here.allocators.pop()

    def alloc(size: int) -> Any:
        return get_allocator()(size)

    def alloc_pinned_memory(size: int) -> Any:
        return pinned.malloc(size)

    def is_available() -> bool:
        return machine.devices > 0

    def get_device_id() -> int:
        return machine.here.device

    def get_elapsed_time(start_event: Event, end_event: Event) -> float:
        assert start_event._us is not None, "an event that was not recorded, or keeps no time"
        assert end_event._us is not None, "an event that was not recorded, or keeps no time"
        assert end_event.done, "an event that nobody waited for"
        return (end_event._us - start_event._us) / 1000

    functions = (get_current_stream, set_allocator, get_allocator, alloc, alloc_pinned_memory)
    others: Any = (using_allocator, is_available, get_device_id, get_elapsed_time)
    known: dict[str, Any] = {f.__name__: f for f in (*functions, *others)}
    classes: dict[str, Any] = {
        "Device": machine.bound(Device),
        "Event": machine.bound(Event),
        "Graph": machine.bound(Graph),
        "Memory": machine.bound(DriverMemory),
        "MemoryPointer": machine.bound(MemoryPointer),
        "MemoryPool": machine.bound(MemoryPool),
        "PinnedMemoryPool": machine.bound(PinnedMemoryPool),
        "Stream": machine.bound(Stream),
        "UnownedMemory": machine.bound(UnownedMemory),
    }
    classes["Stream"].null = null
    return ListedModule(
        "cuda",
        {
            **known,
            **classes,
            "runtime": make_runtime(machine),
            "driver": make_driver(machine),
            "memory": ListedModule("cuda.memory", {"OutOfMemoryError": OutOfMemoryError}),
            "device": ListedModule("cuda.device", {"Device": classes["Device"]}),
            "stream": ListedModule("cuda.stream", {"Stream": classes["Stream"]}),
        },
    )
