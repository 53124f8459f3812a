"""Rendezvous: one number that several devices make together, each in a call of its own.

The first device to call opens a round, and gets an array that the engine promises to fill. The call
of the last device pushes the operator that fills it, so no thread waits for a device: one thread
may call the devices one after the other. The engine that runs everything at its push cannot wait
like that: there the call blocks, and every device needs a thread of its own.

Where a store of several processes joins those, the last device's call has the sums of this process
added up over all of them: rounds are complete in the same order in each.

A round that some device never joins fails, with an error in all that depends on it, after
`PATIENCE_S` seconds. A thread sees to that, which lives while there are rounds.

Invariants: there is no lock, as a handler or destructor may come anywhere. ``Rendezvous._rounds``
is a tuple that is replaced by another, equal or not, in the step in which a member joins or a round
is taken out; so who finds the one that he has looked at may do what follows from it. A round that
was taken out belongs to who took it. A thread that watches has its own rounds, from ``_to_watch``.
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

# How long a round waits for its last device.
PATIENCE_S = 60.0
# How long the thread that watches waits for another round.
_LINGER_S = 0.1


class Member:
    """One device's call.

    Attributes:
        part: What it brings.
        weight: How much it counts: the number of elements that were summed.
        owner: What dies when nobody can use the result any more; None: that is not known.
    """

    __slots__ = ("owner", "part", "weight")

    def __init__(self, part: NDArray, weight: int, owner: Any) -> None:
        self.part = part
        self.weight = weight
        self.owner = None if owner is None else weakref.ref(owner)

    def want(self) -> None:
        """Have the result be wanted whatever becomes of the owner: a backward pass has used it."""
        self.owner = None

    def is_gone(self) -> bool:
        """Whether nobody can use the result."""
        return self.owner is not None and self.owner() is None


class Round:
    """One meeting of all devices.

    Attributes:
        members: By device.
        total: The sum of all parts over the sum of all weights, on the CPU.
        gradients: Where the same devices meet in the backward pass.
    """

    __slots__ = ("_met", "gradients", "members", "place", "promise", "total")

    def __init__(self, place: "Rendezvous", part: NDArray) -> None:
        self.place = place
        self.members: dict[Device, Member] = {}
        self.total = empty_like_spec(part._spec, device_of(cpu()))
        self.gradients = Rendezvous(f"{place.name} (backward)", place.key, place.count)
        self.promise = current_engine().promise(self.total._var)
        self._met = threading.Event()

    def complete(self) -> None:
        """Have the total computed, now that all have come; in order of the devices."""
        order = sorted(self.members, key=lambda device: str(device.context))
        parts = [self.members[device].part for device in order]
        parts = [as_in_context(part, cpu()) if part._device.streams else part for part in parts]
        weight = sum(member.weight for member in self.members.values())
        add_up = ranks_sum()
        if add_up is None:
            self._fill(parts, lambda: (_sum(parts), weight))
            return
        shape = self.total._spec.shape
        # What all ranks sum, and at the end how much it counts.
        sums = empty_like_spec(Spec((math.prod(shape) + 1,), FLOAT64), self.total._device)

        def begin(raw: Any) -> None:
            raw[:-1], raw[-1] = _sum(parts).reshape(-1), weight

        sums._write(begin, parts, self.place.name)
        add_up(sums, f"{self.place.name} ({self.place.key})")
        self._fill([sums], lambda: (sums._data[:-1].reshape(shape), sums._data[-1]))

    def _fill(self, reads: Sequence[NDArray], find: Callable[[], tuple[Any, float]]) -> None:
        """Have the total computed from a sum and its weight, which are found then."""

        def fill() -> None:
            summed, weight = find()
            self.total._data[...] = summed / max(1, weight)

        if self.promise is not None:
            lane = self.total._device.lane
            variables = [read._var for read in reads]
            current_engine().keep(self.promise, fill, variables, lane, self.place.name)
            return
        self.total._write(lambda _: fill(), reads, self.place.name)
        self._met.set()

    def wait(self) -> None:
        """Block where the engine makes no promises.

        Raises:
            OperatorError: a device did not come.
        """
        if self.promise is None and not self._met.wait(PATIENCE_S):
            self.place.leave(self)
            raise self._missing()

    def is_over(self) -> bool:
        """Whether nothing is left to wait for."""
        return self.promise is None or not self.promise.pending

    def give_up(self) -> None:
        """Fail if a device is missing, or if what one brings depends on the total."""
        if self.promise is None:
            return
        if self.place.leave(self):
            self.promise.fail(self.place.name, self._missing())
        elif self.promise.stuck():
            self.promise.fail(
                self.place.name,
                OperatorError(
                    f"{self.place.name}: expected devices with data of their own, got a device "
                    "whose data come from another device's result of the same call"
                ),
            )

    def drop(self) -> None:
        """End a round that nobody has joined."""
        if self.promise is not None:
            self.promise.drop()

    def _missing(self) -> OperatorError:
        came = ", ".join(sorted(str(device.context) for device in self.members))
        advice = "" if self.promise else ", each in a thread of its own on the NaiveEngine"
        return OperatorError(
            f"{self.place.name}: expected calls on {self.place.count} devices ({self.place.key}), "
            f"got those on {came} and no other; call every device before a result is read{advice}, "
            "or set the number of devices"
        )


def _sum(parts: Sequence[NDArray]) -> Any:
    return np.sum([part._data for part in parts], axis=0, dtype=np.float64)


class Rendezvous:
    """Where the calls of several devices meet that belong together.

    Each call joins the oldest round that its device has not joined, so that a layer may run several
    times on each device.

    Args:
        name: Operator's name, for errors.
        key: What the calls have in common, for errors.
        count: Number of devices.
    """

    def __init__(self, name: str, key: str, count: int) -> None:
        self.name = name
        self.key = key
        self.count = count
        self._rounds: tuple[Round, ...] = ()

    def join(self, part: NDArray, weight: int, owner: Any = None) -> Round:
        """Bring a device's part; the round's ``total`` is, or will be, the weighted mean.

        Args:
            part: Of one shape and dtype on all devices.
            weight: What the sum of all parts is divided by is the sum of these.
            owner: See `Member`.

        Raises:
            OperatorError: The shape differs, or (where the call blocks) a device did not come.
        """
        device, member, made = part._device, Member(part, weight, owner), None
        while True:
            seen = self._rounds
            dropped = [r for r in seen if all(m.is_gone() for m in tuple(r.members.values()))]
            kept = [r for r in seen if r not in dropped]
            found = next((r for r in kept if device not in r.members), None)
            if found is not None and found.total._spec != part._spec:
                raise OperatorError(
                    f"{self.name}: expected statistics {found.total._spec} as on the other devices "
                    f"({self.key}), got {part._spec}"
                )
            if found is None and made is None:
                made = Round(self, part)
            entered = found or made
            assert entered is not None
            members = entered.members
            full = len(members) + 1 == self.count
            later = [r for r in kept if r is not entered] if full else kept
            if found is None and not full:
                later.append(entered)
            changed = tuple(later)
            if self._rounds is seen:  # a step
                self._rounds = changed
                members[device] = member
                break
        if made is not None and made is not entered:
            made.drop()  # another's came before it
        for one in dropped:
            if one.promise is not None:
                one.promise.fail(self.name, one._missing())
        if found is None and entered.promise is not None:
            _watch_over(entered)
        if full:
            entered.complete()
        entered.wait()
        return entered

    def leave(self, one: Round) -> bool:
        """Take a round out that is not complete; whether it was there."""
        while True:
            seen = self._rounds
            kept = tuple(r for r in seen if r is not one)
            if self._rounds is seen:  # a step
                self._rounds = kept
                return len(kept) < len(seen)


_Watched = tuple[float, int, Round]  # deadline, number, round
_to_watch: "SimpleQueue[_Watched]" = SimpleQueue()
_numbers = itertools.count()
_watcher: threading.Thread | None = None


def _watch_over(one: Round) -> None:
    """Have a round given up if it is not over in time."""
    global _watcher
    _to_watch.put((time.monotonic() + PATIENCE_S, next(_numbers), one))
    if _watcher is None or not _watcher.is_alive():  # two that watch at once do no harm
        thread = threading.Thread(target=_keep_watch, name="gluonish rounds", daemon=True)
        thread.start()
        _watcher = thread


def _keep_watch() -> None:
    """Wait for the next deadline, again and again, until there is none."""
    global _watcher
    watched: list[_Watched] = []  # a heap
    while True:
        while watched and watched[0][2].is_over():
            heapq.heappop(watched)
        left_s = watched[0][0] - time.monotonic() if watched else _LINGER_S
        try:
            heapq.heappush(watched, _to_watch.get(timeout=max(0.0, left_s)))
            continue
        except Empty:
            pass
        if not watched:
            _watcher = None  # who comes from here on starts another
            if _to_watch.empty():
                return
            continue
        one = heapq.heappop(watched)[2]
        one.give_up()
        if not one.is_over():  # its data are still being computed
            heapq.heappush(watched, (time.monotonic() + PATIENCE_S, next(_numbers), one))
