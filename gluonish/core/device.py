"""Devices: how arrays are allocated, filled and copied where a context points.

Every context has one `Device`, found by `device_of`. The CPU's arrays are NumPy's; a GPU's are
CuPy's and its module is imported at the first use of a ``gpu`` context.

``_lock`` guards the making of devices and the list of watchers; devices already made are read
without it.
"""

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, Literal, Protocol, cast

import numpy as np

from gluonish.core.context import Context, cache_owners, cpu, gpu, memory_readers
from gluonish.core.cpu_memory import (
    MemoryInfo,
    keep_freed_memory,
    memory_info,
    release_freed_memory,
)
from gluonish.core.hooks import make_gpu_support
from gluonish.core.spec import Shape
from gluonish_engine import Stream

Lane = tuple[str, int, str]
Platform = Literal["cpu", "gpu"]


class StoredKey(Protocol):
    """Where the random numbers of repeated launches start, in memory of their device."""

    def set(self, xp: ModuleType, key: tuple[int, int], /) -> None:
        """Store a key for the launches to come, on the current stream."""


class Replay(Protocol):
    """Launches that can be done once more by one call, on the memory that they had."""

    def launch(self) -> bool:
        """Do them; False, and nothing was launched, where that cannot be any more."""
        raise NotImplementedError


class Graphs(Protocol):
    """What captures launches of a device (CUDA graphs).

    Attributes:
        shortages: How often there was too little memory for that.
    """

    shortages: int

    def here(self) -> bool:
        """Whether launches can be captured and repeated on the current stream."""
        raise NotImplementedError

    def capture(self, run: Callable[[], None], /) -> Replay | None:
        """Return what ``run`` launches, without executing it; None where that cannot be now.

        Raises:
            Exception: What ``run`` does cannot be captured; nothing was executed.
        """

    def copy(self, target: Any, source: Any, /) -> None:
        """Copy an array to another one without gaps of its size, on the current stream."""

    def new_key(self) -> StoredKey:
        """Return room for a key; a kernel takes it in place of the seed."""
        raise NotImplementedError


class Device(Protocol):
    """Memory and array library of one context.

    Attributes:
        context: The context.
        xp: NumPy or CuPy; kernels are written for either.
        platform: Which back ends have kernels for its arrays. Only `gluonish.kernels` compares it
            with a name; others pass it on.
        is_host: Whether its arrays are NumPy's, in memory that the processor reads.
        lane: Engine lane of its compute work.
        copy_lane: Engine lane of copies that end here.
        ahead_lane: Engine lane of copies into arrays that `empty_ahead` gave.
        priority_lane: Engine lane of work that must not wait behind compute: a kvstore's sums.
        streams: The lanes of it that launch on a stream, with the stream; none for a CPU.
    """

    context: Context
    xp: ModuleType
    platform: Platform
    is_host: bool
    lane: Lane
    copy_lane: Lane
    ahead_lane: Lane
    priority_lane: Lane
    streams: Mapping[Lane, Stream]

    @property
    def graphs(self) -> Graphs | None:
        """What captures its launches (CUDA graphs); None for a CPU."""
        raise NotImplementedError

    def empty(self, shape: Shape, dtype: np.dtype[Any], /) -> Any:
        """Return an array of undefined values here.

        Raises:
            MemoryError: There is no memory for it.
        """

    def empty_ahead(self, shape: Shape, dtype: np.dtype[Any], /) -> Any:
        """Return an array that a copy on ``ahead_lane`` fills before any other use of it.

        None where that gains nothing: then `empty` and the other lanes serve.

        Raises:
            MemoryError: There is no memory for it.
        """

    def empty_beside(self, shape: Shape, dtype: np.dtype[Any], /) -> Any:
        """Return an array that the priority lane can use at once, and nothing else may use.

        Raises:
            MemoryError: There is no memory for it.
        """

    def from_host(self, source: np.ndarray[Any, Any], out: Any, *, stays: bool = False) -> None:
        """Copy a host array into ``out``, which lies here, converting its dtype.

        On a device with streams this belongs into an engine operation; ``source`` may change when
        it returns, unless it ``stays`` as it is until that operation is done.
        """

    def from_peer(self, source: Any, out: Any) -> None:
        """Copy an array of this device, or one of its kind, into ``out``, converting its dtype."""

    def to_host(
        self, source: Any, out: np.ndarray[Any, Any] | None = None, /
    ) -> np.ndarray[Any, Any]:
        """Return a copy on the host of an array here whose values the engine has waited for.

        Only devices with streams know ``out``: contiguous host memory of its dtype and shape, which
        they fill instead of new memory.
        """
        raise NotImplementedError

    def to_dlpack(self, raw: Any, /, **options: Any) -> Any:
        """Return a DLPack capsule over an array here that nobody reads or writes any more."""

    def note(self, name: str) -> None:
        """Say which operator of a launch comes next, for messages; only where there are streams."""

    def empty_cache(self) -> None:
        """Give memory that is kept for later arrays back to the driver."""

    def memory_info(self) -> MemoryInfo:
        """Return how much memory there is, and what of it is used."""
        raise NotImplementedError


_Empty = Callable[[Shape, np.dtype[Any]], Any]
_Copy = Callable[..., np.ndarray[Any, Any]]


class CPUDevice:
    """A CPU context: NumPy arrays in ordinary memory, which the C library keeps for later ones."""

    __slots__ = (
        "ahead_lane",
        "context",
        "copy_lane",
        "graphs",
        "is_host",
        "lane",
        "platform",
        "priority_lane",
        "streams",
        "xp",
    )

    # Not methods around them: every operator's call, and every result that is read, comes here.
    empty = staticmethod(cast(_Empty, np.empty))
    to_host = staticmethod(cast(_Copy, np.ndarray.copy))

    def __init__(self, context: Context) -> None:
        keep_freed_memory()
        self.context = context
        self.xp: ModuleType = np
        self.platform: Platform = "cpu"
        self.is_host = True
        self.lane: Lane = ("cpu", context.device_id, "compute")
        self.copy_lane: Lane = ("cpu", context.device_id, "copy")
        self.ahead_lane: Lane = self.copy_lane
        self.priority_lane: Lane = ("cpu", context.device_id, "priority")
        self.streams: Mapping[Lane, Stream] = {}
        self.graphs: Graphs | None = None

    def empty_ahead(self, shape: Shape, dtype: np.dtype[Any]) -> None:
        """Return nothing: a copy on the host needs no care."""

    def empty_beside(self, shape: Shape, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
        """Return an array of undefined values."""
        raw: np.ndarray[Any, Any] = self.empty(shape, dtype)
        return raw

    def from_host(self, source: np.ndarray[Any, Any], out: Any, *, stays: bool = False) -> None:
        """Copy ``source`` into ``out``, converting its dtype."""
        np.copyto(out, source, casting="unsafe")

    def from_peer(self, source: Any, out: Any) -> None:
        """Copy ``source`` into ``out``, converting its dtype."""
        out[...] = source

    def to_dlpack(self, raw: Any, /, **options: Any) -> Any:
        """Return a DLPack capsule over an array, with NumPy's options."""
        return raw.__dlpack__(**options)

    def note(self, name: str) -> None:
        """Do nothing: an operator here fails where it runs."""

    def empty_cache(self) -> None:
        """Give memory that is kept for later arrays back to the system."""
        release_freed_memory()

    def memory_info(self) -> MemoryInfo:
        """Return the memory of the machine and of this process."""
        return memory_info()


# Classes whose ``empty`` allocates; who watches allocations puts another there for that time.
DEVICE_CLASSES: list[type] = [CPUDevice]

# Invariant: of several threads that make the device of one context at once, the first puts its own
# into ``_made``, and all tell the watchers of that one before they put it into ``_devices``.
_made: dict[Context, Device] = {}
_devices: dict[Context, Device] = {}
_watchers: list[Callable[[Device], None]] = []


def device_of(context: Context) -> Device:
    """Return the device of a context, making it at the first use.

    Raises:
        DeviceError: A GPU is asked for and CuPy or the device is missing; the message says what
            to install.
    """
    found = _devices.get(context)
    return _add_device(context) if found is None else found


def _add_device(context: Context) -> Device:
    """Make the device of a context; who watches hears of it before anybody uses it."""
    found = _made.get(context)
    if found is None:
        found = _made.setdefault(context, _make_device(context))
    for watcher in tuple(_watchers):
        watcher(found)
    return _devices.setdefault(context, found)


def device_of_library(xp: ModuleType) -> Device:
    """Return the device on which a kernel runs that is given an array library.

    Args:
        xp: NumPy, or CuPy while one of its devices is current.
    """
    return device_of(cpu() if xp is np else gpu(xp.cuda.runtime.getDevice()))


def watch_devices(watcher: Callable[[Device], None]) -> None:
    """Call ``watcher`` with every device: now those there are, later new ones before their use.

    It may hear of a device more than once.
    """
    _watchers.append(watcher)
    for device in tuple(_made.values()):
        watcher(device)


class GPUSupport(Protocol):
    """What the CuPy back end offers; it lies above, and loads when a GPU is asked for."""

    def make_device(self, context: Context) -> Device:
        """Return the device of a GPU context."""
        raise NotImplementedError

    def make_pinned(self, context: Context) -> Device | None:
        """Return the device of a context of page-locked host memory; None where no GPU is."""
        raise NotImplementedError

    def count(self) -> int:
        """Return how many GPUs there are, 0 without CuPy."""
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
    """Return how many GPUs there are, 0 without CuPy."""
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
