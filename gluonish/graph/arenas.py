"""Arenas: memory that the executables of one plan share, call after call.

A forward and a backward pass never need their intermediate values at once, so both use one arena.
Invariant: an `Arena` belongs to one call from `Arenas.acquire` to `Arenas.release`; each changes
the queue in one bytecode instruction.

A call releases its arena when its launches are made, not when they are done. On one stream the
next call's launches run after them. On a device with several compute streams, a call therefore
uses only an arena that was last used on its own stream.
"""

from collections import deque
from collections.abc import Hashable
from contextlib import suppress
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np

from gluonish.core.config import MXNET_EXEC_NUM_TEMP
from gluonish.core.context import Context
from gluonish.core.cpu_memory import release_freed_memory
from gluonish.core.device import Device
from gluonish.core.dtype import UINT8
from gluonish.core.memory_owners import MemoryOwner, register_memory_owner
from gluonish.core.out_of_memory import empty_or_raise
from gluonish.graph.idle_memory import drop_idle, mark_used
from gluonish.graph.instructions import Values
from gluonish.graph.memory_plan import ALIGNMENT
from gluonish.ndarray.slabs import LARGE_NBYTES, small_pages

# Idle arenas of a plan, so that memory stays bounded after a burst of calls. MXNET_EXEC_NUM_TEMP
# limits large arenas.
_MAX_SMALL_IDLE = 8
_SMALL_NBYTES = 32 << 20
# From this size on, an arena has the heap release as many bytes that it holds freed: an arena is no
# part of the heap, and cannot reuse them.
_RELEASING_NBYTES = 64 << 20


class Arena:
    """The bytes of intermediate values, and the static views of executables on them.

    Attributes:
        owner: Context, and the name that profiles and messages show for the memory.
        static_views: Views of executables without a state, by number of the executable.
        stream: The compute stream of the last use, on a device with several streams.
    """

    __slots__ = ("__weakref__", "_views_on_states", "owner", "raw", "static_views", "stream")

    def __init__(self, raw: Any, owner: tuple[Context, str] | None = None) -> None:
        self.raw = raw
        self.owner = owner
        self.stream: Hashable = None
        self.static_views: dict[int, Values] = {}
        self._views_on_states: WeakKeyDictionary[object, dict[int, Values]] = WeakKeyDictionary()

    def static_views_on(self, state: object) -> dict[int, Values]:
        """Return the static views on the arena and a state, by number of the executable.

        The views refer to the bytes of the state, but not to the state, and are freed with it.
        """
        views = self._views_on_states.get(state)
        if views is None:
            views = self._views_on_states[state] = {}
        return views


class Arenas:
    """A pool of the arenas of one plan.

    Up to 8 arenas are kept between calls; of large arenas as many as ``MXNET_EXEC_NUM_TEMP`` was
    when the plan was made.

    Args:
        device: The device that the arenas are allocated on.
        keep: Whether arenas live as long as the plan; otherwise `gluonish.graph.idle_memory` bounds
            the idle memory of all plans together.
        name: Name of the Block.
    """

    __slots__ = (
        "_current_stream",
        "_device",
        "_drop",
        "_idle",
        "_keep",
        "_members",
        "_most",
        "_name",
        "_nbytes",
    )

    def __init__(self, device: Device, *, keep: bool, name: str = "graph") -> None:
        self._device = device
        self._name = name
        self._keep = keep
        self._current_stream = device.current_stream if device.stream_count > 1 else None
        self._idle: deque[Arena] = deque()
        self._drop = partial(drop_idle, ref(self._idle))
        self._members = 0
        self._most = _MAX_SMALL_IDLE
        self._nbytes = 0

    def join(self, nbytes: int) -> int:
        """Make later arenas at least ``nbytes`` large, and return a number for the executable."""
        self._nbytes = max(self._nbytes, nbytes)
        if self._nbytes > _SMALL_NBYTES:
            self._most = MXNET_EXEC_NUM_TEMP.value if self._keep else 0
        self._members += 1
        return self._members - 1

    def acquire(self) -> Arena:
        """Return an arena that no other call uses; to be called by a job of the call."""
        try:
            if self._current_stream is None:
                arena = self._idle.pop()
            else:
                arena = self._pop_used_on(self._current_stream())
        except IndexError:
            owner = f"{self._name}:arena"
            raw = aligned_empty(self._device, self._nbytes, owner, lasting=self._keep)
            arena = Arena(raw, (self._device.context, owner))
        if self._most and not self._keep:
            mark_used(arena, self._nbytes, self._drop)
        return arena

    def release(self, arena: Arena) -> None:
        """Make an arena available to later calls; to be called by the last job of the call."""
        most = self._most
        if self._current_stream is not None:
            arena.stream = self._current_stream()
            most *= self._device.stream_count
        if len(self._idle) < most:
            self._idle.append(arena)

    def _pop_used_on(self, stream: Hashable) -> Arena:
        """Remove and return an idle arena that was last used on a stream.

        Raises:
            IndexError: There is no such arena.
        """
        for arena in tuple(self._idle):
            if arena.stream == stream and drop_idle(ref(self._idle), arena):
                return arena
        raise IndexError


def aligned_empty(device: Device, nbytes: int, owner: str, *, lasting: bool = False) -> Any:
    """Allocate bytes that start at a cache line.

    Args:
        owner: Name of the allocation in messages and profiles.
        lasting: Whether it lives as long as a plan; then memory need not be cached when freed.

    Raises:
        OutOfMemoryError: There is not enough memory.
    """
    if not (device.is_host and nbytes):
        return empty_or_raise(device, (nbytes,), UINT8, owner)
    is_observed = device.empty is not np.empty
    if lasting and nbytes >= LARGE_NBYTES and not is_observed:
        with suppress(MemoryError):
            if nbytes >= _RELEASING_NBYTES:
                release_freed_memory(_RELEASING_NBYTES)
            return small_pages((nbytes,), UINT8, join=True)
    raw = empty_or_raise(device, (nbytes + ALIGNMENT,), UINT8, owner)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + nbytes]


def _holder(arena: Arena) -> list[MemoryOwner]:
    return [] if arena.owner is None else [MemoryOwner(*arena.owner, [arena.raw])]


register_memory_owner(Arena, _holder)
