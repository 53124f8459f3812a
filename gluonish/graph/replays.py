"""Replays: steps of an executable that a device repeats by one call, as a CUDA graph.

A *part* is a run of neighbouring steps of one engine job that can be captured. A graph holds the
addresses that it was captured with. Most of them are those of the frame's tail, and the replays lie
there, too: they go with its memory. Of what a call gives, some arrays are others at each call (a
batch, the outputs): these are *moving*. A part has memory of its own for them, and each call copies
what is read there, and from there what is written. Parameters, their gradients and what is too
large to be copied stay where they are, and a replay serves the calls that come with the addresses
of its capture.

A part runs step by step at first, and is captured when it meets the same addresses again. A step
whose capture fails is not tried again: the parts end before it and begin behind it. While a capture
fails nothing is executed, so that the steps run as ever after that.

Random numbers: launches that are repeated read their key in memory, where each call puts its own.
"""

import logging
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from gluonish.core.device import Graphs, Replay, StoredKey
from gluonish.core.program import Programs
from gluonish.graph.steps import Frame, RunStep, Step, ViewStep

_LOG = logging.getLogger("gluonish")

Each = Callable[[Sequence[Step], Frame, Any], None]
Addresses = tuple[int, ...]

MOST_COPIED = 64 << 20  # bytes of an array that moves

_MOST = 8  # replays of a part on one memory; the longest unused goes first
_MOST_SEEN = 64  # addresses that are remembered until they recur


class _Memo:
    """What is known of one part on one memory; it belongs to one call at a time.

    Attributes:
        replays: By addresses, which are the version of a replay.
        fixed: The memory that replays have for what moves, by place.
        key: Where they read a key; None if nothing is drawn.
    """

    __slots__ = ("_captures", "_seen", "fixed", "key", "replays")

    def __init__(self) -> None:
        self.replays = Programs[Replay](_MOST)
        self.fixed: dict[int, Any] = {}
        self.key: StoredKey | None = None
        self._seen: OrderedDict[Addresses, int] = OrderedDict()
        self._captures = 0

    def is_due(self, addresses: Addresses, shortages: int) -> bool:
        """Whether a call comes with addresses that are worth a capture.

        Those that came before; but the more captures there were, and the more often memory ran out,
        the more often: a capture must pay.
        """
        count = self._seen.pop(addresses, 0) + 1
        self._seen[addresses] = count
        if len(self._seen) > _MOST_SEEN:
            self._seen.popitem(last=False)
        return count >= 2 * (1 + self._captures // _MOST) << min(2 * shortages, 20)

    def add(self, addresses: Addresses, replay: Replay) -> None:
        """Cache a replay, in place of the least recently used one."""
        self._captures += 1
        self._seen.pop(addresses, None)
        self.replays.add(addresses, replay)


class _Part:
    """Neighbouring steps.

    Args:
        steps: In order.
        start: Number of the first in its segment.
        given: Places of what calls give, each with the place that it is a view of, or itself.
        moving: Those of arrays that are others at each call.
        repeated: Whether they may be captured.

    Attributes:
        draws: Whether they draw random numbers.
        name: For messages.
        read: Moving places whose arrays they read.
        views: Steps that only make views.
        written: Moving places whose arrays they write.
    """

    def __init__(
        self,
        steps: Sequence[Step],
        start: int,
        given: Mapping[int, int],
        moving: Collection[int],
        *,
        repeated: bool,
    ) -> None:
        self.steps = steps
        self.start = start
        self.repeated = repeated
        self.views = [step for step in steps if isinstance(step, ViewStep)]
        self.draws = any(isinstance(step, RunStep) and step.random is not None for step in steps)
        read, written = _uses(steps, given)
        self._fixed = sorted({*read, *written}.difference(moving))
        self.read = sorted(read.intersection(moving))
        self.written = sorted(written.intersection(moving))
        made = {step.writes[0] for step in self.views}
        touched = {place for step in steps for place in step.reads} - made
        self._views_before = [
            (place, given[place])
            for place in touched
            if given.get(place, place) != place and given[place] in moving
        ]
        names = list(dict.fromkeys(step.op.name for step in steps))
        self.name = f"a CUDA graph of {', '.join(names[:3])}{', ..' if len(names) > 3 else ''}"

    def addresses(self, frame: Frame) -> Addresses | None:
        """Return where what does not move lies; None where an array has gaps."""
        for place in (*self.read, *self.written):
            if not frame[place].flags.c_contiguous:
                return None
        found = []
        for place in self._fixed:
            array = frame[place]
            if not array.flags.c_contiguous:
                return None
            found.append(array.data.ptr)
        return tuple(found)

    def fixed_frame(self, xp: Any, frame: Frame, fixed: dict[int, Any]) -> Frame:
        """Return a frame with arrays of the part's own for what moves; they are made at first."""
        result = list(frame)
        for place in {*self.read, *self.written}:
            if place not in fixed:
                fixed[place] = xp.empty(frame[place].shape, frame[place].dtype)
            result[place] = fixed[place]
        for place, root in self._views_before:
            result[place] = fixed[root].reshape(frame[place].shape)
        return result


class RepeatedSegment(list[Step]):
    """The steps of one engine job, on a device that repeats them.

    Args:
        steps: In order.
        given: Places of what calls give, each with the place that it is a view of, or itself; also
            of views that earlier segments made.
        moving: Those of arrays that are others at each call, and small enough to be copied.
        graphs: The device's.
    """

    def __init__(
        self,
        steps: Iterable[Step],
        given: Mapping[int, int],
        moving: Collection[int],
        graphs: Graphs,
    ) -> None:
        super().__init__(steps)
        self._graphs = graphs
        self._given = given
        self._moving = moving
        self._refused = {i for i, step in enumerate(self) if _is_live(step)}
        self._cuts: set[int] = set()
        self._parts: list[_Part] = []
        self._parts = self._split()

    def _split(self) -> list[_Part]:
        """Return the parts, which end at steps that are refused, and where they were cut."""
        before = {(part.start, len(part.steps), part.repeated): part for part in self._parts}
        refused, count = self._refused, len(self)
        starts = [
            i
            for i in range(count)
            if not i or i in self._cuts or (i in refused) != (i - 1 in refused)
        ]
        parts = []
        for a, b in zip(starts, [*starts[1:], count], strict=False):
            launches = any(isinstance(step, RunStep) for step in self[a:b])
            repeated = launches and a not in refused
            part = before.get((a, b - a, repeated))
            if part is None:
                part = _Part(self[a:b], a, self._given, self._moving, repeated=repeated)
            parts.append(part)
        return parts

    def run(self, each: Each, xp: Any, frame: Frame, key: Any, note: Callable[[str], None]) -> None:
        """Run the steps.

        Args:
            each: Runs steps one by one.
            xp: The array module.
            frame: The call's; its last entry is a dict for what is known on its memory.
            key: Where the call's random numbers start.
            note: Told what runs, for messages.
        """
        if not self._graphs.here():
            each(self[:], frame, key)
            return
        memos: dict[_Part, _Memo] = frame[-1]
        for part in self._parts:
            if part.repeated:
                addresses = part.addresses(frame)
                replay = self._replay(part, addresses, each, xp, frame)
                if addresses is not None and replay is not None:
                    note(part.name)
                    if self._launched(replay, part, memos[part], xp, frame, key):
                        continue
                    memos[part].replays.pop(addresses, None)
            each(part.steps, frame, key)

    def _launched(
        self, replay: Replay, part: _Part, memo: _Memo, xp: Any, frame: Frame, key: Any
    ) -> bool:
        """Launch a replay on a call's arrays; whether that could be done."""
        copy, fixed = self._graphs.copy, memo.fixed
        for place in part.read:
            copy(fixed[place], frame[place])
        for view in part.views:
            view.run(xp, frame, key)
        if memo.key is not None:
            memo.key.set(xp, key)
        if not replay.launch():
            return False
        for place in part.written:
            copy(frame[place], fixed[place])
        return True

    def _replay(
        self, part: _Part, addresses: Addresses | None, each: Each, xp: Any, frame: Frame
    ) -> Replay | None:
        """Return the replay of a part for a call, capturing it if that is due."""
        memos: dict[_Part, _Memo] = frame[-1]
        memo = memos.get(part)
        if memo is None:
            memo = memos[part] = _Memo()
        if addresses is None:
            return None
        found = memo.replays.use(addresses)
        if found is not None:
            return found
        if not memo.is_due(addresses, self._graphs.shortages):
            return None
        made = self._capture(part, each, xp, frame)
        if made is not None:
            memo.add(addresses, made)
        return made

    def _capture(self, part: _Part, each: Each, xp: Any, frame: Frame) -> Replay | None:
        """Capture a part; None where it cannot be done, or not now."""
        memos: dict[_Part, _Memo] = frame[-1]
        memo, count, done = memos[part], len(part.steps), 0
        try:
            fixed = part.fixed_frame(xp, frame, memo.fixed)
            if part.draws and memo.key is None:
                memo.key = self._graphs.new_key()
        except MemoryError:
            return None
        key: Any = (0, 0) if memo.key is None else (memo.key, 0)

        def run() -> None:
            nonlocal done
            for step in part.steps:
                each((step,), fixed, key)
                done += 1

        try:
            return self._graphs.capture(run)
        except Exception as error:
            step = part.steps[min(done, count - 1)]
            _LOG.debug("No CUDA graph holds %s (%s): %.300s", step.op.name, step.node.name, error)
            if done < count or count == 1:
                self._refused.add(part.start + min(done, count - 1))
            else:  # only the end of the capture told of it: which step it was is found by halves
                self._cuts.add(part.start + count // 2)
            self._parts = self._split()
            memos.pop(part, None)
            for new in self._parts:  # what they will be asked next is whether this call was enough
                addresses = new.addresses(frame)
                if new.repeated and new not in memos and addresses is not None:
                    memos[new] = _Memo()
                    memos[new].is_due(addresses, 0)
            return None


def _is_live(step: Step) -> bool:
    return isinstance(step, RunStep) and step.op.live


def _uses(steps: Sequence[Step], given: Mapping[int, int]) -> tuple[set[int], set[int]]:
    """Return which given places steps read before they wrote there, and which they write."""
    read: set[int] = set()
    written: set[int] = set()
    for step in steps:
        if isinstance(step, ViewStep):
            continue
        reads = [given.get(place) for place in step.reads]
        read.update(root for root in reads if root is not None and root not in written)
        changed = [reads[i] for i in step.op.mutated_inputs(step.attrs)]
        changed += [given.get(place) for place in step.writes]
        written.update(root for root in changed if root is not None)
    return read, written
