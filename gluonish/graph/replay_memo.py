"""ReplayMemo: the replays of a chunk of instructions, when to capture, and which arguments to copy.

`gluonish.graph.replays` describes chunks and replays.
"""

from collections import OrderedDict
from collections.abc import Collection, Hashable, Sequence
from typing import Any

from gluonish.core.device import Replay, StoredKey
from gluonish.core.program import Programs
from gluonish.graph.instructions import Values

Version = tuple[Hashable, ...]  # the settings of the launches, and addresses

_MAX_REPLAYS = 8  # per chunk and block of memory; the least recently used is dropped first
_MAX_SEEN = 64  # versions that are remembered until they recur
# Launches that show at which addresses copied arguments are, after some that show nothing, as the
# first captures change what the memory pool has.
_TRIAL, _TRIAL_START = 8, 4
_MAX_ADDRESSES = 3  # of an argument that is used in place afterwards
# Bytes; libraries have other kernels for other alignments, which may not have run before a capture.
ALIGNMENT = 256
_MAX_MISSES = 24  # calls without a replay, more than with one, until all arguments are copied again


class ReplayMemo:
    """The replays of one chunk on one block of memory; used by one call at a time.

    Args:
        read: Copied arguments that the chunk reads.
        written: Copied arguments that it writes.

    Attributes:
        fixed: Memory of the replays for copied arguments, by index.
        key: Memory that the replays read a random key from; None if they draw no numbers.
        read: Copied arguments that the replays read.
        replays: The replays, by version.
        unmovable: Arguments that replays cannot read where they are.
        written: Copied arguments that the replays write.
    """

    __slots__ = (
        "_addresses",
        "_all",
        "_captures",
        "_misses",
        "_recurring",
        "_seen",
        "_trial",
        "fixed",
        "key",
        "read",
        "replays",
        "unmovable",
        "written",
    )

    def __init__(self, read: Sequence[int], written: Sequence[int]) -> None:
        self.replays = Programs[Replay](_MAX_REPLAYS)
        self.fixed: dict[int, Any] = {}
        self.unmovable: set[int] = set()
        self.key: StoredKey | None = None
        self.read, self.written = self._all = (read, written)
        self._seen: OrderedDict[Version, int] = OrderedDict()
        self._captures = 0
        # Of the arguments that are copied, but may be used in place after the trial.
        self._addresses: dict[int, set[int]] = {index: set() for index in {*read, *written}}
        self._trial = _TRIAL_START + _TRIAL if self._addresses else 0
        self._misses = 0
        self._recurring = 0

    def is_due(self, version: Version, shortages: int) -> bool:
        """Whether to capture a call of this version.

        A version must recur first. The number of recurrences required grows with the captures so
        far, and with the number of times that memory ran out, so that a capture pays off. If the
        launches so far were at few addresses, versions with these are captured at once.
        """
        self._misses += 1
        if self._misses >= _MAX_MISSES and (self.read, self.written) != self._all:
            self._copy_only(())
        if self._recurring and not shortages:
            self._recurring -= 1
            return True
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

    def fixed_array(self, xp: Any, index: int, like: Any) -> Any:
        """Return the memory for a copied argument, allocated once.

        Raises:
            MemoryError: There is no memory for it.
        """
        found = self.fixed.get(index)
        if found is None:
            found = self.fixed[index] = xp.empty(like.shape, like.dtype)
        return found

    def movable(self, changed: Collection[int]) -> list[int]:
        """Return the copied arguments that replays may read where they are; none are changed."""
        return [i for i in self.read if i not in changed and i not in self.unmovable]

    def release_moved(self, replay: Replay) -> None:
        """Release the memory for arguments that a new replay, and all others, read elsewhere.

        These arguments are not used in place afterwards: moving them needs no new replay.
        """
        for index in replay.moves:
            self._addresses.pop(index, None)
            if all(index in other.moves for other in self.replays.values()):
                self.fixed.pop(index, None)

    def observe(self, values: Values) -> None:
        """Record a launch; after some, use arguments at recurring addresses in place."""
        self._misses = max(0, self._misses - 1)
        if not self._trial:
            return
        if self._trial <= _TRIAL:
            for index, seen in tuple(self._addresses.items()):
                address = values[index].data.ptr
                seen.add(address)
                if len(seen) > _MAX_ADDRESSES or address % ALIGNMENT:
                    del self._addresses[index]
        self._trial -= 1
        if not self._trial:
            self._copy_only(self._addresses.keys())

    def _copy_only(self, in_place: Collection[int]) -> None:
        """Copy all arguments but those used in place; replays of other choices are dropped."""
        read, written = ([i for i in all_of if i not in in_place] for all_of in self._all)
        if (read, written) == (self.read, self.written):
            return
        self.read, self.written = read, written
        self._misses, self._recurring = 0, _MAX_REPLAYS if in_place else 0
        self.replays.clear()
        self._seen.clear()
        for index in in_place:
            self.fixed.pop(index, None)
