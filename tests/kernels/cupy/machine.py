"""A CUDA machine on the host, for the double of CuPy: memory, streams, events, and a race detector.

Kernels compute at once, in the thread that launches them, so that results are those of the
program's order. Whether that order is *enforced* is what the clocks find out: each stream and the
host count their steps and know of the steps of others only through launches (the host's past),
events and synchronizations. An access to memory that does not know of the one it conflicts with is
a race: `Race` names both. Freed blocks go back to the pool of their stream at once, with their
history, and are given out again first, as CuPy does.

A machine that does not execute (``executes=False``) has memory that nobody touches, and skips what
kernels compute: reads of the host give zeros. It counts, orders and checks all the same, so
that a network of real size takes seconds and little memory. A recorder is given every launch with
its `Cost` (cost_model/records.py).
"""

import ctypes
import mmap
import threading
import weakref
from bisect import bisect_right, insort
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from tests.kernels.cupy.cost_model.records import Cost, Recorder, cost_of
from tests.kernels.cupy.streams import (
    Clock,
    CUDARuntimeError,
    Event,
    Graph,
    KernelCall,
    Stream,
    merge,
)

__all__ = [
    "Block",
    "CUDARuntimeError",
    "Counts",
    "Event",
    "Machine",
    "Memory",
    "Race",
    "Stream",
]

_COPIES = {"h2d": "uploads", "d2h": "downloads"}
_ALIGNMENT = 512  # of what the driver gives, in bytes
_LARGE = 1 << 24
_MAPPED = 1 << 16  # bytes from which memory that nobody touches is pages of its own
_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0)  # from Python 3.12 on


class Race(AssertionError):
    """Two accesses to the same memory in an order that nothing enforces."""


class Memory:
    """Bytes with the steps that last used them.

    Args:
        nbytes: How many.
        touched: Whether anybody will write them; otherwise they are zeros on no pages.
    """

    def __init__(self, nbytes: int, *, touched: bool = True) -> None:
        whole: Any
        if touched:
            # NaN in every type of floats; but a workspace, which nobody reads, costs nothing
            # untouched.
            fill = np.zeros if nbytes >= _LARGE else lambda n, dtype: np.full(n, 0xFF, dtype)
            whole = fill(nbytes + _ALIGNMENT, np.uint8)
        elif nbytes < _MAPPED:
            whole = np.zeros(nbytes + _ALIGNMENT, np.uint8)
        else:
            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE
            whole = np.frombuffer(mmap.mmap(-1, nbytes + _ALIGNMENT, flags=flags), np.uint8)
        start = -int(whole.ctypes.data) % _ALIGNMENT
        self.raw = whole[start : start + nbytes]
        self.start = int(self.raw.ctypes.data)
        self.write: tuple[str, int, str] | None = None
        self.reads: dict[str, tuple[int, str]] = {}
        self.page_locked = False

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


def _check_unchanged(address: int, data: bytes) -> None:
    """Raise if page-locked memory changed before the host knew that an upload had read it."""
    if ctypes.string_at(address, len(data)) != data:
        raise Race("a write on the host is not ordered behind the upload of the same memory")


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
        self.offset = 0 if pointer is None else pointer.ptr - memory.start
        self.exporter: Any = None  # of another library, whose memory it is
        if pool is not None:
            weakref.finalize(self, pool.append, memory)


class Counts:
    """What a program asked of the devices.

    Attributes:
        launches: Kernels, memory sets and copies within a device; a graph is one.
        graphs: Launches of graphs.
        synchronizations: Waits of the host.
        uploads: Copies from the host.
        downloads: Copies to the host.
    """

    __slots__ = ("downloads", "graphs", "launches", "synchronizations", "uploads")

    def __init__(self) -> None:
        self.launches = self.synchronizations = self.uploads = self.downloads = self.graphs = 0

    @property
    def copies(self) -> int:
        """Copies from or to the host."""
        return self.uploads + self.downloads


class _Here(threading.local):
    """Current device and streams of a thread."""

    device = 0

    def __init__(self) -> None:
        self.devices: list[int] = []  # that were current before
        self.allocators: list[Callable[[int], Any]] = []  # of scopes
        self.streams: list[Stream] = []
        self.contexts: set[int] = set()  # devices whose context the thread has


class Machine:
    """Devices with memory and streams.

    Args:
        devices: How many.
        executes: Whether kernels compute.

    Attributes:
        recorder: Is given every launch, copy and wait; None for nobody.
        capacity: Bytes that each device has.
        reserved: Bytes of each that the driver gave out.
        allocator: What CuPy was told to ask for memory; None for a pool of its own.
        counts: What was asked of the devices so far.
        pins: Whether the driver has page-locked memory to give.
        freed: Devices whose blocks CuPy's own pool was told to free, and ``"pinned"``.
        relayouts: Kernels that read arrays in one order of channels in memory and write them in
            another, each with the shape.
        strided: CuPy's kernels that wrote an array with the channels last, index by index.
        functions: Kernels that the driver launches, by handle.
        graphs: CUDA graphs that exist, by both of their handles.
    """

    def __init__(self, devices: int = 1, *, executes: bool = True) -> None:
        self.devices = devices
        self.executes = executes
        self.recorder: Recorder | None = None
        self.capacity = 1 << 30
        self.reserved: dict[int, int] = {}
        self.allocator: Callable[[int], Any] | None = None
        self.lock = threading.RLock()
        self.host: Clock = {}
        self.here = _Here()
        self.log: list[tuple[Any, ...]] = []
        self.streams: list[Stream] = []
        self.broken: Exception | None = None
        self.pins = True
        self.transfers = 0
        self.counts = Counts()
        self.freed: list[Any] = []
        self.relayouts: list[tuple[str, tuple[int, ...]]] = []
        self.strided: list[str] = []
        self.functions: dict[int, Callable[..., None]] = {}
        self.graphs: weakref.WeakValueDictionary[int, Graph] = weakref.WeakValueDictionary()
        self._bound: dict[type, Any] = {}
        self._pools: dict[tuple[int, str], list[Memory]] = {}
        self._pinned: list[Memory] = []
        self._memories: dict[int, Memory] = {}  # by their addresses
        self._starts: list[int] = []  # those addresses in order

    def bound(self, kind: type) -> Any:
        """Return a class of the double whose instances are this machine's."""
        if kind not in self._bound:
            self._bound[kind] = type(kind.__name__, (kind,), {"_machine": self})
        return self._bound[kind]

    def new_stream(self, non_blocking: bool = False) -> Stream:
        """Return a stream of the current device."""
        stream: Stream = self.bound(Stream)(non_blocking=non_blocking)
        return stream

    def current(self) -> Stream:
        """Return the stream that kernels of this thread go to."""
        assert self.here.streams, "work for the null stream"
        stream = self.here.streams[-1]
        assert stream.device_id == self.here.device, "stream of another device than the current"
        return stream

    def capturing(self) -> bool:
        """Whether the thread's current stream captures."""
        return bool(self.here.streams) and self.here.streams[-1].is_capturing()

    def access(
        self,
        blocks: list[tuple[Block, bool]],
        what: str,
        work: Callable[[], object] | None = None,
        *,
        counted: bool = True,
        behind: Sequence[tuple[Memory, bool]] = (),
        cost: Cost | None = None,
        kernel: KernelCall | None = None,
    ) -> None:
        """Run one kernel on the current stream that reads (False) or writes (True) blocks.

        Args:
            blocks: The blocks of its arrays.
            what: Its name in messages.
            work: What it does.
            counted: Whether it is a launch.
            behind: Memory that it was given the addresses of.
            cost: What it moves and computes, for the recorder.
            kernel: Its launch, if graphs can change the arguments.
        """
        stream = self.current()
        for block, _ in blocks:
            if block.device != stream.device_id:
                raise AssertionError(
                    f"{what} on {stream._name} touches memory of gpu{block.device}"
                )
        memories = [(block.memory, write) for block, write in blocks]
        used = [*memories, *behind]
        self.use(stream, used, what, work, counted=counted, cost=cost, kernel=kernel)

    def cost(
        self, kind: str, sources: Sequence[Any], outputs: Sequence[Any], **more: Any
    ) -> Cost | None:
        """Return `cost_of` NumPy arrays; None if no recorder asks."""
        return None if self.recorder is None else cost_of(kind, sources, outputs, **more)

    def use(
        self,
        stream: Stream,
        memories: list[tuple[Memory, bool]],
        what: str,
        work: Callable[[], object] | None = None,
        *,
        counted: bool = True,
        cost: Cost | None = None,
        kept: Collection[Memory] = (),
        kernel: KernelCall | None = None,
    ) -> int:
        """Check what a step of a stream touches, and run it; count it as a launch.

        Args:
            stream: Where.
            memories: What it reads (False) or writes (True).
            what: Its name in messages.
            work: What it does; without it the caller does that, and no graph can do it again.
            counted: Whether it is a launch.
            cost: What it moves and computes, for the recorder.
            kept: What a device writes and ``work`` leaves as it is, such as a workspace.
            kernel: Its launch, if graphs can change the arguments.

        Nothing is touched while a stream captures: that is checked when the graph is launched.
        """
        with self.lock:  # others see a step only when it is through
            self.counts.launches += counted
            step = stream._step()
            capture = stream._capture
            if self.recorder is not None:
                noted = None if capture is None else capture.launches
                self.recorder.note(stream._name, step, what, cost, noted)
            if capture is not None:
                capture.note(memories, what, work, save=self.executes, kept=kept, kernel=kernel)
            else:
                for memory, write in memories:
                    memory.check(stream._clock, write, what)
                for memory, write in memories:
                    memory.note(stream._name, step, write, what)
            if not self.executes or work is None:
                pass
            elif capture is None:
                work()
            else:
                with np.errstate(all="ignore"):  # memory may hold anything, as nothing runs yet
                    work()
        return step

    def allocate(self, nbytes: int) -> Block:
        """Return a block of the current stream's pool, a used one if there is any."""
        stream = self.current()
        allocator = self.here.allocators[-1] if self.here.allocators else self.allocator
        if allocator is not None and nbytes:
            return self.block_at(allocator(nbytes), nbytes, stream.device_id)
        pool = self._pools.setdefault((stream.device_id, stream._name), [])
        return Block(self._take(pool, nbytes), pool, stream.device_id, None)

    def block_at(self, pointer: Any, nbytes: int, device: int) -> Block:
        """Return the block at an allocator's pointer, which has at least ``nbytes``."""
        memory = self._behind(pointer.ptr)
        assert memory is not None, "an allocator gave an address outside device memory"
        size = memory.raw.size - (pointer.ptr - memory.start)
        assert size >= nbytes, "an allocator gave less than was asked for"
        return Block(memory, None, device, pointer)

    def reserve(self, nbytes: int, device: int) -> Memory:
        """Return new memory of a device.

        Raises:
            CUDARuntimeError: The device has no more.
        """
        with self.lock:
            used = self.reserved.get(device, 0)
            if used + nbytes > self.capacity:
                raise CUDARuntimeError(2)
            self.reserved[device] = used + nbytes
            return self._new(nbytes)

    def _new(self, nbytes: int) -> Memory:
        memory = Memory(nbytes, touched=self.executes)
        self._memories[memory.start] = memory
        insort(self._starts, memory.start)
        return memory

    def free(self, memory: Memory, device: int) -> None:
        """Take back what `reserve` gave: the driver waits for all work that may use it."""
        with self.lock:
            self.reserved[device] -= memory.raw.size
            del self._memories[memory.start]
            self._starts.remove(memory.start)

    def check_alive(self, memories: Iterable[Memory]) -> None:
        """Raise what a kernel ends with that touches memory which the driver took back."""
        with self.lock:
            if any(self._memories.get(memory.start) is not memory for memory in memories):
                raise CUDARuntimeError(700)

    def allocate_pinned(self, nbytes: int) -> Memory:
        """Return page-locked memory; its new owner writes it, so earlier reads must be over."""
        if not self.pins:
            raise CUDARuntimeError(2)
        memory = self._take(self._pinned, nbytes)
        memory.page_locked = True
        memory.check(self.host, True, "staging on the host")
        return memory

    def free_pinned(self, memory: Memory) -> None:
        """Take page-locked memory back."""
        self._pinned.append(memory)

    def _take(self, pool: list[Memory], nbytes: int) -> Memory:
        with self.lock:
            fits = [m for m in pool if nbytes <= m.raw.size <= 4 * max(nbytes, 64)]
            if fits:
                best = min(fits, key=lambda m: m.raw.size)
                pool.remove(best)
                return best
            return self._new(max(nbytes, 1))

    def kind_of(self, address: int) -> int:
        """Return ``cudaMemoryType``: 0 for ordinary memory of the host, 1 pinned, 2 devices'."""
        memory = self._behind(address)
        return 0 if memory is None else 1 if memory.page_locked else 2

    def _behind(self, address: int) -> Memory | None:
        """Return the memory of an address; None for the host's ordinary memory."""
        with self.lock:
            place = bisect_right(self._starts, address) - 1
            memory = self._memories[self._starts[place]] if place >= 0 else None
        inside = memory is not None and address - memory.start < memory.raw.size
        return memory if inside else None

    def copy(self, target: int, source: int, nbytes: int, stream_ptr: int, kind: str) -> None:
        """Copy bytes between addresses as a step of a stream."""
        assert stream_ptr, "a copy on the null stream"
        stream = next(s for s in self.streams if s.ptr == stream_ptr)
        self.transfers += 1
        self.log.append((kind, stream._name))
        into, out_of = self._behind(target), self._behind(source)
        if kind == "h2d":
            pinned = out_of is not None
            assert pinned or not self.pins, "an upload from memory that is not page-locked blocks"
        if kind in _COPIES:
            name = _COPIES[kind]
            setattr(self.counts, name, getattr(self.counts, name) + 1)

        used = [(m, write) for m, write in ((into, True), (out_of, False)) if m is not None]
        cost = Cost("copy", nbytes, nbytes)
        with self.lock:  # the host learns of the step, by any thread, when its end is known
            if kind == "d2h":
                self._copy_to_host(stream, used, target, source, nbytes, cost)
                return
            work = partial(ctypes.memmove, target, source, nbytes)
            step = self.use(stream, used, kind, work, counted=kind not in _COPIES, cost=cost)
            if kind == "h2d" and out_of is not None and stream._capture is None and self.executes:
                read = partial(_check_unchanged, source, ctypes.string_at(source, nbytes))
                stream._deferred.append((step, read))

    def _copy_to_host(
        self, stream: Any, used: Any, target: int, source: int, nbytes: int, cost: Cost
    ) -> None:
        assert stream._capture is None, "a copy to the host in a graph: not known to this double"
        step = self.use(stream, used, "d2h", counted=False, cost=cost)
        if not self.executes:
            ctypes.memset(target, 0, nbytes)
            return
        data = ctypes.string_at(source, nbytes)
        ctypes.memset(target, 0xFF, nbytes)  # the values come when the host has waited, not before
        stream._deferred.append((step, partial(ctypes.memmove, target, data, nbytes)))

    def arrive(self, clock: Clock) -> None:
        """Let the host know what ``clock`` knows, and deliver the copies that end there."""
        with self.lock:
            if self.recorder is not None:
                self.recorder.wait(clock)
            merge(self.host, clock)
            for stream in self.streams:
                known = self.host.get(stream._name, 0)
                for step, deliver in stream._deferred:
                    if step <= known:
                        deliver()
                stream._deferred = [item for item in stream._deferred if item[0] > known]
