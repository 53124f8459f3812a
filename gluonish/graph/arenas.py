"""Arenas: memory that the executables of one plan take in turn, call after call.

A forward and a backward pass never need their intermediate values at once, so both lie in one
arena. Invariant: an `Arena` belongs to one call from `Arenas.take` to `Arenas.give`, both single
steps of the interpreter.
"""

from collections import deque
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary, ref

from gluonish.core.config import MXNET_EXEC_NUM_TEMP
from gluonish.core.context import Context
from gluonish.core.device import Device
from gluonish.core.dtype import UINT8
from gluonish.core.memory_owners import Holder, describe_holders
from gluonish.core.out_of_memory import empty_or_refuse
from gluonish.graph.idle_memory import drop_idle, used
from gluonish.graph.memory_plan import ALIGNMENT
from gluonish.graph.steps import Frame

# More calls at once than this allocate; keeps memory bounded after a burst. Of large arenas, the
# environment says how many.
_MAX_SMALL_IDLE = 8
_SMALL_NBYTES = 32 << 20


class Arena:
    """Bytes, and the frames' tails that executables have made on them.

    Attributes:
        raw: The bytes.
        owner: Who has them, in words, and where.
        tails: By the executable's number, of those that use no state.
    """

    __slots__ = ("__weakref__", "_tails_on_states", "owner", "raw", "tails")

    def __init__(self, raw: Any, owner: tuple[Context, str] | None = None) -> None:
        self.raw = raw
        self.owner = owner
        self.tails: dict[int, Frame] = {}
        self._tails_on_states: WeakKeyDictionary[object, dict[int, Frame]] = WeakKeyDictionary()

    def tails_on(self, state: object) -> dict[int, Frame]:
        """Return the tails on the arena and a state, by the executable's number.

        They go with the state: they hold the state's bytes, but not the state.
        """
        tails = self._tails_on_states.get(state)
        if tails is None:
            tails = self._tails_on_states[state] = {}
        return tails


class Arenas:
    """The arenas of a plan.

    Between calls, it keeps up to 8 of them, of large ones as many as ``MXNET_EXEC_NUM_TEMP`` says
    when the plan is made.

    Args:
        device: Where they lie.
        keep: Whether to keep them for good; else those of all plans together are bounded, see
            `gluonish.graph.idle_memory`.
        name: Of the Block.
    """

    __slots__ = ("_device", "_drop", "_idle", "_keep", "_members", "_most", "_name", "_nbytes")

    def __init__(self, device: Device, *, keep: bool, name: str = "graph") -> None:
        self._device = device
        self._name = name
        self._keep = keep
        self._idle: deque[Arena] = deque()
        self._drop = partial(drop_idle, ref(self._idle))
        self._members = 0
        self._most = _MAX_SMALL_IDLE
        self._nbytes = 0

    def join(self, nbytes: int) -> int:
        """Have arenas of at least so many bytes from now on; return a number for the executable."""
        self._nbytes = max(self._nbytes, nbytes)
        if self._nbytes > _SMALL_NBYTES:
            self._most = MXNET_EXEC_NUM_TEMP.value if self._keep else 0
        self._members += 1
        return self._members - 1

    def take(self) -> Arena:
        """Return an arena that no other call uses."""
        try:
            arena = self._idle.pop()
        except IndexError:
            owner = f"{self._name}:arena"
            raw = aligned_empty(self._device, self._nbytes, owner)
            arena = Arena(raw, (self._device.context, owner))
        if self._most and not self._keep:
            used(arena, self._nbytes, self._drop)
        return arena

    def give(self, arena: Arena) -> None:
        """Take an arena back after a call."""
        if len(self._idle) < self._most:
            self._idle.append(arena)


def aligned_empty(device: Device, nbytes: int, owner: str) -> Any:
    """Return new bytes on a device that start at a cache line.

    Args:
        nbytes: How many.
        owner: Who asks, for messages and who watches allocations.

    Raises:
        OutOfMemoryError: There is no memory for them.
    """
    if not (device.is_host and nbytes):
        return empty_or_refuse(device, (nbytes,), UINT8, owner)
    raw = empty_or_refuse(device, (nbytes + ALIGNMENT,), UINT8, owner)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + nbytes]


def _holder(arena: Arena) -> list[Holder]:
    return [] if arena.owner is None else [Holder(*arena.owner, [arena.raw])]


describe_holders(Arena, _holder)
