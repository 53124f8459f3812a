"""Rendezvous: all ranks compare their next operation before they run it.

An exchange in which a rank is missing, or calls another operation, would hang or give wrong
results. So each rank sends a digest of its next operation to rank 0, and continues when rank 0 has
received equal digests from all; on one host the digests are in shared memory. A rank that does not
arrive in time, or that has ended, is reported with its last operation; if operations differ, all
ranks report the difference.

Ranks poll with pauses: a blocking MPI call would keep a core busy. Only one thread at a time may
call `arrive`.

NewGradients: the new gradients of a rank in a step, so that ranks agree on what they sum.

Ranks may use different layers in a step. All ranks sum a gradient that is new on any rank. A rank
whose gradients are all new knows the result without communication, so that the usual step does not
wait. A rank with stale gradients starts a separate rendezvous; the others arrive there with their
next operation, and all ranks detect the difference and exchange their new gradients.
"""

import struct
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.config import GLUONISH_DISTRIBUTED_TIMEOUT
from gluonish.core.errors import DistributedError
from gluonish.kvstore.distributed.host_memory import HostMemory
from gluonish.kvstore.distributed.world import World


class NewGradients(NamedTuple):
    """The new gradients of a rank in a step.

    Attributes:
        names: Names of all parameters with gradients, by key.
        new: Keys of parameters with a new gradient; None for all.
        scale: Factor of the gradients.
    """

    names: Mapping[Hashable, str]
    new: frozenset[Hashable] | None = None
    scale: float = 1.0

    def keys(self) -> frozenset[Hashable]:
        """Return the keys of parameters with a new gradient."""
        return frozenset(self.names) if self.new is None else self.new

    def text(self) -> str:
        """Return a text that is equal on ranks with equal gradients."""
        lists = (self.names, self.keys())
        return "\n".join(
            ["the exchange of which gradients are new", *(repr(sorted(x, key=repr)) for x in lists)]
        )


def new_on_any_rank(by_rank: Sequence[NewGradients | None]) -> NewGradients | None:
    """Return the gradients that are new on any rank.

    Return None if all gradients are new on all ranks, or if a rank is not in a step.

    Args:
        by_rank: The new gradients of each rank; None for a rank that is not in a step.

    Raises:
        DistributedError: Parameters have gradients on some of the ranks only.
    """
    ranks = [gradients for gradients in by_rank if gradients is not None]
    if len(ranks) < len(by_rank):
        return None
    for key, name in {k: v for x in reversed(ranks) for k, v in x.names.items()}.items():
        without = [str(rank) for rank, x in enumerate(ranks) if key not in x.names]
        if without:
            raise DistributedError(
                "Trainer: expected the same parameters with gradients on all ranks, got none of "
                f"{name}, or grad_req 'null', on rank{'s' * (len(without) > 1)} "
                f"{', '.join(without)}; set the same grad_req on all ranks"
            )
    if all(x.new is None for x in ranks):
        return None
    new = frozenset().union(*(x.keys() for x in ranks))
    scales = (x.scale for x in ranks if x.keys())
    return ranks[0]._replace(new=new, scale=next(scales, ranks[0].scale))


END = "the end of the program"
STALE = "a step without new gradients"

_NBYTES = 512
_HEAD = struct.Struct("<Q16sH")  # count of rendezvous, digest, bytes of text
_AGREED, _DIFFERENT, _MISSING = range(3)
_SPIN_S, _SHORTEST_S, _LONGEST_S = 1e-4, 2e-5, 1e-3


class Rendezvous:
    """Checks that all ranks of a world run the same next operation.

    Args:
        world: The world.
        host: Memory shared by all ranks, or None.
    """

    def __init__(self, world: World, host: HostMemory | None = None) -> None:
        self._world = world
        self._host = host
        self._comm = world.control
        self._count = 0
        self._broken = ""
        self._timeout_s = 0.0
        # The texts of the previous and the current rendezvous, with functions for labelled texts.
        self._previous: tuple[str, Callable[[], str]] = ("", str)
        self._current: tuple[str, Callable[[], str]] = ("", str)
        others = range(1, world.size) if world.rank == 0 else ()
        self._received = {rank: np.zeros(_NBYTES, np.uint8) for rank in others}
        self._last = dict.fromkeys(range(world.size), "its start")
        self._message, self._reply = np.zeros(_NBYTES, np.uint8), np.zeros(2048, np.uint8)

    def arrive(
        self,
        text: str,
        labelled: Callable[[], str] | None = None,
        new: NewGradients | None = None,
    ) -> NewGradients | None:
        """Wait until all ranks have called this with the same text.

        Args:
            text: Description of the next operation, with a line for each array.
            labelled: Returns the description with labels, for messages; by default ``text``.
            new: The new gradients of this rank at the beginning of a step, or None.

        Returns:
            The gradients that are new on any rank if some are stale on this rank, else ``new``.

        Raises:
            DistributedError: A rank did not arrive in time, or arrived with another text; all
                later calls fail, too.
        """
        if self._broken:
            raise DistributedError(self._broken)
        if self._world.size == 1:
            return new
        self._timeout_s = GLUONISH_DISTRIBUTED_TIMEOUT.value * (10 if text == END else 1)
        labelled = labelled or text.__str__
        self._previous, self._current = self._current, (text, labelled)
        try:
            while not self._agree(text):
                calls = self._comm.allgather((text, labelled(), new))
                found = new_on_any_rank([gradients for *_, gradients in calls])
                if found is None:
                    raise DistributedError(_difference(calls))
                if new is not None and new.new is not None:
                    return found
        except DistributedError as error:
            self._broken = str(error)
            raise
        return new

    def _agree(self, text: str) -> bool:
        """Compare the texts of all ranks, and return whether they are equal."""
        self._count += 1
        self._write_message(text)
        if self._host is not None:
            kind, text = self._agree_on_host(self._host)
        else:
            kind, text = self._agree_as_root() if self._world.rank == 0 else self._agree_with_root()
        if kind == _MISSING:
            raise DistributedError(text)
        return kind == _AGREED

    def _write_message(self, text: str) -> None:
        first = text.partition("\n")[0].encode()[: _NBYTES - _HEAD.size]
        digest = blake2b(text.encode(), digest_size=16).digest()
        packed = _HEAD.pack(self._count, digest, len(first)) + first
        self._message[: len(packed)] = np.frombuffer(packed, np.uint8)
        self._message[len(packed) :] = 0

    def _agree_on_host(self, host: HostMemory) -> tuple[int, str]:
        """Compare the messages of all ranks in shared memory."""
        received, missing = host.publish(self._count, self._message, self._timeout_s)
        if missing:
            if self._count > 1:
                self._last = {rank: _first(received[rank]) for rank in missing}
            return _MISSING, self._missing_text(missing)
        return (_AGREED if (received == self._message).all() else _DIFFERENT), ""

    def _agree_as_root(self) -> tuple[int, str]:
        """Receive the messages of all ranks, and send them the result."""
        comm = self._comm
        requests = {rank: comm.Irecv(received, rank) for rank, received in self._received.items()}
        arrived = wait_for_ranks(list(requests.values()), self._timeout_s)
        missing = [rank for rank, done in zip(requests, arrived, strict=True) if not done]
        for rank in missing:
            requests[rank].Cancel()
        if missing:
            kind, text = _MISSING, self._missing_text(missing)
        else:
            same = all((received == self._message).all() for received in self._received.values())
            kind, text = (_AGREED if same else _DIFFERENT), ""
        for rank, received in self._received.items():
            if rank not in missing:
                self._last[rank] = _first(received)
        data = bytes([kind]) + text.encode()[:2047]
        self._reply[:] = 0
        self._reply[: len(data)] = np.frombuffer(data, np.uint8)
        present = [rank for rank in requests if rank not in missing]
        wait_for_ranks([comm.Isend(self._reply, rank) for rank in present], 5.0)
        return kind, text

    def _agree_with_root(self) -> tuple[int, str]:
        """Send the message to rank 0, and receive the result."""
        sent, reply = self._comm.Isend(self._message, 0), self._comm.Irecv(self._reply, 0)
        if not all(wait_for_ranks([sent, reply], self._timeout_s * 1.25 + 1)):
            reply.Cancel()
            address = self._world.addresses[0]
            return _MISSING, (
                f"{self._operation()}: expected rank 0 ({address}) within {self._timeout_s:g} s, "
                "got nothing from it; it hangs, or computes longer than "
                "GLUONISH_DISTRIBUTED_TIMEOUT allows"
            )
        return int(self._reply[0]), bytes(self._reply[1:]).rstrip(b"\0").decode(errors="replace")

    def _missing_text(self, missing: Sequence[int]) -> str:
        addresses = self._world.addresses
        last = {r: self._labelled_last(self._last[r]) for r in missing}
        named = "; ".join(f"rank {r} ({addresses[r]}), last at {last[r]}" for r in missing)
        return (
            f"{self._operation()}: expected all {self._world.size} ranks within "
            f"{self._timeout_s:g} s, got none of {named}; these hang, or compute "
            "longer than GLUONISH_DISTRIBUTED_TIMEOUT allows"
        )

    def _operation(self) -> str:
        """Return the first line of this rank's next operation, with a label."""
        return self._current[1]().partition("\n")[0]

    def _labelled_last(self, line: str) -> str:
        """Return the first line of a rank's last operation, labelled if this rank ran it, too."""
        text, labelled = self._previous
        return labelled().partition("\n")[0] if line and text.startswith(line) else line


def _difference(calls: Sequence[tuple[str, str, Any]]) -> str:
    """Describe the first line in which the operations of ranks differ."""
    texts = [text.split("\n") for text, *_ in calls]
    shown = [labelled.split("\n") for _, labelled, _ in calls]
    depth = max(map(len, texts))
    for lines in (*texts, *shown):
        lines.extend(["nothing more"] * (depth - len(lines)))
    row = next((i for i in range(depth) if len({lines[i] for lines in texts}) > 1), 0)
    found: dict[str, list[int]] = {}
    for rank, lines in enumerate(texts):
        found.setdefault(lines[row], []).append(rank)
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


def _first(message: Any) -> str:
    """Return the first line of a rank's message."""
    data: bytes = message.tobytes()
    _, _, length = _HEAD.unpack_from(data)
    return data[_HEAD.size :][:length].decode(errors="replace")


def wait_for_ranks(requests: Sequence[Any], seconds: float) -> list[bool]:
    """Wait at most some seconds for MPI requests, and return which of them are done."""
    start = time.perf_counter()
    pause = _SHORTEST_S
    done = [False] * len(requests)
    while True:
        for i, request in enumerate(requests):
            done[i] = done[i] or bool(request.Test())
        elapsed = time.perf_counter() - start
        if all(done) or elapsed > seconds:
            return done
        if elapsed > _SPIN_S:
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_S)
