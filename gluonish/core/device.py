"""Devices: allocate, fill and copy the arrays of a context.

Every context has one `Device`, returned by `device_of`. The CPU's arrays are NumPy's; a GPU's are
CuPy's, which is imported at the first use of a ``gpu`` context.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from types import ModuleType
from typing import Any, Literal, Protocol, cast

import numpy as np

from gluonish.core.context import Context, cache_owners, cpu, gpu, memory_readers
from gluonish.core.cpu_memory import (
    MemoryInfo,
    cache_freed_memory,
    memory_info,
    release_freed_memory,
)
from gluonish.core.hooks import make_gpu_support
from gluonish.core.spec import Shape, Spec
from gluonish_engine import Stream

Lane = tuple[str, int, str]
Platform = Literal["cpu", "gpu"]


class StoredKey(Protocol):
    """Random key in device memory, which captured launches read each time they are repeated."""

    def set(self, xp: ModuleType, key: tuple[int, int], /) -> None:
        """Store a key for the next launches, on the current stream."""


class MovingArray(Protocol):
    """An array that a replay reads at an address that can be changed.

    Attributes:
        address: The address that the next launch of the replay reads.
        is_usable: Whether the replay may be launched; false after the device refused a change.
    """

    address: int
    is_usable: bool

    def read(self, array: Any, /) -> bool:
        """Have later launches read a contiguous array of the same shape and dtype.

        Returns:
            False if they have to read a copy of it, or the device refuses the change.
        """
        raise NotImplementedError


class Replay(Protocol):
    """Captured kernel launches, which one call repeats on the same memory.

    Attributes:
        is_outgrown: Whether it was dropped, so that its memory can be replaced; a new capture of
            the launches uses the new memory.
        moves: Arrays of the caller that it reads where they are, by the caller's index.
    """

    is_outgrown: bool
    moves: dict[int, MovingArray]

    def launch(self) -> bool:
        """Repeat the launches; return False, without launching, if that is no longer possible."""
        raise NotImplementedError


class Graphs(Protocol):
    """Captures the kernel launches of a device (CUDA graphs).

    Attributes:
        shortages: Number of captures that ran out of memory.
    """

    shortages: int

    def can_capture(self) -> bool:
        """Whether launches can be captured and repeated on the current stream."""
        raise NotImplementedError

    def capture(self, run: Callable[[], None], /) -> Replay | None:
        """Capture the launches of ``run`` without executing them; None if not possible now.

        Raises:
            Exception: The work of ``run`` cannot be captured; nothing was executed.
        """

    def is_worth_moving(self, nbytes: int, /) -> bool:
        """Whether a replay should read an array of this size where it is, instead of a copy."""
        raise NotImplementedError

    def find_moving(
        self,
        replay: Any,
        run: Callable[[], None],
        array: Any,
        moved: Any,
        written: Sequence[Any],
        /,
    ) -> MovingArray | None:
        """Return an array that a replay can read at other addresses; None if it must be copied.

        Args:
            replay: The replay of the work on ``array``, which it only reads.
            run: The same work on ``moved``, to be captured without executing it.
            written: Arrays of the caller that the work writes.
        """
        raise NotImplementedError

    def settings(self) -> Hashable:
        """Settings that kernels read when they launch; a replay keeps those of its capture.

        A call with other settings needs a separate replay.
        """

    def copy(self, target: Any, source: Any, /) -> None:
        """Copy a contiguous array to another of its size, on the current stream."""

    def new_key(self) -> StoredKey:
        """Allocate a key, which a kernel accepts in place of the seed."""
        raise NotImplementedError


class PreparedLaunch(Protocol):
    """The launch of a repeated call of an operator."""

    @property
    def spec(self) -> Spec:
        """Shape and dtype of the output."""
        raise NotImplementedError

    @property
    def restore(self) -> Callable[[Any], object]:
        """Function that takes the arguments of a launch back, behind the launch."""
        raise NotImplementedError

    def bind(self, *inputs: Any) -> tuple[Any, Any] | None:
        """Return a new output, and a tuple of its launch and the launch's arguments.

        None if the operator is to be run in the usual way.
        """
        raise NotImplementedError


# By the specs of the inputs and the attributes; a look-up counts a call.
PreparedLaunches = Mapping[tuple[Hashable, ...], PreparedLaunch | None]


class Device(Protocol):
    """Memory and array library of one context.

    Attributes:
        context: The context.
        xp: NumPy or CuPy; kernels are written for either.
        platform: Selects the back ends of its kernels. Only `gluonish.kernels` compares it with a
            name; others pass it on.
        is_host: Whether its arrays are NumPy's, in host memory.
        lane: Engine lane of its compute work.
        copy_lane: Engine lane of copies to this device.
        prefetch_lane: Engine lane of prefetching copies, into arrays of `empty_prefetch`.
        priority_lane: Engine lane of work that must not wait behind compute: a kvstore's sums.
        streams: Its stream lanes, with their streams; empty for a CPU.
        stream_count: Number of streams that share the compute work of ``lane``; 0 for a CPU.
    """

    context: Context
    xp: ModuleType
    platform: Platform
    is_host: bool
    lane: Lane
    copy_lane: Lane
    prefetch_lane: Lane
    priority_lane: Lane
    streams: Mapping[Lane, Stream]
    stream_count: int

    @property
    def launches(self) -> Mapping[Any, PreparedLaunches | None] | None:
        """Prepared launches of repeated calls, by operator; None for a CPU."""
        raise NotImplementedError

    def current_stream(self) -> Hashable:
        """Identity of the stream that launches of this thread go to; None for a CPU."""

    @property
    def graphs(self) -> Graphs | None:
        """Captures this device's launches (CUDA graphs); None for a CPU."""
        raise NotImplementedError

    def empty(self, shape: Shape, dtype: np.dtype[Any], /) -> Any:
        """Return an uninitialized array.

        Raises:
            MemoryError: There is no memory for it.
        """

    def empty_prefetch(self, shape: Shape, dtype: np.dtype[Any], /) -> Any:
        """Return an array that a copy on ``prefetch_lane`` fills before any other use.

        None if prefetching gains nothing: then use `empty` and the other lanes.

        Raises:
            MemoryError: There is no memory for it.
        """

    def empty_priority(self, shape: Shape, dtype: np.dtype[Any], /) -> Any:
        """Return an array for the priority lane only, which can use it at once.

        Raises:
            MemoryError: There is no memory for it.
        """

    def from_host(self, source: np.ndarray[Any, Any], out: Any, *, constant: bool = False) -> None:
        """Copy a host array into ``out`` on this device, converting its dtype.

        On a device with streams, call it in an engine operation. ``source`` may be modified when it
        returns, unless ``constant`` promises that it is constant until the operation is done.
        """

    def from_peer(self, source: Any, out: Any) -> None:
        """Copy an array of this device, or of one of the same type, converting its dtype."""

    def to_host(
        self, source: Any, out: np.ndarray[Any, Any] | None = None, /
    ) -> np.ndarray[Any, Any]:
        """Return a host copy of an array that the engine has waited for.

        Only devices with streams support ``out``: contiguous host memory of its dtype and shape to
        fill.
        """
        raise NotImplementedError

    def to_dlpack(self, raw: Any, /, **options: Any) -> Any:
        """Return a DLPack capsule of an array without pending reads or writes."""

    def note(self, name: str) -> None:
        """Set the name of the next launched operator, for messages; only with streams."""

    def empty_cache(self) -> None:
        """Release cached memory to the driver."""

    def memory_info(self) -> MemoryInfo:
        """Return the device's memory in bytes."""
        raise NotImplementedError


_Empty = Callable[[Shape, np.dtype[Any]], Any]
_Copy = Callable[..., np.ndarray[Any, Any]]


class CPUDevice:
    """A CPU context: NumPy arrays in ordinary memory, which the C library caches."""

    __slots__ = (
        "context",
        "copy_lane",
        "graphs",
        "is_host",
        "lane",
        "launches",
        "platform",
        "prefetch_lane",
        "priority_lane",
        "stream_count",
        "streams",
        "xp",
    )

    # Not wrapped in methods, because they are on the hot path.
    empty = staticmethod(cast(_Empty, np.empty))
    to_host = staticmethod(cast(_Copy, np.ndarray.copy))

    def __init__(self, context: Context) -> None:
        cache_freed_memory()
        self.context = context
        self.xp: ModuleType = np
        self.platform: Platform = "cpu"
        self.is_host = True
        self.lane: Lane = ("cpu", context.device_id, "compute")
        self.copy_lane: Lane = ("cpu", context.device_id, "copy")
        self.prefetch_lane: Lane = self.copy_lane
        self.priority_lane: Lane = ("cpu", context.device_id, "priority")
        self.streams: Mapping[Lane, Stream] = {}
        self.launches: Mapping[Any, PreparedLaunches | None] | None = None
        self.stream_count = 0
        self.graphs: Graphs | None = None

    def current_stream(self) -> None:
        """Return None: there are no streams."""

    def empty_prefetch(self, shape: Shape, dtype: np.dtype[Any]) -> None:
        """Return None: prefetching gains nothing on the host."""

    def empty_priority(self, shape: Shape, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
        """Return an uninitialized array."""
        raw: np.ndarray[Any, Any] = self.empty(shape, dtype)
        return raw

    def from_host(self, source: np.ndarray[Any, Any], out: Any, *, constant: bool = False) -> None:
        """Copy ``source`` into ``out``, converting its dtype."""
        np.copyto(out, source, casting="unsafe")

    def from_peer(self, source: Any, out: Any) -> None:
        """Copy ``source`` into ``out``, converting its dtype."""
        out[...] = source

    def to_dlpack(self, raw: Any, /, **options: Any) -> Any:
        """Return a DLPack capsule of an array, with NumPy's options."""
        return raw.__dlpack__(**options)

    def note(self, name: str) -> None:
        """Do nothing: operators on a CPU fail synchronously."""

    def empty_cache(self) -> None:
        """Release cached memory to the system."""
        release_freed_memory()

    def memory_info(self) -> MemoryInfo:
        """Return the memory of the machine and of this process."""
        return memory_info()


# Classes whose ``empty`` `gluonish.core.allocation_observers` replaces while there are observers.
DEVICE_CLASSES: list[type] = [CPUDevice]

# Invariant: if several threads make the device of one context at once, the first one stores its
# device in ``_made``, and all report that one to the observers before they store it in
# ``_devices``.
_made: dict[Context, Device] = {}
_devices: dict[Context, Device] = {}
_observers: list[Callable[[Device], None]] = []


def device_of(context: Context) -> Device:
    """Return the device of a context, created at the first use.

    Raises:
        DeviceError: For a GPU: CuPy or the device is missing; the message says what to install.
    """
    found = _devices.get(context)
    return _add_device(context) if found is None else found


def _add_device(context: Context) -> Device:
    """Create the device of a context, and report it to the observers before its first use."""
    found = _made.get(context)
    if found is None:
        found = _made.setdefault(context, _make_device(context))
    for observer in tuple(_observers):
        observer(found)
    return _devices.setdefault(context, found)


def device_of_library(xp: ModuleType) -> Device:
    """Return the CPU for NumPy, the current GPU for CuPy."""
    return device_of(cpu() if xp is np else gpu(xp.cuda.runtime.getDevice()))


def observe_devices(observer: Callable[[Device], None]) -> None:
    """Call ``observer`` with every device: existing ones now, new ones before their first use.

    A device may be reported more than once.
    """
    _observers.append(observer)
    for device in tuple(_made.values()):
        observer(device)


class GPUSupport(Protocol):
    """Interface of the CuPy back end, which is loaded at the first use of a GPU."""

    def make_device(self, context: Context) -> Device:
        """Return the device of a GPU context."""
        raise NotImplementedError

    def make_pinned(self, context: Context) -> Device | None:
        """Return the device of a context of page-locked host memory; None without GPUs."""
        raise NotImplementedError

    def count(self) -> int:
        """Return the number of GPUs, 0 without CuPy."""
        raise NotImplementedError

    def memory(self, device_id: int) -> tuple[int, int]:
        """Return free and total memory in bytes."""
        raise NotImplementedError

    def capability(self, device_id: int) -> int:
        """Return the compute capability, as 90 for 9.0."""
        raise NotImplementedError


_gpu_support: list[GPUSupport] = []


def _support() -> GPUSupport:
    if not _gpu_support:
        _gpu_support[:] = [make_gpu_support()]
    return _gpu_support[0]


def gpu_count() -> int:
    """Return the number of GPUs, 0 without CuPy."""
    return _support().count()


def gpu_memory(device_id: int) -> tuple[int, int]:
    """Return free and total memory of a GPU, in bytes.

    Raises:
        DeviceError: CuPy or the device is missing.
    """
    return _support().memory(device_id)


def gpu_capability(device_id: int) -> int:
    """Return the compute capability of a GPU, as 90 for 9.0.

    Raises:
        DeviceError: CuPy or the device is missing.
    """
    return _support().capability(device_id)


def _make_device(context: Context) -> Device:
    if context.is_gpu:
        return _support().make_device(context)
    pinned = None
    if context.device_type == "cpu_pinned":
        pinned = _support().make_pinned(context)
    return pinned or CPUDevice(context)


def _empty_cache(context: Context) -> None:
    device_of(context).empty_cache()


cache_owners.append(_empty_cache)


def _memory_info(context: Context) -> MemoryInfo:
    return device_of(context).memory_info()


memory_readers.append(_memory_info)
