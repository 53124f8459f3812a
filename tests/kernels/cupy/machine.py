"""A CUDA machine on the host, for the double of CuPy: memory, streams, events, and a race detector.

Kernels compute at once, in the thread that launches them, so that results are those of the
program's order. Whether that order is *enforced* is what the clocks find out: each stream and the
host count their steps and know of the steps of others only through launches (the host's past),
events and synchronizations. An access to memory that does not know of the one it conflicts with is
a race: `Race` names both. Freed blocks go back to the pool of their stream at once, with their
history, and are given out again first, as CuPy does.
"""

import ctypes
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = [
    "Block",
    "CUDARuntimeError",
    "DriverMemory",
    "Event",
    "Machine",
    "PinnedMemory",
    "Race",
    "Stream",
]

Clock = dict[str, int]
HOST = "host"


class CUDARuntimeError(RuntimeError):
    """What CUDA reports."""

    def __init__(self, message: str, status: int = 999) -> None:
        super().__init__(message)
        self.status = status


class Race(AssertionError):
    """Two accesses to the same memory in an order that nothing enforces."""


class Memory:
    """Bytes with the steps that last used them."""

    def __init__(self, nbytes: int) -> None:
        self.raw = np.full(nbytes, 0xFF, np.uint8)
        self.write: tuple[str, int, str] | None = None
        self.reads: dict[str, tuple[int, str]] = {}

    def check(self, clock: Clock, write: bool, what: str) -> None:
        """Raise if an earlier access is not known to the one that comes with ``clock``."""
        before = [] if self.write is None else [("write", *self.write)]
        if write:
            before += [("read", actor, *use) for actor, use in self.reads.items()]
        for kind, actor, step, by in before:
            if clock.get(actor, 0) < step:
                raise Race(f"{what} is not ordered behind the {kind} of {by} on {actor}")

    def note(self, actor: str, step: int, write: bool, what: str) -> None:
        """Remember an access."""
        if write:
            self.write, self.reads = (actor, step, what), {}
        else:
            self.reads[actor] = (step, what)


class Block:
    """Memory that an array and its views own; goes back to its pool with the last of them.

    That of an allocator goes with the allocator's pointer.
    """

    def __init__(
        self, memory: Memory, pool: list[Memory] | None, device: int, pointer: Any
    ) -> None:
        self.memory = memory
        self.device = device
        self.pointer = pointer
        if pool is not None:
            weakref.finalize(self, pool.append, memory)


class DriverMemory:
    """Memory of the current device as the driver gives it: CuPy's ``Memory``."""

    def __init__(self, machine: "Machine", nbytes: int) -> None:
        self.device_id = machine.here.device
        self.size = nbytes
        self.ptr = 0
        if nbytes:
            memory = machine.reserve(nbytes, self.device_id)
            self.ptr = int(memory.raw.ctypes.data)
            # CuPy frees when the object is deallocated. The collector may find it in a cycle whose
            # `__del__` saves it, and would finalize it before; an array it does not track.
            self._end = np.empty(0)
            weakref.finalize(self._end, machine.free, memory, self.device_id)


class PinnedMemory(np.ndarray):
    """Page-locked host memory: a buffer, and ``ptr`` as CuPy's has it."""

    @property
    def ptr(self) -> int:
        """Address."""
        return int(self.ctypes.data)


class Stream:
    """A stream of the machine; as a scope it becomes the thread's current one."""

    def __init__(self, machine: "Machine", name: str, device: int) -> None:
        self.machine = machine
        self.name = name
        self.device_id = device
        self.ptr = id(self)
        self.clock: Clock = {}
        self.deferred: list[tuple[int, Callable[[], None]]] = []

    def __enter__(self) -> "Stream":
        if self.machine.here.device != self.device_id:
            raise AssertionError(f"{self.name} entered while device {self.machine.here.device} is")
        self.machine.here.streams.append(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.machine.here.streams.pop()

    def step(self) -> int:
        """Count a launch, which knows of the host's past."""
        with self.machine.lock:
            merge(self.clock, self.machine.host)
            self.clock[self.name] = self.clock.get(self.name, 0) + 1
            return self.clock[self.name]

    def wait_event(self, event: "Event") -> None:
        """Hold later work back until the event."""
        self.machine.log.append(("wait", self.name, event.name))
        with self.machine.lock:
            merge(self.clock, event.clock)

    def synchronize(self) -> None:
        """Block the host until everything is done."""
        self.machine.arrive(dict(self.clock))


class Event:
    """A mark on a stream."""

    def __init__(self, machine: "Machine", disable_timing: bool = False) -> None:
        self.machine = machine
        self.name = ""
        self.clock: Clock = {}
        assert disable_timing, "events that keep time are slower, and nobody asks them"

    def record(self, stream: Stream) -> None:
        """Put the mark behind everything launched so far."""
        if self.machine.here.device != stream.device_id:
            raise AssertionError(f"event on {stream.name} with device {self.machine.here.device}")
        self.machine.log.append(("record", stream.name))
        with self.machine.lock:
            self.name = stream.name
            self.clock = dict(stream.clock)

    def synchronize(self) -> None:
        """Block the host until the mark is reached."""
        self.machine.log.append(("synchronize", self.name))
        if self.machine.broken is not None:
            raise self.machine.broken
        self.machine.arrive(self.clock)

    @property
    def done(self) -> bool:
        """Whether the host knows that the mark was reached: never earlier than it must be."""
        with self.machine.lock:
            return all(self.machine.host.get(a, 0) >= step for a, step in self.clock.items())


def merge(clock: Clock, other: Clock) -> None:
    """Let ``clock`` know what ``other`` knows."""
    for actor, step in other.items():
        clock[actor] = max(step, clock.get(actor, 0))


class _Here(threading.local):
    """Current device and streams of a thread."""

    device = 0

    def __init__(self) -> None:
        self.streams: list[Stream] = []


class Machine:
    """Devices with memory and streams.

    Args:
        devices: How many.

    Attributes:
        capacity: Bytes that each device has.
        reserved: Bytes of each that the driver gave out.
        allocator: What CuPy was told to ask for memory; None for a pool of its own.
    """

    def __init__(self, devices: int = 1) -> None:
        self.devices = devices
        self.capacity = 1 << 30
        self.reserved: dict[int, int] = {}
        self.allocator: Callable[[int], Any] | None = None
        self.lock = threading.RLock()
        self.host: Clock = {}
        self.here = _Here()
        self.log: list[tuple[Any, ...]] = []
        self.streams: list[Stream] = []
        self.broken: Exception | None = None
        self.transfers = 0
        self._pools: dict[tuple[int, str], list[Memory]] = {}
        self._pinned: list[Memory] = []
        self._memories: list[Memory] = []

    def new_stream(self, non_blocking: bool = False) -> Stream:
        """Return a stream of the current device."""
        assert non_blocking, "a blocking stream waits for the null stream"
        name = f"gpu{self.here.device}.stream{len(self.streams)}"
        stream = Stream(self, name, self.here.device)
        self.streams.append(stream)
        return stream

    def current(self) -> Stream:
        """Return the stream that kernels of this thread go to."""
        assert self.here.streams, "work for the null stream"
        stream = self.here.streams[-1]
        assert stream.device_id == self.here.device, "stream of another device than the current"
        return stream

    def access(self, blocks: list[tuple[Block, bool]], what: str) -> None:
        """Count one kernel on the current stream that reads (False) or writes (True) blocks."""
        stream = self.current()
        for block, _ in blocks:
            if block.device != stream.device_id:
                raise AssertionError(f"{what} on {stream.name} touches memory of gpu{block.device}")
        self.use(stream, [(block.memory, write) for block, write in blocks], what)

    def use(self, stream: Stream, memories: list[tuple[Memory, bool]], what: str) -> int:
        """Count one step of a stream, and check what it touches."""
        step = stream.step()
        with self.lock:
            for memory, write in memories:
                memory.check(stream.clock, write, what)
            for memory, write in memories:
                memory.note(stream.name, step, write, what)
        return step

    def allocate(self, nbytes: int) -> Block:
        """Return a block of the current stream's pool, a used one if there is any."""
        stream = self.current()
        if self.allocator is not None and nbytes:
            pointer = self.allocator(nbytes)
            memory = self._behind(pointer.ptr)
            assert memory is not None, "an allocator gave an address outside device memory"
            assert memory.raw.size >= nbytes, "an allocator gave less than was asked for"
            return Block(memory, None, stream.device_id, pointer)
        pool = self._pools.setdefault((stream.device_id, stream.name), [])
        return Block(self._take(pool, nbytes), pool, stream.device_id, None)

    def reserve(self, nbytes: int, device: int) -> Memory:
        """Return new memory of a device.

        Raises:
            CUDARuntimeError: The device has no more.
        """
        with self.lock:
            used = self.reserved.get(device, 0)
            if used + nbytes > self.capacity:
                raise CUDARuntimeError("cudaErrorMemoryAllocation: out of memory", 2)
            self.reserved[device] = used + nbytes
            self._memories.append(Memory(nbytes))
            return self._memories[-1]

    def free(self, memory: Memory, device: int) -> None:
        """Take back what `reserve` gave: the driver waits for all work that may use it."""
        with self.lock:
            self.reserved[device] -= memory.raw.size
            self._memories.remove(memory)

    def allocate_pinned(self, nbytes: int) -> PinnedMemory:
        """Return page-locked memory; its new owner writes it, so earlier reads must be over."""
        memory = self._take(self._pinned, nbytes)
        memory.check(self.host, True, "staging on the host")
        pinned = memory.raw[:].view(PinnedMemory)
        weakref.finalize(pinned, self._pinned.append, memory)
        return pinned

    def _take(self, pool: list[Memory], nbytes: int) -> Memory:
        with self.lock:
            fits = [m for m in pool if nbytes <= m.raw.size <= 4 * max(nbytes, 64)]
            if fits:
                best = min(fits, key=lambda m: m.raw.size)
                pool.remove(best)
                return best
            self._memories.append(Memory(max(nbytes, 1)))
            return self._memories[-1]

    def _behind(self, address: int) -> Memory | None:
        """Return the memory of an address; None for the host's ordinary memory."""
        for memory in self._memories:
            if 0 <= address - memory.raw.ctypes.data < memory.raw.size:
                return memory
        return None

    def copy(self, target: int, source: int, nbytes: int, stream_ptr: int, kind: str) -> None:
        """Copy bytes between addresses as a step of a stream."""
        stream = next(s for s in self.streams if s.ptr == stream_ptr)
        self.transfers += 1
        self.log.append((kind, stream.name))
        into, out_of = self._behind(target), self._behind(source)
        if kind == "h2d":
            assert out_of is not None, "an upload from memory that is not page-locked blocks"
        used = [(m, write) for m, write in ((into, True), (out_of, False)) if m is not None]
        step = self.use(stream, used, kind)
        data = ctypes.string_at(source, nbytes)
        if kind == "d2h":  # the values come when the host has waited, not before
            stream.deferred.append((step, lambda: ctypes.memmove(target, data, nbytes)))
        else:
            ctypes.memmove(target, data, nbytes)

    def arrive(self, clock: Clock) -> None:
        """Let the host know what ``clock`` knows, and deliver the copies that end there."""
        with self.lock:
            merge(self.host, clock)
            for stream in self.streams:
                known = self.host.get(stream.name, 0)
                for step, deliver in stream.deferred:
                    if step <= known:
                        deliver()
                stream.deferred = [item for item in stream.deferred if item[0] > known]
