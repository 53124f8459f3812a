"""Replays: instructions of an executable that a device repeats in one launch, as a CUDA graph.

A *chunk* is a run of neighbouring instructions of one engine job that can be captured. A CUDA graph
holds the addresses that it was captured with, and the settings that its kernels read when they were
launched. Most of the addresses are of static values, and the replays are cached with these: they
are freed with their memory. Some arguments have a new array at each call (a batch, the outputs):
they are *copied*. A chunk has dedicated memory for them; each call copies what the chunk reads to
that memory, and what it writes from there. Parameters, their gradients and arrays too large to be
copied are used in place. The *version* of a replay is the settings and the addresses used in place;
it serves only the calls of its version.

A chunk runs instruction by instruction at first, and is captured when the same version recurs. An
instruction whose capture fails is not tried again: one chunk ends before it and another begins
after it. A failed capture executes nothing, so the instructions can run normally after it.

Random numbers: repeated launches read their key from memory, where each call writes its key.
"""

import logging
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

from gluonish.core.device import Graphs, Replay, StoredKey
from gluonish.core.program import Programs
from gluonish.graph.instructions import Instruction, KernelInstruction, Values, ViewInstruction

_LOG = logging.getLogger("gluonish")

RunEach = Callable[[Sequence[Instruction], Values, Any], None]
Version = tuple[Hashable, ...]  # the settings of the launches, and addresses

_MAX_REPLAYS = 8  # per chunk and block of memory; the least recently used is dropped first
_MAX_SEEN = 64  # versions that are remembered until they recur


class _Memo:
    """The replays of one chunk on one block of memory; used by one call at a time.

    Attributes:
        replays: The replays, by version.
        fixed: Memory of the replays for copied arguments, by index.
        key: Memory that the replays read a random key from; None if they draw no numbers.
    """

    __slots__ = ("_captures", "_seen", "fixed", "key", "replays")

    def __init__(self) -> None:
        self.replays = Programs[Replay](_MAX_REPLAYS)
        self.fixed: dict[int, Any] = {}
        self.key: StoredKey | None = None
        self._seen: OrderedDict[Version, int] = OrderedDict()
        self._captures = 0

    def is_due(self, version: Version, shortages: int) -> bool:
        """Whether to capture a call of this version.

        A version must recur first. The number of recurrences required grows with the captures so
        far, and with the number of times that memory ran out, so that a capture pays off.
        """
        count = self._seen.pop(version, 0) + 1
        self._seen[version] = count
        if len(self._seen) > _MAX_SEEN:
            self._seen.popitem(last=False)
        return count >= 2 * (1 + self._captures // _MAX_REPLAYS) << min(2 * shortages, 20)

    def add(self, version: Version, replay: Replay) -> None:
        """Cache a replay; a full cache drops the least recently used one."""
        self._captures += 1
        self._seen.pop(version, None)
        self.replays.add(version, replay)


class _Chunk:
    """Consecutive instructions that are captured and replayed together.

    Args:
        instructions: The instructions, in order.
        start: Index of the first instruction in its segment.
        origins: For each argument, or view of one, the argument whose memory it uses.
        copied: Indices of the copied arguments.
        repeated: Whether the instructions may be captured.

    Attributes:
        draws: Whether the instructions draw random numbers.
        name: Name of the chunk, for messages.
        read: Copied arguments that the instructions read.
        views: The instructions that only make views.
        written: Copied arguments that the instructions write.
    """

    def __init__(
        self,
        instructions: Sequence[Instruction],
        start: int,
        origins: Mapping[int, int],
        copied: Collection[int],
        *,
        repeated: bool,
    ) -> None:
        self.instructions = instructions
        self.start = start
        self.repeated = repeated
        self.views = [x for x in instructions if isinstance(x, ViewInstruction)]
        self.draws = any(
            isinstance(x, KernelInstruction) and x.random is not None for x in instructions
        )
        read, written = _used_arguments(instructions, origins)
        self._fixed = sorted({*read, *written}.difference(copied))
        self.read = sorted(read.intersection(copied))
        self.written = sorted(written.intersection(copied))
        used = {i for x in instructions for i in x.reads} - {view.writes[0] for view in self.views}
        self._earlier_views = [
            (i, origins[i]) for i in used if origins.get(i, i) != i and origins[i] in copied
        ]
        names = list(dict.fromkeys(x.op.name for x in instructions))
        self.name = f"a CUDA graph of {', '.join(names[:3])}{', ..' if len(names) > 3 else ''}"

    def version(self, values: Values, settings: Hashable) -> Version | None:
        """Return the version of a replay: settings, and addresses of the arguments used in place.

        The result is None if an argument is not contiguous.
        """
        for index in (*self.read, *self.written):
            if not values[index].flags.c_contiguous:
                return None
        found = [settings]
        for index in self._fixed:
            array = values[index]
            if not array.flags.c_contiguous:
                return None
            found.append(array.data.ptr)
        return tuple(found)

    def fixed_values(self, xp: Any, values: Values, fixed: dict[int, Any]) -> Values:
        """Return values with the chunk's own memory, allocated once, for the copied arguments."""
        result = list(values)
        for index in {*self.read, *self.written}:
            if index not in fixed:
                fixed[index] = xp.empty(values[index].shape, values[index].dtype)
            result[index] = fixed[index]
        for index, root in self._earlier_views:
            result[index] = fixed[root].reshape(values[index].shape)
        return result


class RepeatedSegment(list[Instruction]):
    """The instructions of one engine job, on a device that repeats them.

    Args:
        instructions: The instructions, in order.
        origins: For each argument, or view of one, the argument whose memory it uses; includes
            views that earlier segments made.
        copied: Arguments that change from call to call, and are small enough to be copied.
        graphs: The CUDA graphs of the device.
    """

    def __init__(
        self,
        instructions: Iterable[Instruction],
        origins: Mapping[int, int],
        copied: Collection[int],
        graphs: Graphs,
    ) -> None:
        super().__init__(instructions)
        self._graphs = graphs
        self._origins = origins
        self._copied = copied
        self._refused = {i for i, instruction in enumerate(self) if _is_live(instruction)}
        self._cuts: set[int] = set()
        self._chunks: list[_Chunk] = []
        self._chunks = self._split()

    def _split(self) -> list[_Chunk]:
        """Return the chunks, which end at instructions that cannot be captured, and at cuts."""
        before = {
            (chunk.start, len(chunk.instructions), chunk.repeated): chunk for chunk in self._chunks
        }
        refused, count = self._refused, len(self)
        starts = [
            i
            for i in range(count)
            if not i or i in self._cuts or (i in refused) != (i - 1 in refused)
        ]
        chunks = []
        for a, b in zip(starts, [*starts[1:], count], strict=False):
            launches = any(isinstance(instruction, KernelInstruction) for instruction in self[a:b])
            repeated = launches and a not in refused
            chunk = before.get((a, b - a, repeated))
            if chunk is None:
                chunk = _Chunk(self[a:b], a, self._origins, self._copied, repeated=repeated)
            chunks.append(chunk)
        return chunks

    def run(
        self, run_each: RunEach, xp: Any, values: Values, key: Any, note: Callable[[str], None]
    ) -> None:
        """Run the instructions.

        Args:
            run_each: Function that runs instructions one by one.
            xp: The array module.
            values: Values of the call, followed by a dict of the replays on its memory.
            key: The key that the random numbers of the call start from.
            note: Function that receives the name of what runs, for messages.
        """
        if not self._graphs.can_capture():
            run_each(self[:], values, key)
            return
        memos: dict[_Chunk, _Memo] = values[-1]
        settings = self._graphs.settings()
        for chunk in self._chunks:
            if chunk.repeated:
                version = chunk.version(values, settings)
                replay = self._replay(chunk, version, run_each, xp, values)
                if version is not None and replay is not None:
                    note(chunk.name)
                    if self._launched(replay, chunk, memos[chunk], xp, values, key):
                        continue
                    memos[chunk].replays.pop(version, None)
            run_each(chunk.instructions, values, key)

    def _launched(
        self, replay: Replay, chunk: _Chunk, memo: _Memo, xp: Any, values: Values, key: Any
    ) -> bool:
        """Launch a replay on the arrays of a call, and return whether the launch succeeded."""
        copy, fixed = self._graphs.copy, memo.fixed
        for index in chunk.read:
            copy(fixed[index], values[index])
        for view in chunk.views:
            view.run(xp, values, key)
        if memo.key is not None:
            memo.key.set(xp, key)
        if not replay.launch():
            return False
        for index in chunk.written:
            copy(values[index], fixed[index])
        return True

    def _replay(
        self, chunk: _Chunk, version: Version | None, run_each: RunEach, xp: Any, values: Values
    ) -> Replay | None:
        """Return the replay of a chunk for a call, capturing it if that is due."""
        memos: dict[_Chunk, _Memo] = values[-1]
        memo = memos.get(chunk)
        if memo is None:
            memo = memos[chunk] = _Memo()
        if version is None:
            return None
        found = memo.replays.use(version)
        if found is not None and not found.is_outgrown:
            return found
        if found is not None:
            memo.replays.pop(version, None)
        elif not memo.is_due(version, self._graphs.shortages):
            return None
        made = self._capture(chunk, run_each, xp, values)
        if made is not None:
            memo.add(version, made)
        return made

    def _capture(self, chunk: _Chunk, run_each: RunEach, xp: Any, values: Values) -> Replay | None:
        """Capture a chunk and return the replay; None if the capture fails."""
        memos: dict[_Chunk, _Memo] = values[-1]
        memo, count, done = memos[chunk], len(chunk.instructions), 0
        try:
            fixed = chunk.fixed_values(xp, values, memo.fixed)
            if chunk.draws and memo.key is None:
                memo.key = self._graphs.new_key()
        except MemoryError:
            return None
        key: Any = (0, 0) if memo.key is None else (memo.key, 0)

        def run() -> None:
            nonlocal done
            done = 0  # the device may call it again
            for instruction in chunk.instructions:
                run_each((instruction,), fixed, key)
                done += 1

        try:
            return self._graphs.capture(run)
        except Exception as error:
            instruction = chunk.instructions[min(done, count - 1)]
            _LOG.debug(
                "No CUDA graph holds %s (%s): %.300s",
                instruction.op.name,
                instruction.node.name,
                error,
            )
            if done < count or count == 1:
                self._refused.add(chunk.start + min(done, count - 1))
            else:  # only the end of the capture failed: halving finds the instruction
                self._cuts.add(chunk.start + count // 2)
            self._chunks = self._split()
            memos.pop(chunk, None)
            for new in self._chunks:  # count this call for the new chunks
                version = new.version(values, self._graphs.settings())
                if new.repeated and new not in memos and version is not None:
                    memos[new] = _Memo()
                    memos[new].is_due(version, 0)
            return None


def _is_live(instruction: Instruction) -> bool:
    return isinstance(instruction, KernelInstruction) and instruction.op.live


def _used_arguments(
    instructions: Sequence[Instruction], origins: Mapping[int, int]
) -> tuple[set[int], set[int]]:
    """Return the arguments that are read before they are written, and those that are written."""
    read: set[int] = set()
    written: set[int] = set()
    for instruction in instructions:
        if isinstance(instruction, ViewInstruction):
            continue
        reads = [origins.get(index) for index in instruction.reads]
        read.update(root for root in reads if root is not None and root not in written)
        changed = [reads[i] for i in instruction.op.mutated_inputs(instruction.attrs)]
        changed += [origins.get(index) for index in instruction.writes]
        written.update(root for root in changed if root is not None)
    return read, written
