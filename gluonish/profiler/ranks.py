"""One trace for all ranks of a job: ranks that dump at the same time send theirs to rank 0.

A rank announces to rank 0 once that it records. When it dumps, it sends its start time. Rank 0,
which dumps as well, then pings it repeatedly (the fastest answer gives the offset of its clock),
sends the origin of time for the trace, and receives the trace. No rank waits longer than
`PATIENCE_S` for another to dump: rank 0 then writes the traces that it has, and other ranks write
separate files. Dumps are numbered, so late messages do not disturb the next dump.

Recording of communication between ranks and with servers: arrays, bytes, waits and transfers.
"""

import itertools
import logging
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from gluonish.core.config import GLUONISH_DISTRIBUTED_TIMEOUT
from gluonish.core.operating_system import yield_core
from gluonish.kvstore.distributed.channel import channel
from gluonish.kvstore.distributed.observers import Exchange, observers
from gluonish.kvstore.distributed.rendezvous import wait_for_ranks
from gluonish.kvstore.distributed.world import World, joined
from gluonish.profiler import ranks
from gluonish.profiler.recorder import START_NS, from_counter, now, recorder

PATIENCE_S = 10.0

_LOG = logging.getLogger("gluonish")
_NOTE, _TO_RANK, _PONG, _TRACE = range(1, 5)  # tags
_LOOK_S = 0.05  # for messages in transit
_PINGS, _PING_S = 30, 2.0
_PAUSE_S = 1e-3
_SPIN_S = 5e-4

_numbers = itertools.count(1)
_announced: list[World] = []
_recording: set[int] = set()  # on rank 0: the ranks that announced themselves
_sent: list[Any] = []  # requests of MPI, which must outlive the transfer


class Clock(NamedTuple):
    """Offset of another rank's clock from rank 0's.

    Attributes:
        ahead_ns: Nanoseconds to add to the other rank's times.
        error_ns: Maximum error of ``ahead_ns``.
    """

    ahead_ns: int
    error_ns: int


def announce() -> None:
    """Announce to rank 0, once, that this rank records."""
    world = joined()
    if world is None or world.rank == 0 or world in _announced:
        return
    _announced.append(world)
    _sent.append(world.traces.isend(None, 0, _NOTE))


def wait_for_end_of_profile() -> None:
    """Wait for all ranks of a job, at the end of a program that every rank profiles.

    Raises:
        DistributedError: A rank runs another operation, or does not arrive in time.
    """
    if joined() is not None:
        channel().barrier("the end of the profile")


def file_of_rank(path: str, rank: int) -> Path:
    """Return the path for a rank that writes a file of its own, such as ``profile.rank1.json``.

    Args:
        path: Path of the common file.
        rank: Number of the rank.
    """
    whole = Path(path)
    return whole.with_name(f"{whole.stem}.rank{rank}{whole.suffix}")


def send_trace(world: World, encode: Callable[[int], Iterator[bytes]], dropped: int) -> bool:
    """Send this rank's trace to rank 0; return False if rank 0 does not collect it.

    Args:
        world: The ranks.
        encode: Returns the encoded trace, given the time from which its times count.
        dropped: Number of events that were dropped.
    """
    comm, number = world.traces, next(_numbers)
    _sent.append(comm.isend(START_NS, 0, _NOTE))
    origin_ns = _answer_pings(comm, number)
    if origin_ns is None:
        return False
    packer = zlib.compressobj(1)
    pieces = (packer.compress(b",\n" * (i > 0) + x) for i, x in enumerate(encode(origin_ns)))
    data = b"".join([*pieces, packer.flush()])
    request = comm.isend((number, dropped, data), 0, _TRACE)
    return all(wait_for_ranks([request], GLUONISH_DISTRIBUTED_TIMEOUT.value))


def _answer_pings(comm: Any, number: int) -> int | None:
    """Answer the pings of rank 0, and return the origin of time that it sends afterwards."""
    patience_s = PATIENCE_S
    while (message := _receive(comm, 0, _TO_RANK, patience_s)) is not None:
        ping, origin_ns = message
        if origin_ns is None:
            _sent[:] = [x for x in _sent if not x.Test()]
            _sent.append(comm.isend((ping, number, now()), 0, _PONG))
            patience_s = 2 * PATIENCE_S  # rank 0 answers, and may wait for others
        elif ping == number:
            return int(origin_ns)
    return None


class TraceCollection:
    """Collects the traces of the other ranks for one dump, on rank 0.

    Args:
        world: The ranks.

    Attributes:
        clocks: Clock of each rank that arrived.
        missing: Ranks that record but did not arrive.
        origin_ns: Time from which the trace's times count, by rank 0's clock.
        dropped: Number of events that other ranks dropped.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self.clocks: dict[int, Clock] = {}
        self.dropped = 0
        self.origin_ns = START_NS
        self._numbers: dict[int, int] = {}
        silent = self._wait()
        self.missing = sorted((_recording - self.clocks.keys()) | silent)
        for rank, clock in self.clocks.items():
            request = (self._numbers[rank], self.origin_ns - clock.ahead_ns)
            _sent.append(world.traces.isend(request, rank, _TO_RANK))

    def _wait(self) -> set[int]:
        """Wait for the recording ranks, and return those that dumped but do not answer."""
        comm, mpi, start = self._world.traces, self._world.mpi, time.perf_counter()
        status, silent = mpi.Status(), set()
        while True:
            ready: dict[int, int] = {}
            while (message := comm.improbe(mpi.ANY_SOURCE, _NOTE, status)) is not None:
                rank_start_ns = message.recv()
                _recording.add(status.Get_source())
                if rank_start_ns is not None:
                    ready[status.Get_source()] = rank_start_ns
            for rank, start_ns in ready.items():
                found = _measured(comm, rank)
                if found is None:
                    silent.add(rank)
                    continue
                clock, self._numbers[rank] = found
                self.clocks[rank] = clock
                self.origin_ns = min(self.origin_ns, start_ns + clock.ahead_ns)
            passed = time.perf_counter() - start
            complete = _recording <= self.clocks.keys()
            if passed > (_LOOK_S if complete else PATIENCE_S):
                return silent - self.clocks.keys()
            time.sleep(_PAUSE_S)

    def traces(self) -> Iterator[bytes]:
        """Yield the traces of the other ranks as they arrive."""
        for rank, number in self._numbers.items():
            while True:
                found = _receive(
                    self._world.traces, rank, _TRACE, GLUONISH_DISTRIBUTED_TIMEOUT.value
                )
                if found is None or found[0] == number:
                    break
            if found is None:
                self.missing.append(rank)
                continue
            self.dropped += found[1]
            yield zlib.decompress(found[2])


def _measured(comm: Any, rank: int) -> tuple[Clock, int] | None:
    """Return a rank's clock, and the number of its dump; None if the rank does not answer."""
    best, number = Clock(0, 1 << 62), 0
    for _ in range(_PINGS):
        ping, begin_ns = next(_numbers), now()
        _sent.append(comm.isend((ping, None), rank, _TO_RANK))
        while (answer := _receive(comm, rank, _PONG, _PING_S)) is not None and answer[0] != ping:
            """Skip the answer to a ping that timed out."""
        if answer is None:
            return None
        end_ns = now()
        _, number, there_ns = answer
        found = Clock((begin_ns + end_ns) // 2 - there_ns, (end_ns - begin_ns) // 2)
        best = min(best, found, key=lambda clock: clock.error_ns)
    _sent[:] = [x for x in _sent if not x.Test()]
    return best, number


def _receive(comm: Any, rank: int, tag: int, patience_s: float) -> Any:
    """Return a rank's next message; None after a time-out."""
    start = time.perf_counter()
    while (message := comm.improbe(rank, tag)) is None:
        passed = time.perf_counter() - start
        if passed > patience_s:
            return None
        if passed < _SPIN_S:
            yield_core()
        else:
            time.sleep(_PAUSE_S / 10)
    return message.recv()


# Categories of events.
EXCHANGE = "communication"
PHASE = "part of communication"  # waiting for ranks, or transfer
SERVER = "kvstore server"  # work of a server
_MOST_NAMES = 20  # of arrays in an event


def observe_exchanges() -> Callable[[], None]:
    """Start recording communication between ranks; return a function that stops it."""
    ranks.announce()
    observers.append(_record)

    def end() -> None:
        observers.remove(_record)

    return end


def _record(exchange: Exchange) -> None:
    if not recorder.active:
        return
    ranks.announce()
    start_ns, ready_ns, stop_ns = map(from_counter, exchange[-3:])
    names = list(exchange.names[:_MOST_NAMES])
    if more := len(exchange.names) - len(names):
        names.append(f"and {more} more")
    details = {"keys": names, "bytes": exchange.nbytes}
    if exchange.kind == "answer":
        recorder.span(SERVER, exchange.what, start_ns, stop_ns, details)
        return
    if exchange.kind == "exchange":
        waiting, transfer = (ready_ns - start_ns) / 1000, (stop_ns - ready_ns) / 1000
        details |= {"waiting_us": waiting, "transfer_us": transfer}
        recorder.span(PHASE, "waiting for ranks", start_ns, ready_ns)
        recorder.span(PHASE, "transfer", ready_ns, stop_ns)
    recorder.span(EXCHANGE, exchange.what, start_ns, stop_ns, details)
