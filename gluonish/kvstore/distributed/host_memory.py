"""HostMemory: collectives on arrays through shared memory of the ranks of one host.

Each rank has a slot in it. To sum an array, a rank copies the other ranks' shards into its slot,
sums its shard over all slots in the order of the ranks, and copies the other shards' sums from
their slots. This copies less than messages, and a waiting rank does not occupy its core. The memory
is anonymous MPI memory, so that nothing remains of it, however ranks end.

There are two buffers of slots, used alternately. A rank is at step n + 1 only after all ranks have
reached step n, so that no rank reads data from two steps ago.

Messages: collectives on arrays by MPI messages, on one host or several.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from gluonish.core.config import GLUONISH_DISTRIBUTED_TIMEOUT
from gluonish.core.errors import DistributedError
from gluonish.kvstore.distributed.world import World

# Chunks keep MPI's shared memory in the caches: a sum of 44 MB takes 4 ms, 16 ms unchunked.
_CHUNK_NBYTES = 1 << 20
_GRAIN = 64  # elements, to align shards with cache lines


class Transport(Protocol):
    """Interface of collectives on contiguous one-dimensional arrays.

    ``edges`` are the first elements of the ranks' shards, and the end of the last one.
    """

    def allreduce(self, x: Any) -> None:
        """Replace an array by its sum over all ranks, with equal bits on each."""
        raise NotImplementedError

    def reduce_scatter(self, x: Any, edges: Sequence[int]) -> None:
        """Replace this rank's shard by its sum over all ranks."""
        raise NotImplementedError

    def all_gather(self, x: Any, edges: Sequence[int]) -> None:
        """Copy each rank's shard of an array to all other ranks."""
        raise NotImplementedError

    def broadcast(self, x: Any) -> None:
        """Copy rank 0's array to all other ranks."""
        raise NotImplementedError


class Messages:
    """A `Transport` that uses MPI messages."""

    def __init__(self, world: World) -> None:
        self._rank, self._mpi, self._comm = world.rank, world.mpi, world.values

    def allreduce(self, x: Any) -> None:
        """Replace an array by its sum over all ranks, the same bits on each."""
        step = _CHUNK_NBYTES // x.itemsize
        for first in range(0, x.size, step):
            self._comm.Allreduce(self._mpi.IN_PLACE, x[first : first + step])

    def reduce_scatter(self, x: Any, edges: Sequence[int]) -> None:
        """Replace this rank's shard by its sum over all ranks."""
        shard = x[edges[self._rank] : edges[self._rank + 1]]
        total = np.empty_like(shard)
        self._comm.Reduce_scatter(x, total, [last - first for first, last in pairwise(edges)])
        shard[:] = total

    def all_gather(self, x: Any, edges: Sequence[int]) -> None:
        """Copy each rank's shard of an array to all other ranks."""
        raw = x.view(np.uint8)
        counts = [(last - first) * x.itemsize for first, last in pairwise(edges)]
        begins = [first * x.itemsize for first in edges[:-1]]
        self._comm.Allgatherv(self._mpi.IN_PLACE, [raw, counts, begins, self._mpi.BYTE])

    def broadcast(self, x: Any) -> None:
        """Copy rank 0's array to all other ranks."""
        self._comm.Bcast(x.view(np.uint8), 0)


def shard_edges(size: int, count: int) -> list[int]:
    """Return the edges of ``count`` equal shards of an array of ``size`` elements."""
    step = -(-size // (count * _GRAIN)) * _GRAIN
    return [min(size, i * step) for i in range(count)] + [size]


_NBYTES = 16 << 20  # total size of the slots; a Docker container has 64 MB in total by default
_SLOT_NBYTES = 4 << 20  # at most
_LINE_NBYTES = 64  # of a cache line
_MESSAGE_NBYTES = 512
_SPIN_S, _SHORTEST_S, _LONGEST_S = 1e-5, 2e-5, 1e-3

_Limits = Sequence[tuple[int, int]]


def host_memory(world: World) -> "HostMemory | None":
    """Return shared memory of all ranks; None with several hosts, or with a single rank.

    This is a collective call.
    """
    node = world.control.Split_type(world.mpi.COMM_TYPE_SHARED)
    supported = 1 < node.size == world.size <= _NBYTES // 2 // _LINE_NBYTES**2
    if not supported or not world.control.bcast(_has_space()):
        node.Free()
        return None
    return HostMemory(world, node)


def _has_space() -> bool:
    try:
        found = os.statvfs("/dev/shm")
    except OSError:  # the system has shared memory elsewhere
        return True
    return found.f_bavail * found.f_frsize > 2 * _NBYTES


class HostMemory:
    """A `Transport` through memory that the ranks of a world share on one host.

    Args:
        world: The world.
        node: Communicator of the ranks.
    """

    def __init__(self, world: World, node: Any) -> None:
        self._world, self._node = world, node
        size = world.size
        slot_nbytes = min(_SLOT_NBYTES, _NBYTES // 2 // size)
        # Bytes of each rank's shard in a slot.
        self._capacity = slot_nbytes // size // _LINE_NBYTES * _LINE_NBYTES
        slots_nbytes = 2 * size * size * self._capacity
        lengths = (size * _LINE_NBYTES, 2 * size * _MESSAGE_NBYTES, slots_nbytes)
        nbytes = sum(lengths) if world.rank == 0 else 0
        self._window = world.mpi.Win.Allocate_shared(nbytes, 1, comm=node)
        self._window.Lock_all()
        memory = np.frombuffer(self._window.Shared_query(0)[0], np.uint8, sum(lengths))
        first, second, third = np.split(memory, np.cumsum(lengths)[:2])
        self._steps = first.view(np.int64)[:: _LINE_NBYTES // 8]
        self._published = second.reshape(2, size, _MESSAGE_NBYTES)
        self._slots = third.reshape(2, size, size * self._capacity)
        if world.rank == 0:
            first[:] = second[:] = 0
        self._step = self._buffer = 0
        self._broken = ""
        node.barrier()

    def publish(self, count: int, message: Any, seconds: float) -> tuple[Any, list[int]]:
        """Publish a message to all ranks, and return the messages of all ranks.

        Args:
            count: Index of this call, from 1; other ranks wait for it.
            message: 512 bytes, where the first eight are ``count``.
            seconds: Maximum time to wait for the others.

        Returns:
            The messages by rank, valid until the next call, and the ranks that did not arrive.
        """
        rows = self._published[count % 2]
        counts = rows[:, :8].view(np.int64)[:, 0]
        rows[self._world.rank, 8:] = message[8:]
        self._window.Sync()
        counts[self._world.rank] = count
        if _wait(lambda: bool((counts >= count).all()), seconds):
            self._window.Sync()
            return rows, []
        return self._published[1 - count % 2], np.flatnonzero(counts < count).tolist()

    def allreduce(self, x: Any) -> None:
        """Replace an array by its sum over all ranks."""
        for limits in self._chunks(x, shard_edges(x.size, self._world.size)):
            self._reduce_shard(x, limits)
            self._copy_shards(x, limits)

    def reduce_scatter(self, x: Any, edges: Sequence[int]) -> None:
        """Replace this rank's shard of an array by its sum over all ranks."""
        for limits in self._chunks(x, edges):
            self._reduce_shard(x, limits)

    def all_gather(self, x: Any, edges: Sequence[int]) -> None:
        """Copy each rank's shard of an array to all other ranks."""
        rank = self._world.rank
        for limits in self._chunks(x, edges):
            first, last = limits[rank]
            self._buffer = 1 - self._buffer
            self._slot(rank, rank, limits, x)[:] = x[first:last]
            self._copy_shards(x, limits)

    def broadcast(self, x: Any) -> None:
        """Copy rank 0's array to all other ranks."""
        self.all_gather(x, [0, *[x.size] * self._world.size])

    def _chunks(self, x: Any, edges: Sequence[int]) -> Iterator[_Limits]:
        """Yield the limits of the ranks' shards in each chunk."""
        step = self._capacity // x.itemsize
        for begin in range(0, max(b - a for a, b in pairwise(edges)), step):
            yield [(min(a + begin, b), min(a + begin + step, b)) for a, b in pairwise(edges)]

    def _reduce_shard(self, x: Any, limits: _Limits) -> None:
        """Sum this rank's shard over all ranks, into the array and into the rank's slot."""
        own, ranks = self._world.rank, range(self._world.size)
        self._buffer = 1 - self._buffer
        for rank, (first, last) in enumerate(limits):
            if rank != own:
                self._slot(own, rank, limits, x)[:] = x[first:last]
        self._sync()
        first, last = limits[own]
        values = [self._slot(rank, own, limits, x) for rank in ranks]
        total, values[own] = values[own], x[first:last]
        np.add(values[0], values[1], out=total)
        for value in values[2:]:
            total += value
        x[first:last] = total

    def _copy_shards(self, x: Any, limits: _Limits) -> None:
        """Copy the sums of other ranks' shards from their slots."""
        self._sync()
        for rank, (first, last) in enumerate(limits):
            if rank != self._world.rank:
                x[first:last] = self._slot(rank, rank, limits, x)

    def _slot(self, owner: int, rank: int, limits: _Limits, like: Any) -> Any:
        """Return the memory of a rank's shard in the slot of ``owner``."""
        first, last = limits[rank]
        begin = rank * self._capacity
        nbytes = (last - first) * like.itemsize
        return self._slots[self._buffer, owner, begin : begin + nbytes].view(like.dtype)

    def _sync(self) -> None:
        """Publish this rank's writes, and wait until all ranks have reached this step."""
        if not self._broken:
            self._step += 1
            self._window.Sync()
            self._steps[self._world.rank] = self._step
            seconds = GLUONISH_DISTRIBUTED_TIMEOUT.value
            if _wait(lambda: bool((self._steps >= self._step).all()), seconds):
                self._window.Sync()
                return
            late = np.flatnonzero(self._steps < self._step)
            named = "; ".join(f"rank {rank} ({self._world.addresses[rank]})" for rank in late)
            self._broken = (
                f"kvstore: expected all ranks to continue an exchange within {seconds:g} s, got "
                f"nothing from {named}; these hang"
            )
        raise DistributedError(self._broken)

    def end(self) -> None:
        """Free the memory; a collective call."""
        self._window.Unlock_all()
        self._window.Free()
        self._node.Free()


def _wait(reached: Callable[[], bool], seconds: float) -> bool:
    """Return True as soon as a condition holds, or False after a timeout in seconds."""
    if reached():
        return True
    start, pause = time.perf_counter(), _SHORTEST_S
    while not reached():
        elapsed = time.perf_counter() - start
        if elapsed > seconds:
            return False
        if elapsed > _SPIN_S:
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_S)
    return True
