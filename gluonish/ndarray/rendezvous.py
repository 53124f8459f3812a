"""Rendezvous: a weighted mean over several devices, each of which contributes in a separate call.

The first device's call opens a round and returns an array that the engine promises to fill. The
last device's call pushes the operator that fills it, so no thread waits for a device: one thread
may call the devices one after the other. The naive engine runs operations at once and cannot
promise: there the call blocks, and every device needs its own thread.

With a store of several processes, the last device's call also sums over all processes; rounds
complete in the same order in each of them.

A round that a device does not join within `PATIENCE_S` seconds fails, and so does everything that
depends on it. A watchdog thread fails it, which runs while rounds are open.

Invariants: there is no lock, as signal handlers and destructors may run anywhere.
``Rendezvous._rounds`` is a tuple that is replaced, even if by an equal one, whenever a member joins
or a round is removed; so a compare (``is``) and the assignment that follows it act as one
compare-and-swap. The caller that removes a round owns it. The watchdog owns its heap
of rounds, which it receives through ``_new_rounds``.
"""

import heapq
import itertools
import math
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np

from gluonish.core.context import cpu
from gluonish.core.device import Device, device_of
from gluonish.core.dtype import FLOAT64
from gluonish.core.errors import OperatorError
from gluonish.core.spec import Spec
from gluonish.engine import current_engine
from gluonish.ndarray.copying import as_in_context
from gluonish.ndarray.ndarray import NDArray, empty_like_spec
from gluonish.ops.support.across_ranks import ranks_sum

# Time-out of a round.
PATIENCE_S = 60.0
# How long an idle watchdog waits for another round before it ends.
_LINGER_S = 0.1


class Member:
    """One device's contribution to a round.

    Attributes:
        value: The device's sum.
        weight: The number of elements in the sum.
        owner: Weak reference to an object that lives while the result can be used; None if it
            always can.
    """

    __slots__ = ("owner", "value", "weight")

    def __init__(self, value: NDArray, weight: int, owner: Any) -> None:
        self.value = value
        self.weight = weight
        self.owner = None if owner is None else weakref.ref(owner)

    def retain(self) -> None:
        """Keep the contribution even if the owner dies: a backward pass has used it."""
        self.owner = None

    def is_dead(self) -> bool:
        """Whether the result can no longer be used."""
        return self.owner is not None and self.owner() is None


class Round:
    """The computation of one mean over all devices.

    Attributes:
        members: Contributions by device.
        total: The weighted mean, on the CPU.
        gradients: The rendezvous of the same devices in the backward pass.
    """

    __slots__ = ("_completed", "gradients", "members", "promise", "rendezvous", "total")

    def __init__(self, rendezvous: "Rendezvous", value: NDArray) -> None:
        self.rendezvous = rendezvous
        self.members: dict[Device, Member] = {}
        self.total = empty_like_spec(value._spec, device_of(cpu()))
        name = f"{rendezvous.name} (backward)"
        self.gradients = Rendezvous(name, rendezvous.key, rendezvous.count)
        self.promise = current_engine().promise(self.total._var)
        self._completed = threading.Event()

    def push_total(self) -> None:
        """Push the computation of the total; contributions are summed in order of the devices."""
        order = sorted(self.members, key=lambda device: str(device.context))
        values = [self.members[device].value for device in order]
        values = [as_in_context(x, cpu()) if x._device.streams else x for x in values]
        weight = sum(member.weight for member in self.members.values())
        add_up = ranks_sum()
        if add_up is None:
            self._fill(values, lambda: (_sum(values), weight))
            return
        shape = self.total._spec.shape
        # The vector to sum over ranks: the values, and the weight as last element.
        sums = empty_like_spec(Spec((math.prod(shape) + 1,), FLOAT64), self.total._device)

        def begin(raw: Any) -> None:
            raw[:-1], raw[-1] = _sum(values).reshape(-1), weight

        sums._write(begin, values, self.rendezvous.name)
        add_up(sums, f"{self.rendezvous.name} ({self.rendezvous.key})")
        self._fill([sums], lambda: (sums._data[:-1].reshape(shape), sums._data[-1]))

    def _fill(self, reads: Sequence[NDArray], find: Callable[[], tuple[Any, float]]) -> None:
        """Push an operation that divides a sum by its weight, which ``find`` returns."""

        def fill() -> None:
            summed, weight = find()
            self.total._data[...] = summed / max(1, weight)

        if self.promise is not None:
            lane = self.total._device.lane
            variables = [read._var for read in reads]
            current_engine().fulfill(self.promise, fill, variables, lane, self.rendezvous.name)
            return
        self.total._write(lambda _: fill(), reads, self.rendezvous.name)
        self._completed.set()

    def wait(self) -> None:
        """Block until the round is complete if the engine cannot promise the result.

        Raises:
            OperatorError: A device did not join.
        """
        if self.promise is None and not self._completed.wait(PATIENCE_S):
            self.rendezvous.remove(self)
            raise self._missing()

    def is_over(self) -> bool:
        """Whether the result was computed or failed."""
        return self.promise is None or not self.promise.pending

    def expire(self) -> None:
        """Fail if a device is missing, or if a contribution depends on the total."""
        if self.promise is None:
            return
        if self.rendezvous.remove(self):
            self.promise.fail(self.rendezvous.name, self._missing())
        elif self.promise.is_deadlocked():
            self.promise.fail(
                self.rendezvous.name,
                OperatorError(
                    f"{self.rendezvous.name}: expected independent data on each device, got data "
                    "that depend on another device's result of the same call"
                ),
            )

    def cancel(self) -> None:
        """Cancel a round without members."""
        if self.promise is not None:
            self.promise.cancel()

    def _missing(self) -> OperatorError:
        came = ", ".join(sorted(str(device.context) for device in self.members))
        advice = "" if self.promise else ", each in its own thread on the NaiveEngine"
        meeting = self.rendezvous
        return OperatorError(
            f"{meeting.name}: expected calls on {meeting.count} devices ({meeting.key}), got calls "
            f"on {came} only; call every device before a result is read{advice}, or set the number "
            "of devices"
        )


def _sum(values: Sequence[NDArray]) -> Any:
    return np.sum([value._data for value in values], axis=0, dtype=np.float64)


class Rendezvous:
    """Collects the contributions of several devices into rounds.

    Each call joins the oldest round that its device has not joined, so a layer may run several
    times on each device.

    Args:
        name: Operator's name, for errors.
        key: Description of the layer, for errors.
        count: Number of devices.
    """

    def __init__(self, name: str, key: str, count: int) -> None:
        self.name = name
        self.key = key
        self.count = count
        self._rounds: tuple[Round, ...] = ()

    def join(self, value: NDArray, weight: int, owner: Any = None) -> Round:
        """Add a device's contribution and return its round, whose ``total`` will be the mean.

        Args:
            value: The device's sum, of the same shape and dtype on all devices.
            weight: The number of elements in the sum.
            owner: See `Member`.

        Raises:
            OperatorError: The shape differs, or (if the call blocks) a device did not join.
        """
        device, member, made = value._device, Member(value, weight, owner), None
        while True:
            before = self._rounds
            dropped = [r for r in before if all(m.is_dead() for m in tuple(r.members.values()))]
            open_rounds = [r for r in before if r not in dropped]
            found = next((r for r in open_rounds if device not in r.members), None)
            if found is not None and found.total._spec != value._spec:
                raise OperatorError(
                    f"{self.name}: expected statistics {found.total._spec} as on the other devices "
                    f"({self.key}), got {value._spec}"
                )
            if found is None and made is None:
                made = Round(self, value)
            entered = found or made
            assert entered is not None
            members = entered.members
            full = len(members) + 1 == self.count
            remaining = [r for r in open_rounds if r is not entered] if full else open_rounds
            if found is None and not full:
                remaining.append(entered)
            changed = tuple(remaining)
            if self._rounds is before:  # the compare-and-swap
                self._rounds = changed
                members[device] = member
                break
        if made is not None and made is not entered:
            made.cancel()  # another thread opened a round first
        for round_ in dropped:
            if round_.promise is not None:
                round_.promise.fail(self.name, round_._missing())
        if found is None and entered.promise is not None:
            _watch(entered)
        if full:
            entered.push_total()
        entered.wait()
        return entered

    def remove(self, round_: Round) -> bool:
        """Remove an incomplete round; return whether it was still open."""
        while True:
            before = self._rounds
            open_rounds = tuple(r for r in before if r is not round_)
            if self._rounds is before:  # the compare-and-swap
                self._rounds = open_rounds
                return len(open_rounds) < len(before)


_Watched = tuple[float, int, Round]  # deadline, number, round
_new_rounds: "SimpleQueue[_Watched]" = SimpleQueue()
_numbers = itertools.count()
_watchdog: threading.Thread | None = None


def _watch(round_: Round) -> None:
    """Schedule a round to fail unless it is over in time."""
    global _watchdog
    _new_rounds.put((time.monotonic() + PATIENCE_S, next(_numbers), round_))
    if _watchdog is None or not _watchdog.is_alive():  # two watchdogs at once do no harm
        thread = threading.Thread(target=_run_watchdog, name="gluonish rounds", daemon=True)
        thread.start()
        _watchdog = thread


def _run_watchdog() -> None:
    """Fail overdue rounds until none is open."""
    global _watchdog
    watched: list[_Watched] = []  # a heap
    while True:
        while watched and watched[0][2].is_over():
            heapq.heappop(watched)
        left_s = watched[0][0] - time.monotonic() if watched else _LINGER_S
        try:
            heapq.heappush(watched, _new_rounds.get(timeout=max(0.0, left_s)))
            continue
        except Empty:
            pass
        if not watched:
            _watchdog = None  # rounds opened from here on start another
            if _new_rounds.empty():
                return
            continue
        round_ = heapq.heappop(watched)[2]
        round_.expire()
        if not round_.is_over():  # its data are still being computed
            heapq.heappush(watched, (time.monotonic() + PATIENCE_S, next(_numbers), round_))
