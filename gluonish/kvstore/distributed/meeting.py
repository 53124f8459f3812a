"""Meeting: all ranks say what they are about to do, before they do it together.

An exchange in which one rank is missing, or does something else, would hang or give nonsense. So
each tells rank 0 a digest of what it is about to do, and goes on when rank 0 has heard the same
from all; on one host all see what all say. A rank that does not come in time, or that has ended, is
named, with what it did last; where ranks are about to do different things, all of them are told the
difference.

Ranks wait by looking now and then: a blocking call of MPI would keep a core busy that others
compute on. One thread at a time calls `meet`.
"""

import struct
import time
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from gluonish.core.config import GLUONISH_DISTRIBUTED_TIMEOUT
from gluonish.core.errors import DistributedError
from gluonish.kvstore.distributed.host_memory import HostMemory
from gluonish.kvstore.distributed.new_gradients import NewGradients, new_on_any_rank
from gluonish.kvstore.distributed.world import World

END = "the end of the program"
STALE = "a step without new gradients"

_NBYTES = 512
_HEAD = struct.Struct("<Q16sH")  # how many meetings there were, digest, bytes of text
_AGREED, _DIFFERENT, _MISSING = range(3)
_SPIN_S, _SHORTEST_S, _LONGEST_S = 1e-4, 2e-5, 1e-3


class Meeting:
    """Lets the ranks of a world agree on what they do next.

    Args:
        world: The world.
        host: Memory that all ranks share, or None.
    """

    def __init__(self, world: World, host: HostMemory | None = None) -> None:
        self._world = world
        self._host = host
        self._comm = world.words
        self._count = 0
        self._broken = ""
        self._patience = 0.0
        # The texts of the last meeting and of this one, and what returns them with labels.
        self._before: tuple[str, Callable[[], str]] = ("", str)
        self._now: tuple[str, Callable[[], str]] = ("", str)
        others = range(1, world.size) if world.rank == 0 else ()
        self._heard = {rank: np.zeros(_NBYTES, np.uint8) for rank in others}
        self._last = dict.fromkeys(range(world.size), "its start")
        self._said, self._answer = np.zeros(_NBYTES, np.uint8), np.zeros(2048, np.uint8)

    def meet(
        self,
        words: str,
        labelled: Callable[[], str] | None = None,
        new: NewGradients | None = None,
    ) -> NewGradients | None:
        """Wait until all ranks have called this with the same text.

        Args:
            words: Description of what is done next, one line for each of its parts.
            labelled: Returns these lines with labels, for messages; without it they have none.
            new: What this rank has to say of the gradients of a step that begins.

        Returns:
            What is new on any rank, if something was said of it and is not new on this one.

        Raises:
            DistributedError: A rank did not arrive in time, or with another text; all later
                meetings fail, too.
        """
        if self._broken:
            raise DistributedError(self._broken)
        if self._world.size == 1:
            return new
        self._patience = GLUONISH_DISTRIBUTED_TIMEOUT.value * (10 if words == END else 1)
        labelled = labelled or words.__str__
        self._before, self._now = self._now, (words, labelled)
        try:
            while not self._agree(words):
                said = self._comm.allgather((words, labelled(), new))
                found = new_on_any_rank([each for *_, each in said])
                if found is None:
                    raise DistributedError(_difference(said))
                if new is not None and new.new is not None:
                    return found
        except DistributedError as error:
            self._broken = str(error)
            raise
        return new

    def _agree(self, words: str) -> bool:
        """Say what is done next, and return whether all ranks say the same."""
        self._count += 1
        self._say(words)
        if self._host is not None:
            kind, text = self._look(self._host)
        else:
            kind, text = self._lead() if self._world.rank == 0 else self._follow()
        if kind == _MISSING:
            raise DistributedError(text)
        return kind == _AGREED

    def _say(self, words: str) -> None:
        first = words.partition("\n")[0].encode()[: _NBYTES - _HEAD.size]
        digest = blake2b(words.encode(), digest_size=16).digest()
        packed = _HEAD.pack(self._count, digest, len(first)) + first
        self._said[: len(packed)] = np.frombuffer(packed, np.uint8)
        self._said[len(packed) :] = 0

    def _look(self, host: HostMemory) -> tuple[int, str]:
        """Hear all ranks in memory that they share."""
        heard, missing = host.tell(self._count, self._said, self._patience)
        if missing:
            if self._count > 1:
                self._last = {rank: _first(heard[rank]) for rank in missing}
            return _MISSING, self._told_missing(missing)
        return (_AGREED if (heard == self._said).all() else _DIFFERENT), ""

    def _lead(self) -> tuple[int, str]:
        """Hear all ranks, and tell them what came of it."""
        comm = self._comm
        requests = {rank: comm.Irecv(heard, rank) for rank, heard in self._heard.items()}
        came = wait_for_ranks(list(requests.values()), self._patience)
        missing = [rank for rank, done in zip(requests, came, strict=True) if not done]
        for rank in missing:
            requests[rank].Cancel()
        if missing:
            kind, text = _MISSING, self._told_missing(missing)
        else:
            same = all((heard == self._said).all() for heard in self._heard.values())
            kind, text = (_AGREED if same else _DIFFERENT), ""
        for rank, heard in self._heard.items():
            if rank not in missing:
                self._last[rank] = _first(heard)
        data = bytes([kind]) + text.encode()[:2047]
        self._answer[:] = 0
        self._answer[: len(data)] = np.frombuffer(data, np.uint8)
        present = [rank for rank in requests if rank not in missing]
        wait_for_ranks([comm.Isend(self._answer, rank) for rank in present], 5.0)
        return kind, text

    def _follow(self) -> tuple[int, str]:
        """Tell rank 0, and hear what it says."""
        told, answer = self._comm.Isend(self._said, 0), self._comm.Irecv(self._answer, 0)
        if not all(wait_for_ranks([told, answer], self._patience * 1.25 + 1)):
            answer.Cancel()
            where = self._world.places[0]
            return _MISSING, (
                f"{self._doing()}: expected rank 0 ({where}) within {self._patience:g} s, got "
                "nothing "
                "from it; it hangs, or computes longer than GLUONISH_DISTRIBUTED_TIMEOUT allows"
            )
        return int(self._answer[0]), bytes(self._answer[1:]).rstrip(b"\0").decode(errors="replace")

    def _told_missing(self, missing: Sequence[int]) -> str:
        places = self._world.places
        last = {r: self._labelled_last(self._last[r]) for r in missing}
        named = "; ".join(f"rank {r} ({places[r]}), last at {last[r]}" for r in missing)
        return (
            f"{self._doing()}: expected all {self._world.size} ranks within "
            f"{self._patience:g} s, got none of {named}; these hang, or compute "
            "longer than GLUONISH_DISTRIBUTED_TIMEOUT allows"
        )

    def _doing(self) -> str:
        """Return the first line of what this rank is about to do, with a label."""
        return self._now[1]().partition("\n")[0]

    def _labelled_last(self, line: str) -> str:
        """Return what a rank did last, with a label where this rank did the same."""
        words, labelled = self._before
        return labelled().partition("\n")[0] if line and words.startswith(line) else line


def _difference(said: Sequence[tuple[str, str, Any]]) -> str:
    """Return what ranks are about to do instead of one thing; each says all of its words."""
    lines = [words.split("\n") for words, *_ in said]
    shown = [labelled.split("\n") for _, labelled, _ in said]
    depth = max(map(len, lines))
    for each in (*lines, *shown):
        each.extend(["nothing more"] * (depth - len(each)))
    row = next((i for i in range(depth) if len({each[i] for each in lines}) > 1), 0)
    found: dict[str, list[int]] = {}
    for rank, each in enumerate(lines):
        found.setdefault(each[row], []).append(rank)
    got = ", and ".join(
        f"{shown[ranks[0]][row]} on rank{'s' * (len(ranks) > 1)} {', '.join(map(str, ranks))}"
        for ranks in found.values()
    )
    return f"kvstore: expected the same call on all ranks, got {got}; {_hint([*found])}"


def _hint(found: Sequence[str]) -> str:
    if STALE in found:
        return "where ranks use different layers, call step with ignore_stale_grad=True on all"
    if END in found:
        return "each rank must run the same number of steps: split the data evenly"
    return "all ranks must run the same program on arrays of the same shapes"


def _first(said: Any) -> str:
    """Return the text of what a rank said."""
    data: bytes = said.tobytes()
    _, _, length = _HEAD.unpack_from(data)
    return data[_HEAD.size :][:length].decode(errors="replace")


def wait_for_ranks(requests: Sequence[Any], seconds: float) -> list[bool]:
    """Wait for MPI requests, and return which of them are done.

    Args:
        requests: The requests.
        seconds: Maximum time to wait.
    """
    start = time.perf_counter()
    pause = _SHORTEST_S
    done = [False] * len(requests)
    while True:
        for i, request in enumerate(requests):
            done[i] = done[i] or bool(request.Test())
        passed = time.perf_counter() - start
        if all(done) or passed > seconds:
            return done
        if passed > _SPIN_S:
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_S)
