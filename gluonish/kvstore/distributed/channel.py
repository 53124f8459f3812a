"""Channel: what all ranks do together, as operations of the engine, in one order.

Every exchange writes the variable ``_order``, so that exchanges run one after another in the order
in which the program asked for them, the same on all ranks, each as soon as its arrays are there and
while other lanes compute. A `Meeting` comes before each.
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
from gluonish.kvstore.distributed.host_memory import host_memory
from gluonish.kvstore.distributed.meeting import END, STALE, Meeting
from gluonish.kvstore.distributed.messages import Messages, Transport
from gluonish.kvstore.distributed.new_gradients import NewGradients
from gluonish.kvstore.distributed.pieces import (
    BUCKET_NBYTES,
    Edges,
    Named,
    Purpose,
    buckets,
    on_host,
    pieces,
    unpack,
)
from gluonish.kvstore.distributed.server import Server
from gluonish.kvstore.distributed.watch import tell, watchers
from gluonish.kvstore.distributed.world import World, world
from gluonish.ndarray import NDArray
from gluonish.ops.support.precision import accumulator
from gluonish_engine import Var

__all__ = ["BUCKET_NBYTES", "Channel", "Codec", "Named", "channel"]

_LANE = ("mpi", 0, "exchange")

_channels: list["Channel"] = []


def channel() -> "Channel":
    """Return the channel of this process; starts MPI at the first call.

    Raises:
        NotSupportedError: mpi4py or MPI itself is not installed.
    """
    if not _channels:
        current_engine()  # a profiler that it starts writes its file at exit after the ranks met
        made = Channel(world())
        if not _channels:  # a step
            _channels.append(made)
            atexit.register(made.end)
    return _channels[0]


class Codec(Protocol):
    """Converts arrays to bytes to send them."""

    def pack(self, sent: Any, /) -> Any:
        """Return an array in host memory as bytes.

        Args:
            sent: The array.
        """
        raise NotImplementedError

    def unpack(self, packed: Any, shape: Shape, /) -> Any:
        """Return the array that `pack` converted to bytes, a new array.

        Args:
            packed: The bytes.
            shape: Shape of the array.
        """
        raise NotImplementedError


class Channel:
    """Communication between the ranks of a world, one exchange after another.

    Args:
        world: The world.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self._host = host_memory(world)
        self._transport: Transport = self._host or Messages(world)
        self._meeting = Meeting(world, self._host)
        self._order = Var()
        self._servers: list[Server] = []
        self._new: NewGradients | None = None  # what the next exchange says of its step
        self.sent_nbytes = 0

    def add_up(self, arrays: Sequence[Named], what: str, codec: Codec | None = None) -> None:
        """Replace arrays by their sums over all ranks, with equal bits on each.

        Args:
            arrays: Dense arrays that nothing else writes.
            what: Purpose, for messages.
            codec: Compresses what is sent; None sends the arrays as they are.
        """
        for bucket in buckets(arrays):
            parts = [x.array for x in bucket]
            act = partial(self._sum_packed, parts, codec) if codec else partial(self._sum, parts)
            self._push(what, bucket, act)

    def reduce_scatter(self, arrays: Sequence[Named], edges: Sequence[Edges], what: str) -> None:
        """Replace this rank's share of arrays by its sum over all ranks.

        Args:
            arrays: Dense arrays that nothing else writes.
            edges: For each array where each rank's share of its elements begins, and the array's
                size at the end.
            what: Purpose, for messages.
        """
        self._share(arrays, edges, what, self._sum_shares)

    def all_gather(self, arrays: Sequence[Named], edges: Sequence[Edges], what: str) -> None:
        """Copy each rank's share of arrays to all other ranks; see `reduce_scatter`."""
        self._share(arrays, edges, what, self._take_shares)

    def _share(
        self,
        arrays: Sequence[Named],
        edges: Sequence[Edges],
        what: str,
        act: Callable[[Sequence[NDArray], Sequence[Edges]], None],
    ) -> None:
        of = {id(x.array): limits for x, limits in zip(arrays, edges, strict=True)}
        for bucket in buckets(arrays):
            parts = [x.array for x in bucket]
            limits = [of[id(x)] for x in parts]
            self._push(what, bucket, partial(act, parts, limits))

    def broadcast(self, arrays: Sequence[Named], what: str) -> None:
        """Replace arrays by those of rank 0.

        Args:
            arrays: Dense arrays.
            what: Purpose, for messages.
        """
        for bucket in buckets(arrays):
            self._push(what, bucket, partial(self._spread, [x.array for x in bucket]))

    def gather(self, value: Any, what: str) -> list[Any]:
        """Return a list with the value that each rank passes, by rank, on all ranks; waits for all.

        Args:
            value: Anything that can be pickled.
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
        self._push(what, (), _nothing)
        current_engine().wait(self._order)

    def new_gradients(self, mine: NewGradients) -> NewGradients:
        """Return which gradients are new on any rank, for all ranks to sum them next.

        Where all are new here, this is known at once; the other ranks learn it with the next
        exchange.

        Args:
            mine: What is new on this rank.
        """
        self._new = mine
        if mine.new is None:
            return mine
        found: list[NewGradients] = []
        self._push(mine.text(), (), _nothing, answer=found.append)
        current_engine().wait(self._order)
        return found[0]

    def report_stale(self, label: str) -> None:
        """Have other ranks fail, unless they do so as well, as this one cannot take its step.

        Args:
            label: What messages call the parameter whose gradient is not new.
        """
        self._push(
            Purpose(STALE, f"an error, as there is no new gradient of {label}"), (), _nothing
        )

    def alone(
        self, act: Callable[[], object], arrays: Sequence[NDArray], *, wait: bool = False
    ) -> None:
        """Run an operation that involves no other rank, in order with the exchanges.

        Args:
            act: The operation.
            arrays: Arrays that it reads or writes.
            wait: Whether to wait until it is done.

        Raises:
            DistributedError: It failed; without ``wait`` the error is raised when the arrays are
                read.
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
        """Start a server in each rank; all ranks must call this at the same time.

        Args:
            handle: Function that answers requests; see `Server`.
        """
        self.barrier("the start of servers")
        self._servers.append(Server(self.world, handle))
        return self._servers[-1]

    def end(self) -> None:
        """Wait for the other ranks at the end of the process, or report which are missing."""
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
        named: Sequence[Named],
        act: Callable[[], None],
        arrays: Sequence[NDArray],
        lane: Hashable,
    ) -> None:
        """Push an operation that all ranks run, after they have agreed on it.

        Args:
            what: Purpose, for messages.
            named: Arrays with the names on which the ranks agree.
            act: The operation.
            arrays: All arrays that it writes.
            lane: Engine lane in which it runs.
        """
        self._push(what, named, act, [x._var for x in arrays], lane)

    def _push(
        self,
        what: str,
        arrays: Sequence[Named],
        act: Callable[[], None],
        written: Sequence[Var] | None = None,
        lane: Hashable = _LANE,
        answer: Callable[[Any], object] | None = None,
    ) -> None:
        variables = [x.array._var for x in arrays] if written is None else written
        new, self._new = self._new, None
        run = partial(self._watched, what, arrays, variables, act, new, answer)
        # Not as reads: a rank whose arrays carry a failure must come and say so.
        current_engine().push(run, (), [*variables, self._order], lane, 0, "kvstore_exchange")

    def _watched(
        self,
        what: str,
        arrays: Sequence[Named],
        variables: Sequence[Var],
        act: Callable[[], None],
        new: NewGradients | None,
        answer: Callable[[Any], object] | None,
    ) -> None:
        """Meet and act, and tell who watches how long either took."""
        sent, start_ns = self.sent_nbytes, time.perf_counter_ns()
        found = self._meet(what, arrays, variables, new)
        met_ns = time.perf_counter_ns()
        act()
        if answer is not None:
            answer(found)
        if watchers:
            names = [x.name for x in arrays]
            tell("exchange", what, names, self.sent_nbytes - sent, start_ns, met_ns)

    def _meet(
        self,
        what: str,
        arrays: Sequence[Named],
        variables: Sequence[Var],
        new: NewGradients | None,
    ) -> NewGradients | None:
        failed = next((x.error for x in variables if x.error is not None), None)
        if failed is None:
            words = _lines(what, arrays, str)
            return self._meeting.meet(words, partial(_labelled, what, arrays), new)
        message = f"a failure: {getattr(failed, 'cause', failed)}"
        self._meeting.meet(message)
        raise DistributedError(f"kvstore: expected arrays to exchange, got {message}")

    def _sum(self, arrays: Sequence[NDArray]) -> None:
        for whole, _, parts in pieces(arrays):
            total = (
                whole.astype(wide) if (wide := accumulator(whole.dtype)) != whole.dtype else whole
            )
            self._transport.add_up(total)
            self.sent_nbytes += total.nbytes
            if total is not whole:
                whole[...] = total  # rounded once
            unpack(whole, parts)

    def _sum_shares(self, arrays: Sequence[NDArray], limits: Sequence[Edges]) -> None:
        rank = self.world.rank
        for whole, edges, parts in pieces(arrays, limits):
            wide = accumulator(whole.dtype)
            total = whole.astype(wide) if wide != whole.dtype else whole
            self._transport.reduce_scatter(total, edges)
            self.sent_nbytes += total.nbytes
            if total is not whole:
                place = slice(edges[rank], edges[rank + 1])
                whole[place] = total[place]  # rounded once
            unpack(whole, parts)

    def _take_shares(self, arrays: Sequence[NDArray], limits: Sequence[Edges]) -> None:
        for whole, edges, parts in pieces(arrays, limits):
            self._transport.all_gather(whole, edges)
            self.sent_nbytes += whole.nbytes
            unpack(whole, parts)

    def _sum_packed(self, arrays: Sequence[NDArray], codec: Codec) -> None:
        packed = [codec.pack(on_host(x)) for x in arrays]
        mine = np.concatenate(packed)
        heard = np.empty((self.world.size, mine.size), np.uint8)
        self.world.values.Allgather(mine, heard)
        self.sent_nbytes += mine.nbytes
        first = 0
        for x, part in zip(arrays, packed, strict=True):
            place = slice(first, first + part.size)
            total = codec.unpack(heard[0, place], x.shape)
            for other in heard[1:, place]:  # in the order of the ranks
                total += codec.unpack(other, x.shape)
            unpack(total.reshape(-1), [x])
            first += part.size

    def _spread(self, arrays: Sequence[NDArray]) -> None:
        for whole, _, parts in pieces(arrays):
            self._transport.spread(whole)
            self.sent_nbytes += whole.nbytes
            unpack(whole, parts)


def _nothing() -> None:
    pass


def _lines(what: str, arrays: Sequence[Named], text: Callable[[Named], str]) -> str:
    """Return what ranks are about to do, a line for it and one for each array."""
    first = f"{what}, {len(arrays)} arrays" if arrays else what
    return "\n".join([first, *map(text, arrays)])


def _labelled(what: str, arrays: Sequence[Named]) -> str:
    """Return the same lines as messages have them."""
    return _lines(getattr(what, "labelled", what), arrays, Named.labelled)
