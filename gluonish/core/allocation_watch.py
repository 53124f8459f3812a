"""Who allocates how much: watchers hear of every array that a device makes and of its end.

While nobody watches, nothing is there: `watch_allocations` puts another ``empty`` into the classes
of devices, and `unwatch_allocations` takes it out again. Seen are arrays and blocks of memory that
are asked of a `Device`: results of operators, parameters, arenas and states of graphs. Not seen is
what kernels take for themselves for a moment, and what was there before.

``_lock`` guards the list of watchers and the change of the classes; no watcher is called with it
held. An array may end anywhere, also where the garbage collector runs in the middle of something
else. So `Watcher.freed` must take no lock; appending to a deque is fine.
"""

import sys
import weakref
from collections import deque
from collections.abc import Callable
from types import FrameType
from typing import Any, Protocol

import numpy as np

from gluonish.core.context import Context
from gluonish.core.device import DEVICE_CLASSES, Device
from gluonish.core.holders import Holding
from gluonish.core.spec import Shape

_NONE = (0, 0, 0)

# How many callers above the allocation may have the operator that asks.
_DEPTH = 6


class Watcher(Protocol):
    """What is called for each allocation while it watches."""

    def allocated(self, context: Context, nbytes: int, name: str) -> None:
        """Hear of an allocation, in the thread that asks.

        Args:
            nbytes: Bytes of the array.
            name: Operator or Block that asks; ``<block>:arena`` and ``<block>:kept for backward``
                for the memory of a hybridized Block; empty where nobody said.
        """

    def freed(self, context: Context, nbytes: int, name: str) -> None:
        """Hear of the end of one that `allocated` was told of, in any thread at any moment."""


class _Life(weakref.ref[Any]):
    """Sees an array end. It is told from others by identity: arrays have no hash."""

    __slots__ = ("context", "name", "nbytes", "watchers")

    context: Context
    nbytes: int
    name: str
    watchers: tuple[Watcher, ...]

    __hash__ = object.__hash__
    __eq__ = object.__eq__


_watchers: tuple[Watcher, ...] = ()  # replaced by a step
_originals: dict[type, Any] = {}
_reporting: dict[type, Any] = {}  # what takes their place while there are watchers
_lives: set[_Life] = set()


def watch_allocations(watcher: Watcher) -> None:
    """Tell ``watcher`` of all allocations from now on."""
    _change(lambda watchers: (*watchers, watcher))


def unwatch_allocations(watcher: Watcher) -> None:
    """Tell it of nothing more; what it was told of and still lives, it does not hear of again."""
    _change(lambda watchers: tuple(other for other in watchers if other is not watcher))


def _change(change: Callable[[tuple[Watcher, ...]], tuple[Watcher, ...]]) -> None:
    """Replace the watchers, and what devices allocate by; others may do so at the same time."""
    global _watchers
    while True:
        seen = _watchers
        changed = change(seen)
        if _watchers is seen:  # a step
            _watchers = changed
            break
    for kind in tuple(DEVICE_CLASSES):
        if kind not in _reporting:
            original = _originals.setdefault(kind, kind.__dict__["empty"])
            _reporting.setdefault(kind, _watched(kind, original))
        while True:  # until it is as the watchers of now want it
            wanted = _reporting[kind] if _watchers else _originals[kind]
            if kind.__dict__["empty"] is wanted:
                break
            kind.empty = wanted  # type: ignore[attr-defined]  # classes of devices


def _watched(kind: type, original: Any) -> Any:
    """Return an ``empty`` that reports."""

    def empty(self: Device, shape: Shape, dtype: np.dtype[Any]) -> Any:
        raw = original.__get__(self, kind)(shape, dtype)  # a method, or a static one
        _report(self.context, raw, sys._getframe(1))
        return raw

    return empty


def _report(context: Context, raw: Any, caller: FrameType) -> None:
    watchers, nbytes = _watchers, int(raw.nbytes)
    if not watchers or not nbytes:
        return
    life = _Life(raw, _ended)
    life.context, life.nbytes, life.watchers = context, nbytes, watchers
    life.name = _asking(caller)
    _lives.add(life)
    for watcher in watchers:
        watcher.allocated(context, nbytes, life.name)


def _ended(life: Any) -> None:
    _lives.discard(life)
    for watcher in life.watchers:
        if watcher in _watchers:
            watcher.freed(life.context, life.nbytes, life.name)


def _asking(frame: FrameType | None) -> str:
    """Return the name of who asks: ``owner`` or the operator of a call above."""
    for _ in range(_DEPTH):
        if frame is None:
            break
        names = frame.f_code.co_varnames
        if "owner" in names or "op" in names:  # all variables at once take ten times as long
            scope = frame.f_locals
            found = scope.get("owner") or getattr(scope.get("op"), "name", None)
            if isinstance(found, str):
                return found
        frame = frame.f_back
    return ""


class AllocationTally:
    """Watcher that keeps the sums: bytes that live, by device and name, and the most at once.

    Invariant: frees only go on a queue, which whoever comes next works off. There is no lock, as a
    destructor may make arrays anywhere: numbers are added in place, with no call between reading
    and writing one.
    """

    def __init__(self) -> None:
        self._frees: deque[tuple[Context, str, int]] = deque()
        self._live: dict[tuple[Context, str], list[int]] = {}  # bytes, and how many arrays
        self._sums: dict[Context, list[int]] = {}  # now, at most, and in all

    def __enter__(self) -> "AllocationTally":
        watch_allocations(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        unwatch_allocations(self)

    def allocated(self, context: Context, nbytes: int, name: str) -> None:
        """Add an allocation."""
        self._work_off()
        self._add(context, name, nbytes, 1)

    def freed(self, context: Context, nbytes: int, name: str) -> None:
        """Subtract one."""
        self._frees.append((context, name, nbytes))

    def nbytes(self, context: Context) -> int:
        """Return the bytes on a device that live now."""
        self._work_off()
        return self._sums.get(context, _NONE)[0]

    def peak(self, context: Context) -> int:
        """Return the most bytes that lived at once on a device."""
        return self._sums.get(context, _NONE)[1]

    def total(self, context: Context) -> int:
        """Return the bytes of all allocations on a device."""
        return self._sums.get(context, _NONE)[2]

    def holdings(self) -> list[Holding]:
        """Return what lives now, the largest first."""
        self._work_off()
        live = tuple(self._live.items())
        found = [Holding(*key, *sums) for key, sums in live if sums[1]]
        return sorted(found, key=lambda holding: -holding.nbytes)

    def _work_off(self) -> None:
        while True:
            try:  # a loop turns where others may come: no look before it is taken out
                context, name, nbytes = self._frees.popleft()
            except IndexError:
                return
            self._add(context, name, -nbytes, -1)

    def _add(self, context: Context, name: str, nbytes: int, count: int) -> None:
        live = self._live.setdefault((context, name), [0, 0])
        live[0] += nbytes
        live[1] += count
        sums = self._sums.setdefault(context, [0, 0, 0])
        sums[0] += nbytes
        if nbytes > 0:
            sums[2] += nbytes
            if sums[0] > sums[1]:
                sums[1] = sums[0]
