"""HostMemory: sums and copies of arrays through memory that the ranks of one host share.

Each rank has a place in it. Of an array that is to be summed, a rank puts into its place what other
ranks add up, adds up its own share in the order of the ranks, and takes the others' sums from their
places. That copies less than messages do, and a rank that waits leaves its core to what it
computes. The memory comes from MPI and has no name: nothing is left of it, however ranks end.

There are two sets of places, used in turns. A rank is at step n + 1 only when all have come to step
n, so that nobody reads any more what was written two turns ago.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from gluonish.core.config import GLUONISH_DISTRIBUTED_TIMEOUT
from gluonish.core.errors import DistributedError
from gluonish.kvstore.distributed.messages import shares
from gluonish.kvstore.distributed.world import World

_NBYTES = 16 << 20  # of all places; Docker gives all programs of a container 64 MB
_PLACE_NBYTES = 4 << 20  # at most
_LINE_NBYTES = 64  # by which processors share memory
_SAID_NBYTES = 512
_SPIN_S, _SHORTEST_S, _LONGEST_S = 1e-5, 2e-5, 1e-3

_Limits = Sequence[tuple[int, int]]


def host_memory(world: World) -> "HostMemory | None":
    """Return memory that all ranks share; None with several hosts, or with a single rank.

    All ranks must call it at the same time.

    Args:
        world: The world.
    """
    node = world.words.Split_type(world.mpi.COMM_TYPE_SHARED)
    serves = 1 < node.size == world.size <= _NBYTES // 2 // _LINE_NBYTES**2
    if not serves or not world.words.bcast(_has_room()):
        node.Free()
        return None
    return HostMemory(world, node)


def _has_room() -> bool:
    try:
        found = os.statvfs("/dev/shm")
    except OSError:  # it is elsewhere
        return True
    return found.f_bavail * found.f_frsize > 2 * _NBYTES


class HostMemory:
    """Shared memory of the ranks of a world on one host.

    Args:
        world: The world.
        node: Communicator of its ranks.
    """

    def __init__(self, world: World, node: Any) -> None:
        self._world, self._node = world, node
        size = world.size
        place = min(_PLACE_NBYTES, _NBYTES // 2 // size)
        self._room = place // size // _LINE_NBYTES * _LINE_NBYTES  # of each rank's share in a place
        lengths = (size * _LINE_NBYTES, 2 * size * _SAID_NBYTES, 2 * size * size * self._room)
        nbytes = sum(lengths) if world.rank == 0 else 0
        self._window = world.mpi.Win.Allocate_shared(nbytes, 1, comm=node)
        self._window.Lock_all()
        memory = np.frombuffer(self._window.Shared_query(0)[0], np.uint8, sum(lengths))
        first, second, third = np.split(memory, np.cumsum(lengths)[:2])
        self._steps = first.view(np.int64)[:: _LINE_NBYTES // 8]
        self._said = second.reshape(2, size, _SAID_NBYTES)
        self._places = third.reshape(2, size, size * self._room)
        if world.rank == 0:
            first[:] = second[:] = 0
        self._step = self._turn = 0
        self._broken = ""
        node.barrier()

    def tell(self, count: int, said: Any, seconds: float) -> tuple[Any, list[int]]:
        """Publish some bytes to all ranks, and return what they publish.

        Args:
            count: Number of this call, from 1; other ranks wait for it.
            said: Up to 512 bytes, of which the first eight are ``count``.
            seconds: Maximum time to wait for the others.

        Returns:
            What each rank published, valid until the next call, and the ranks that did not arrive.
        """
        rows = self._said[count % 2]
        counts = rows[:, :8].view(np.int64)[:, 0]
        rows[self._world.rank, 8:] = said[8:]
        self._window.Sync()
        counts[self._world.rank] = count
        if _wait(lambda: bool((counts >= count).all()), seconds):
            self._window.Sync()
            return rows, []
        return self._said[1 - count % 2], np.flatnonzero(counts < count).tolist()

    def add_up(self, x: Any) -> None:
        """Replace an array by its sum over all ranks.

        Args:
            x: Contiguous one-dimensional array.
        """
        for limits in self._cuts(x, shares(x.size, self._world.size)):
            self._add_share(x, limits)
            self._take_shares(x, limits)

    def reduce_scatter(self, x: Any, edges: Sequence[int]) -> None:
        """Replace this rank's share of an array by its sum over all ranks.

        Args:
            x: Contiguous one-dimensional array.
            edges: Where each rank's share begins, and the last one ends.
        """
        for limits in self._cuts(x, edges):
            self._add_share(x, limits)

    def all_gather(self, x: Any, edges: Sequence[int]) -> None:
        """Copy each rank's share of an array to all other ranks; see `reduce_scatter`."""
        rank = self._world.rank
        for limits in self._cuts(x, edges):
            first, last = limits[rank]
            self._turn = 1 - self._turn
            self._share(rank, rank, limits, x)[:] = x[first:last]
            self._take_shares(x, limits)

    def spread(self, x: Any) -> None:
        """Replace an array by that of rank 0.

        Args:
            x: Contiguous one-dimensional array.
        """
        others = [x.size] * self._world.size
        self.all_gather(x, [0, *others])

    def _cuts(self, x: Any, edges: Sequence[int]) -> Iterator[_Limits]:
        """Yield what is exchanged at once: where each rank's part begins and ends."""
        step = self._room // x.itemsize
        for begin in range(0, max(b - a for a, b in pairwise(edges)), step):
            yield [(min(a + begin, b), min(a + begin + step, b)) for a, b in pairwise(edges)]

    def _add_share(self, x: Any, limits: _Limits) -> None:
        """Add up this rank's part, into the array and the rank's own place."""
        mine, ranks = self._world.rank, range(self._world.size)
        self._turn = 1 - self._turn
        for rank, (first, last) in enumerate(limits):
            if rank != mine:
                self._share(mine, rank, limits, x)[:] = x[first:last]
        self._meet()
        first, last = limits[mine]
        parts = [self._share(rank, mine, limits, x) for rank in ranks]
        total, parts[mine] = parts[mine], x[first:last]
        np.add(parts[0], parts[1], out=total)
        for part in parts[2:]:
            total += part
        x[first:last] = total

    def _take_shares(self, x: Any, limits: _Limits) -> None:
        """Copy the others' parts from where they added them up."""
        self._meet()
        for rank, (first, last) in enumerate(limits):
            if rank != self._world.rank:
                x[first:last] = self._share(rank, rank, limits, x)

    def _share(self, place: int, rank: int, limits: _Limits, like: Any) -> Any:
        """Return where, in the place of one rank, the part of another one lies."""
        first, last = limits[rank]
        begin = rank * self._room
        nbytes = (last - first) * like.itemsize
        return self._places[self._turn, place, begin : begin + nbytes].view(like.dtype)

    def _meet(self) -> None:
        """Let others see what was written, and wait until all have come as far."""
        if not self._broken:
            self._step += 1
            self._window.Sync()
            self._steps[self._world.rank] = self._step
            seconds = GLUONISH_DISTRIBUTED_TIMEOUT.value
            if _wait(lambda: bool((self._steps >= self._step).all()), seconds):
                self._window.Sync()
                return
            late = np.flatnonzero(self._steps < self._step)
            named = "; ".join(f"rank {rank} ({self._world.places[rank]})" for rank in late)
            self._broken = (
                f"kvstore: expected all ranks to go on with an exchange within {seconds:g} s, got "
                f"nothing from {named}; these hang"
            )
        raise DistributedError(self._broken)

    def end(self) -> None:
        """Free the memory; all ranks must call it at the same time."""
        self._window.Unlock_all()
        self._window.Free()
        self._node.Free()


def _wait(reached: Callable[[], bool], seconds: float) -> bool:
    """Return True as soon as something holds, or False after some seconds."""
    if reached():
        return True
    start, pause = time.perf_counter(), _SHORTEST_S
    while not reached():
        passed = time.perf_counter() - start
        if passed > seconds:
            return False
        if passed > _SPIN_S:
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_S)
    return True
