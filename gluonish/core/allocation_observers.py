"""Observers of allocations: called for every array that a device allocates, and when it is freed.

`observe_allocations` replaces ``empty`` of the classes of devices, and `stop_observing_allocations`
restores it, so that there is no cost without observers. Observed are arrays and blocks that are
allocated through a `Device`: results of operators, parameters, arenas and states of graphs. Scratch
memory of kernels, and arrays from before, are not.

No observer is called with a lock held. An array may be freed anywhere, also by the garbage
collector in the middle of other code. So `AllocationObserver.freed` must not take a lock; appending
to a deque is fine.
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
from gluonish.core.memory_owners import MemoryUse
from gluonish.core.spec import Shape

_ZERO = (0, 0, 0)

# Stack frames to search for the name of the operator that allocates.
_DEPTH = 6


class AllocationObserver(Protocol):
    """Interface of objects that are notified of every allocation and every release."""

    def allocated(self, context: Context, nbytes: int, name: str) -> None:
        """Handle an allocation, in the allocating thread.

        Args:
            name: The operator or Block that allocates; ``<block>:arena`` and ``<block>:kept for
                backward`` for the memory of a hybridized Block; empty if unknown.
        """

    def freed(self, context: Context, nbytes: int, name: str) -> None:
        """Handle the release of an array that was reported to `allocated`, in any thread."""


class _TrackedArray(weakref.ref[Any]):
    """Weak reference to an array, compared by identity: arrays have no hash."""

    __slots__ = ("context", "name", "nbytes", "observers")

    context: Context
    nbytes: int
    name: str
    observers: tuple[AllocationObserver, ...]

    __hash__ = object.__hash__
    __eq__ = object.__eq__


_observers: tuple[AllocationObserver, ...] = ()  # replaced by a compare-and-swap
_originals: dict[type, Any] = {}
_reporting: dict[type, Any] = {}  # their replacements while there are observers
_tracked: set[_TrackedArray] = set()


def observe_allocations(observer: AllocationObserver) -> None:
    """Report all allocations to ``observer`` from now on."""
    _change(lambda observers: (*observers, observer))


def stop_observing_allocations(observer: AllocationObserver) -> None:
    """Stop reporting to ``observer``, including releases of arrays that were reported before."""
    _change(lambda observers: tuple(other for other in observers if other is not observer))


def _change(
    change: Callable[[tuple[AllocationObserver, ...]], tuple[AllocationObserver, ...]],
) -> None:
    """Replace the observers, and ``empty`` of the devices; safe against concurrent changes."""
    global _observers
    while True:
        seen = _observers
        changed = change(seen)
        if _observers is seen:  # a compare-and-swap
            _observers = changed
            break
    for kind in tuple(DEVICE_CLASSES):
        if kind not in _reporting:
            original = _originals.setdefault(kind, kind.__dict__["empty"])
            _reporting.setdefault(kind, _reporting_empty(kind, original))
        while True:  # until it fits the current observers
            target = _reporting[kind] if _observers else _originals[kind]
            if kind.__dict__["empty"] is target:
                break
            kind.empty = target  # type: ignore[attr-defined]  # classes of devices


def _reporting_empty(kind: type, original: Any) -> Any:
    def empty(self: Device, shape: Shape, dtype: np.dtype[Any]) -> Any:
        raw = original.__get__(self, kind)(shape, dtype)  # a method, or a static one
        _report(self.context, raw, sys._getframe(1))
        return raw

    return empty


def _report(context: Context, raw: Any, caller: FrameType) -> None:
    observers, nbytes = _observers, int(raw.nbytes)
    if not observers or not nbytes:
        return
    tracked = _TrackedArray(raw, _freed)
    tracked.context, tracked.nbytes, tracked.observers = context, nbytes, observers
    tracked.name = _caller_name(caller)
    _tracked.add(tracked)
    for observer in observers:
        observer.allocated(context, nbytes, tracked.name)


def _freed(tracked: Any) -> None:
    _tracked.discard(tracked)
    for observer in tracked.observers:
        if observer in _observers:
            observer.freed(tracked.context, tracked.nbytes, tracked.name)


def _caller_name(frame: FrameType | None) -> str:
    """Return the variable ``owner``, or the name of the operator, of a calling frame."""
    for _ in range(_DEPTH):
        if frame is None:
            break
        names = frame.f_code.co_varnames
        if "owner" in names or "op" in names:  # before `f_locals`, which is slow
            scope = frame.f_locals
            found = scope.get("owner") or getattr(scope.get("op"), "name", None)
            if isinstance(found, str):
                return found
        frame = frame.f_back
    return ""


class AllocationTally:
    """Observer that counts: live bytes by device and name, peak and total.

    Invariant: frees are only queued, and the next caller of another method applies them. There is
    no lock, because a destructor may make arrays anywhere: numbers are added in place, without a
    call between reading and writing one.
    """

    def __init__(self) -> None:
        self._frees: deque[tuple[Context, str, int]] = deque()
        self._live: dict[tuple[Context, str], list[int]] = {}  # bytes, number of arrays
        self._sums: dict[Context, list[int]] = {}  # live, peak and total bytes

    def __enter__(self) -> "AllocationTally":
        observe_allocations(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        stop_observing_allocations(self)

    def allocated(self, context: Context, nbytes: int, name: str) -> None:
        """Add an allocation."""
        self._apply_frees()
        self._add(context, name, nbytes, 1)

    def freed(self, context: Context, nbytes: int, name: str) -> None:
        """Queue the release of an array, which the next call of another method subtracts."""
        self._frees.append((context, name, nbytes))

    def nbytes(self, context: Context) -> int:
        """Return the live bytes on a device."""
        self._apply_frees()
        return self._sums.get(context, _ZERO)[0]

    def peak(self, context: Context) -> int:
        """Return the peak of live bytes on a device."""
        return self._sums.get(context, _ZERO)[1]

    def total(self, context: Context) -> int:
        """Return the bytes of all allocations on a device."""
        return self._sums.get(context, _ZERO)[2]

    def holdings(self) -> list[MemoryUse]:
        """Return the live memory by device and name, the largest first."""
        self._apply_frees()
        live = tuple(self._live.items())
        found = [MemoryUse(*key, *sums) for key, sums in live if sums[1]]
        return sorted(found, key=lambda holding: -holding.nbytes)

    def _apply_frees(self) -> None:
        while True:
            try:  # no check before `popleft`: other code may run between the two
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
