"""Replays: instructions of an executable that a device repeats in one launch, as a CUDA graph.

A *chunk* is a run of neighbouring instructions of one engine job that can be captured. A CUDA graph
holds the addresses that it was captured with, and the settings that its kernels read when they were
launched. Most of the addresses are of static values, and the replays are cached with these: they
are freed with their memory. Some arguments have a new array at each call (a batch, the outputs):
they are *copied*. A chunk has dedicated memory for them; each call copies what the chunk reads to
that memory, and what it writes from there. Parameters, their gradients and arrays too large to be
copied are used in place. The *version* of a replay is the settings and the addresses used in place;
it serves only the calls of its version.

A large argument that is only read need not be copied if the device can change its address in a
replay: it is *moved*, which costs nothing while its address stays the same.

A chunk runs instruction by instruction at first, and is captured when the same version recurs. An
instruction whose capture fails is not tried again: one chunk ends before it and another begins
after it. A failed capture executes nothing, so the instructions can run normally after it.

Random numbers: repeated launches read their key from memory, where each call writes its key.
"""

import logging
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from gluonish.core.device import Graphs, MovingArray, Replay
from gluonish.graph.instructions import Instruction, KernelInstruction, Values, ViewInstruction
from gluonish.graph.replay_memo import ALIGNMENT, ReplayMemo, Version

_LOG = logging.getLogger("gluonish")

RunEach = Callable[[Sequence[Instruction], Values, Any], None]


class _Chunk:
    """Consecutive instructions that are captured and replayed together.

    Args:
        instructions: The instructions, in order.
        start: Index of the first instruction in its segment.
        origins: For each argument, or view of one, the argument whose memory it uses.
        copied: Indices of the copied arguments.
        repeated: Whether the instructions may be captured.

    Attributes:
        changed: Arguments that the instructions write.
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
        self._used = sorted({*read, *written})
        self.read = sorted(read.intersection(copied))
        self.written = sorted(written.intersection(copied))
        self.changed = sorted(written)
        used = {i for x in instructions for i in x.reads} - {view.writes[0] for view in self.views}
        self._earlier_views = [
            (i, origins[i]) for i in used if origins.get(i, i) != i and origins[i] in copied
        ]
        names = list(dict.fromkeys(x.op.name for x in instructions))
        self.name = f"a CUDA graph of {', '.join(names[:3])}{', ..' if len(names) > 3 else ''}"

    def memo(self) -> ReplayMemo:
        """Return a new memo for the chunk."""
        return ReplayMemo(self.read, self.written)

    def version(self, values: Values, settings: Hashable, memo: ReplayMemo) -> Version | None:
        """Return the version of a replay: settings, and addresses of the arguments used in place.

        The result is None if an argument is not contiguous.
        """
        found = [settings]
        for index in self._used:
            array = values[index]
            if not array.flags.c_contiguous:
                return None
            if index not in memo.read and index not in memo.written:
                found.append(array.data.ptr)
        return tuple(found)

    def fixed_values(
        self, xp: Any, values: Values, memo: ReplayMemo, moved: int | None = None
    ) -> Values:
        """Return values with the chunk's own memory, allocated once, for the copied arguments.

        Args:
            moved: A copied argument to leave where it is.
        """
        result, copied = list(values), {*memo.read, *memo.written} - {moved}
        for index in copied:
            result[index] = memo.fixed_array(xp, index, values[index])
        for index, root in self._earlier_views:
            if root in copied:
                result[index] = result[root].reshape(values[index].shape)
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
        memos: dict[_Chunk, ReplayMemo] = values[-1]
        settings = self._graphs.settings()
        for chunk in self._chunks:
            if chunk.repeated:
                memo = memos.get(chunk)
                if memo is None:
                    memo = memos[chunk] = chunk.memo()
                version = chunk.version(values, settings, memo)
                replay = self._replay(chunk, memo, version, run_each, xp, values)
                if version is not None and replay is not None:
                    note(chunk.name)
                    if self._launched(replay, chunk, memo, xp, values, key):
                        memo.observe(values)
                        continue
                    memo.replays.pop(version, None)
            run_each(chunk.instructions, values, key)

    def _launched(
        self, replay: Replay, chunk: _Chunk, memo: ReplayMemo, xp: Any, values: Values, key: Any
    ) -> bool:
        """Launch a replay on the arrays of a call, and return whether the launch succeeded."""
        copy, fixed, moves = self._graphs.copy, memo.fixed, replay.moves
        for index in memo.read:
            array, move = values[index], moves.get(index)
            if move is None:
                copy(fixed[index], array)
            elif (
                move.address != array.data.ptr
                and not move.read(array)
                and not self._read_copy(index, move, memo, xp, array)
            ):
                return False
        for view in chunk.views:
            view.run(xp, values, key)
        if memo.key is not None:
            memo.key.set(xp, key)
        if not replay.launch():
            return False
        for index in memo.written:
            copy(values[index], fixed[index])
        return True

    def _read_copy(
        self, index: int, move: MovingArray, memo: ReplayMemo, xp: Any, array: Any
    ) -> bool:
        """Have a replay read a copy of an argument that it cannot read where it is.

        Returns:
            Whether the replay is usable.
        """
        if move.is_usable:
            try:
                target = memo.fixed_array(xp, index, array)
            except MemoryError:
                return False
            self._graphs.copy(target, array)
            if move.address == target.data.ptr or move.read(target):
                return True
        memo.unmovable.add(index)
        return False

    def _replay(
        self,
        chunk: _Chunk,
        memo: ReplayMemo,
        version: Version | None,
        run_each: RunEach,
        xp: Any,
        values: Values,
    ) -> Replay | None:
        """Return the replay of a chunk for a call, capturing it if that is due."""
        if version is None:
            return None
        found = memo.replays.use(version)
        if found is not None and not found.is_outgrown:
            return found
        if found is not None:
            memo.replays.pop(version, None)
        elif not memo.is_due(version, self._graphs.shortages):
            return None
        made = self._capture(chunk, memo, run_each, xp, values)
        if made is not None:
            memo.add(version, made)
        return made

    def _capture(
        self, chunk: _Chunk, memo: ReplayMemo, run_each: RunEach, xp: Any, values: Values
    ) -> Replay | None:
        """Capture a chunk and return the replay; None if the capture fails."""
        count, done = len(chunk.instructions), 0
        try:
            fixed = chunk.fixed_values(xp, values, memo)
            if chunk.draws and memo.key is None:
                memo.key = self._graphs.new_key()
        except MemoryError:
            return None
        key: Any = (0, 0) if memo.key is None else (memo.key, 0)

        def run(arrays: Values) -> None:
            nonlocal done
            done = 0  # the device may call it again
            for instruction in chunk.instructions:
                run_each((instruction,), arrays, key)
                done += 1

        try:
            made = self._graphs.capture(partial(run, fixed))
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
            self._count_call(values, chunk)
            return None
        if made is not None:
            self._find_moves(made, chunk, memo, run, xp, values)
        return made

    def _find_moves(
        self,
        replay: Replay,
        chunk: _Chunk,
        memo: ReplayMemo,
        run: Callable[[Values], None],
        xp: Any,
        values: Values,
    ) -> None:
        """Find the large arguments that a new replay can read where they are."""
        graphs, fixed = self._graphs, memo.fixed
        for index in memo.movable(chunk.changed):
            array = values[index]
            if array.data.ptr % ALIGNMENT or not graphs.is_worth_moving(array.nbytes):
                continue
            again = partial(run, chunk.fixed_values(xp, values, memo, moved=index))
            written = [values[i] for i in chunk.changed if i not in memo.written]
            moving = graphs.find_moving(replay, again, fixed[index], array, written)
            if moving is None:
                memo.unmovable.add(index)
            else:
                replay.moves[index] = moving
        memo.release_moved(replay)

    def _count_call(self, values: Values, dropped: _Chunk) -> None:
        """Count a call for chunks that a failed capture has made."""
        memos: dict[_Chunk, ReplayMemo] = values[-1]
        memos.pop(dropped, None)
        for new in self._chunks:
            if new.repeated and new not in memos:
                memo = new.memo()
                version = new.version(values, self._graphs.settings(), memo)
                if version is not None:
                    memos[new] = memo
                    memo.is_due(version, 0)


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
