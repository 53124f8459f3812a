"""Channel: collectives of all ranks, as engine operations in a fixed order.

Every exchange writes the variable ``_order``, so that exchanges run one by one in program order,
the same on all ranks, each as soon as its arrays are computed and in parallel with other lanes. A
`Rendezvous` precedes each exchange.
"""

import atexit
import sys
import time
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np

from gluonish.core.errors import DistributedError
from gluonish.core.spec import Shape
from gluonish.engine import current_engine
from gluonish.kvstore.distributed.host_memory import Messages, Transport, host_memory
from gluonish.kvstore.distributed.observers import notify, observers
from gluonish.kvstore.distributed.pieces import (
    BUCKET_NBYTES,
    Edges,
    NamedArray,
    Purpose,
    buckets,
    on_host,
    pieces,
    unpack,
)
from gluonish.kvstore.distributed.rendezvous import END, STALE, NewGradients, Rendezvous
from gluonish.kvstore.distributed.server import Server
from gluonish.kvstore.distributed.world import World, world
from gluonish.ndarray import NDArray
from gluonish.ops.support.across_ranks import join_ranks
from gluonish.ops.support.precision import accumulator
from gluonish_engine import Var

__all__ = ["BUCKET_NBYTES", "Channel", "Codec", "NamedArray", "channel", "share_statistics"]

_LANE = ("mpi", 0, "exchange")

_channels: list["Channel"] = []


def channel() -> "Channel":
    """Return the channel of this process; the first call starts MPI.

    Raises:
        NotSupportedError: mpi4py or MPI itself is not installed.
    """
    if not _channels:
        # The engine may start a profiler, whose exit handler must run after the channel's.
        current_engine()
        new = Channel(world())
        if not _channels:  # atomic with the append
            _channels.append(new)
            atexit.register(new.end)
    return _channels[0]


class Codec(Protocol):
    """Converts arrays to bytes to send them."""

    def pack(self, sent: Any, /) -> Any:
        """Return an array in host memory as bytes."""
        raise NotImplementedError

    def unpack(self, packed: Any, shape: Shape, /) -> Any:
        """Return a new array from the bytes of `pack`."""
        raise NotImplementedError


class Channel:
    """Runs collectives between the ranks of a world, one exchange after another."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._host = host_memory(world)
        self._transport: Transport = self._host or Messages(world)
        self._rendezvous = Rendezvous(world, self._host)
        self._order = Var()
        self._servers: list[Server] = []
        self._new: NewGradients | None = None  # sent with the next exchange
        self.sent_nbytes = 0

    def allreduce(
        self, arrays: Sequence[NamedArray], what: str, codec: Codec | None = None
    ) -> None:
        """Replace arrays by their sums over all ranks, with equal bits on each.

        Args:
            arrays: Dense arrays that nothing else writes.
            what: Purpose, for messages.
            codec: Compression; None sends uncompressed arrays.
        """
        for bucket in buckets(arrays):
            xs = [x.array for x in bucket]
            act = partial(self._sum_packed, xs, codec) if codec else partial(self._sum, xs)
            self._push(what, bucket, act)

    def reduce_scatter(
        self, arrays: Sequence[NamedArray], edges: Sequence[Edges], what: str
    ) -> None:
        """Replace this rank's shard of arrays by its sum over all ranks.

        Args:
            arrays: Dense arrays that nothing else writes.
            edges: For each array the first element of each rank's shard, and the array's size.
            what: Purpose, for messages.
        """
        self._push_sharded(arrays, edges, what, self._reduce_shards)

    def all_gather(self, arrays: Sequence[NamedArray], edges: Sequence[Edges], what: str) -> None:
        """Copy each rank's shard of arrays to all other ranks; see `reduce_scatter`."""
        self._push_sharded(arrays, edges, what, self._copy_shards)

    def _push_sharded(
        self,
        arrays: Sequence[NamedArray],
        edges: Sequence[Edges],
        what: str,
        act: Callable[[Sequence[NDArray], Sequence[Edges]], None],
    ) -> None:
        edges_of = {id(x.array): limits for x, limits in zip(arrays, edges, strict=True)}
        for bucket in buckets(arrays):
            xs = [x.array for x in bucket]
            limits = [edges_of[id(x)] for x in xs]
            self._push(what, bucket, partial(act, xs, limits))

    def broadcast(self, arrays: Sequence[NamedArray], what: str) -> None:
        """Copy rank 0's arrays to all other ranks.

        Args:
            arrays: Dense arrays.
            what: Purpose, for messages.
        """
        for bucket in buckets(arrays):
            self._push(what, bucket, partial(self._broadcast, [x.array for x in bucket]))

    def gather(self, value: Any, what: str) -> list[Any]:
        """Return a list of the values that the ranks pass, by rank; waits for all ranks.

        Args:
            value: Any picklable object.
            what: Purpose, for messages.
        """
        found: list[Any] = []
        self._push(what, (), lambda: found.extend(self.world.values.allgather(value)))
        current_engine().wait(self._order)
        return found

    def barrier(self, what: str = "a barrier") -> None:
        """Wait until all ranks have called this.

        Args:
            what: Purpose, for messages.
        """
        self._push(what, (), _no_op)
        current_engine().wait(self._order)

    def new_gradients(self, mine: NewGradients) -> NewGradients:
        """Return the gradients that are new on any rank, which all ranks sum next.

        If all are new on this rank, this does not wait; the other ranks are notified with the next
        exchange.

        Args:
            mine: The new gradients of this rank.
        """
        self._new = mine
        if mine.new is None:
            return mine
        found: list[NewGradients] = []
        self._push(mine.text(), (), _no_op, on_result=found.append)
        current_engine().wait(self._order)
        return found[0]

    def report_stale(self, label: str) -> None:
        """Make the other ranks fail unless they call this, too: this rank cannot run its step.

        Args:
            label: Name of the parameter with the stale gradient in messages.
        """
        self._push(Purpose(STALE, f"an error, as there is no new gradient of {label}"), (), _no_op)

    def run_local(
        self, act: Callable[[], object], arrays: Sequence[NDArray], *, wait: bool = False
    ) -> None:
        """Run an operation that involves no other rank, in order with the exchanges.

        Args:
            act: The operation.
            arrays: Arrays that it reads or writes.
            wait: Whether to wait for the operation.

        Raises:
            DistributedError: The operation failed; without ``wait`` the error is raised when the
                arrays are read.
        """
        variables = [x._var for x in arrays]

        def run() -> None:
            failed = next((x.error for x in variables if x.error is not None), None)
            if failed is not None:
                raise DistributedError(f"kvstore: expected arrays to send, got a failure: {failed}")
            act()

        current_engine().push(run, (), [*variables, self._order], _LANE, 0, "kvstore_request")
        if wait:
            current_engine().wait(self._order)

    def serve(self, handle: Callable[[str, Any], Any]) -> Server:
        """Start a server in each rank; a collective call.

        Args:
            handle: Request handler; see `Server`.
        """
        self.barrier("the start of servers")
        self._servers.append(Server(self.world, handle))
        return self._servers[-1]

    def end(self) -> None:
        """Wait for the other ranks at the end of the process, or report missing ones."""
        try:
            self.barrier(END)
        except DistributedError as error:
            sys.stderr.write(f"rank {self.world.rank} ends the job: {error}\n")
            self.world.abort(1)
        for server in self._servers:
            server.end()
        if self._host is not None:
            self._host.end()
        self.world.leave()

    def exchange(
        self,
        what: str,
        named: Sequence[NamedArray],
        act: Callable[[], None],
        arrays: Sequence[NDArray],
        lane: Hashable,
    ) -> None:
        """Push an operation that all ranks run, after they have agreed on it.

        Args:
            what: Purpose, for messages.
            named: Arrays whose names the ranks compare before the operation.
            act: The operation.
            arrays: All arrays that the operation writes.
            lane: Engine lane of the operation.
        """
        self._push(what, named, act, [x._var for x in arrays], lane)

    def _push(
        self,
        what: str,
        arrays: Sequence[NamedArray],
        act: Callable[[], None],
        written: Sequence[Var] | None = None,
        lane: Hashable = _LANE,
        on_result: Callable[[Any], object] | None = None,
    ) -> None:
        variables = [x.array._var for x in arrays] if written is None else written
        new, self._new = self._new, None
        run = partial(self._run, what, arrays, variables, act, new, on_result)
        # The arrays are not reads: a rank with failed arrays must still arrive, to report this.
        current_engine().push(run, (), [*variables, self._order], lane, 0, "kvstore_exchange")

    def _run(
        self,
        what: str,
        arrays: Sequence[NamedArray],
        variables: Sequence[Var],
        act: Callable[[], None],
        new: NewGradients | None,
        on_result: Callable[[Any], object] | None,
    ) -> None:
        """Wait for all ranks, run the operation, and report the times to observers."""
        sent, start_ns = self.sent_nbytes, time.perf_counter_ns()
        found = self._meet(what, arrays, variables, new)
        ready_ns = time.perf_counter_ns()
        act()
        if on_result is not None:
            on_result(found)
        if observers:
            names = [x.name for x in arrays]
            notify("exchange", what, names, self.sent_nbytes - sent, start_ns, ready_ns)

    def _meet(
        self,
        what: str,
        arrays: Sequence[NamedArray],
        variables: Sequence[Var],
        new: NewGradients | None,
    ) -> NewGradients | None:
        failed = next((x.error for x in variables if x.error is not None), None)
        if failed is None:
            text = _lines(what, arrays, str)
            return self._rendezvous.arrive(text, partial(_labelled, what, arrays), new)
        message = f"a failure: {getattr(failed, 'cause', failed)}"
        self._rendezvous.arrive(message)
        raise DistributedError(f"kvstore: expected arrays to exchange, got {message}")

    def _sum(self, arrays: Sequence[NDArray]) -> None:
        for memory, _, packed in pieces(arrays):
            wide = accumulator(memory.dtype)
            total = memory.astype(wide) if wide != memory.dtype else memory
            self._transport.allreduce(total)
            self.sent_nbytes += total.nbytes
            if total is not memory:
                memory[...] = total  # rounded once
            unpack(memory, packed)

    def _reduce_shards(self, arrays: Sequence[NDArray], limits: Sequence[Edges]) -> None:
        rank = self.world.rank
        for memory, edges, packed in pieces(arrays, limits):
            wide = accumulator(memory.dtype)
            total = memory.astype(wide) if wide != memory.dtype else memory
            self._transport.reduce_scatter(total, edges)
            self.sent_nbytes += total.nbytes
            if total is not memory:
                shard = slice(edges[rank], edges[rank + 1])
                memory[shard] = total[shard]  # rounded once
            unpack(memory, packed)

    def _copy_shards(self, arrays: Sequence[NDArray], limits: Sequence[Edges]) -> None:
        for memory, edges, packed in pieces(arrays, limits):
            self._transport.all_gather(memory, edges)
            self.sent_nbytes += memory.nbytes
            unpack(memory, packed)

    def _sum_packed(self, arrays: Sequence[NDArray], codec: Codec) -> None:
        packed = [codec.pack(on_host(x)) for x in arrays]
        sent = np.concatenate(packed)
        received = np.empty((self.world.size, sent.size), np.uint8)
        self.world.values.Allgather(sent, received)
        self.sent_nbytes += sent.nbytes
        first = 0
        for x, data in zip(arrays, packed, strict=True):
            columns = slice(first, first + data.size)
            total = codec.unpack(received[0, columns], x.shape)
            for other in received[1:, columns]:  # in the order of the ranks
                total += codec.unpack(other, x.shape)
            unpack(total.reshape(-1), [x])
            first += data.size

    def _broadcast(self, arrays: Sequence[NDArray]) -> None:
        for memory, _, packed in pieces(arrays):
            self._transport.broadcast(memory)
            self.sent_nbytes += memory.nbytes
            unpack(memory, packed)


def _no_op() -> None:
    pass


def _lines(what: str, arrays: Sequence[NamedArray], text: Callable[[NamedArray], str]) -> str:
    """Return the description of an exchange, with a line for each array."""
    first = f"{what}, {len(arrays)} arrays" if arrays else what
    return "\n".join([first, *map(text, arrays)])


def _labelled(what: str, arrays: Sequence[NamedArray]) -> str:
    """Return the description of an exchange with labels, for messages."""
    return _lines(getattr(what, "labelled", what), arrays, NamedArray.labelled)


def share_statistics(channel: Channel) -> None:
    """Use the batch statistics of all ranks in SyncBatchNorm, summed by exchanges of a channel."""

    def allreduce(array: NDArray, what: str) -> None:
        channel.allreduce([NamedArray("statistics", array)], what)

    if channel.world.size > 1:
        join_ranks(allreduce)
