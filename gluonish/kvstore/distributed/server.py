"""Server: a thread in each rank that answers the requests of all ranks, whenever they come.

In an exchange of a `Channel` all ranks take part at the same time. A request needs only the rank
that asks and the server that answers, so that no rank waits for the pace of another.

Requests of one rank to one server are answered in the order in which they were made. Threads look
for messages now and then: a blocking call of MPI would keep a core busy that others compute on.
"""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from gluonish.core.config import GLUONISH_DISTRIBUTED_TIMEOUT
from gluonish.core.errors import DistributedError
from gluonish.kvstore.distributed.meeting import wait_for_ranks
from gluonish.kvstore.distributed.watch import names_of, nbytes_of, tell, watchers
from gluonish.kvstore.distributed.world import World

_REQUEST, _REPLY = 1, 2  # tags
_SHORTEST_S, _LONGEST_S = 2e-5, 1e-3
_BUSY_S = 2e-3  # how long after a message the next one is looked for at the shortest intervals


class Request(NamedTuple):
    """A request of a rank to a server.

    Attributes:
        kind: Name of the request, for the server's handler.
        content: Anything that can be pickled.
        replies: Whether the rank waits for the reply; errors of other requests come with the next
            reply.
    """

    kind: str
    content: Any = None
    replies: bool = True


class _Reply(NamedTuple):
    content: Any
    error: str


class Server:
    """Answers requests in a thread.

    Args:
        world: The ranks; all of them must create a server at the same time.
        handle: Function called with the kind and content of each request, one at a time, which
            returns the reply.
    """

    def __init__(self, world: World, handle: Callable[[str, Any], Any]) -> None:
        self._world = world
        self.comm = world.mpi.COMM_WORLD.Dup()
        self._handle = handle
        self._errors: dict[int, str] = {}  # of requests without a reply, by the rank that asked
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="kvstore server", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Stop; call it when no rank will send requests any more."""
        self._ended.set()
        self._thread.join()

    def _serve(self) -> None:
        mpi = self._world.mpi
        status = mpi.Status()
        last, pause = time.perf_counter(), _SHORTEST_S
        while not self._ended.is_set():
            message = self.comm.improbe(mpi.ANY_SOURCE, _REQUEST, status)
            if message is None:
                time.sleep(pause)
                if time.perf_counter() - last > _BUSY_S:
                    pause = min(2 * pause, _LONGEST_S)
                continue
            self._answer(status.Get_source(), Request(*message.recv()))
            last, pause = time.perf_counter(), _SHORTEST_S

    def _answer(self, source: int, request: Request) -> None:
        start_ns = time.perf_counter_ns()
        reply = self._reply(source, request)
        if watchers:
            what, names = f"{request.kind} of rank {source}", names_of(request.content)
            tell("answer", what, names, nbytes_of(reply), start_ns)

    def _reply(self, source: int, request: Request) -> Any:
        """Do what a rank wants, and send it the reply, if it waits for one."""
        content, error = None, ""
        try:
            content = self._handle(request.kind, request.content)
        except Exception as failure:  # it belongs to the rank that asked
            error = f"{type(failure).__name__}: {failure}"
        if not request.replies:
            if error:
                self._errors.setdefault(source, error)
            return None
        error = self._errors.pop(source, "") or error
        sent = self.comm.isend(_Reply(content, error), source, _REPLY)
        wait_for_ranks([sent], GLUONISH_DISTRIBUTED_TIMEOUT.value)
        return content


def ask(world: World, comm: Any, requests: Mapping[int, Request]) -> dict[int, Any]:
    """Send a request to each of some servers, and return their replies.

    Only one thread of a rank may call this at a time.

    Args:
        world: The ranks.
        comm: Communicator of the servers.
        requests: Requests by the server's rank.

    Raises:
        DistributedError: A server does not answer in time, or the request failed.
    """
    patience, start_ns = GLUONISH_DISTRIBUTED_TIMEOUT.value, time.perf_counter_ns()
    sent = [comm.isend(tuple(request), rank, _REQUEST) for rank, request in requests.items()]
    if not all(wait_for_ranks(sent, patience)):
        raise _silent(world, [*requests], patience)
    waiting = {rank for rank, request in requests.items() if request.replies}
    replies: dict[int, Any] = {}
    start, pause = time.perf_counter(), _SHORTEST_S
    while waiting:
        for rank in sorted(waiting):
            message = comm.improbe(rank, _REPLY)
            if message is not None:
                replies[rank] = _Reply(*message.recv())
        waiting -= replies.keys()
        if not waiting:
            break
        if time.perf_counter() - start > patience:
            raise _silent(world, sorted(waiting), patience)
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_S)
    if watchers and requests:
        _tell(requests, start_ns)
    for rank, reply in replies.items():
        if reply.error:
            raise DistributedError(f"kvstore: the server of rank {rank} failed with {reply.error}")
    return {rank: reply.content for rank, reply in replies.items()}


def _tell(requests: Mapping[int, Request], start_ns: int) -> None:
    """Tell watchers of requests whose replies are there."""
    kinds = ", ".join(dict.fromkeys(request.kind for request in requests.values()))
    contents = [request.content for request in requests.values()]
    names = dict.fromkeys(name for content in contents for name in names_of(content))
    what = f"{kinds} at rank {', '.join(map(str, sorted(requests)))}"
    tell("request", what, [*names], nbytes_of(contents), start_ns)


def _silent(world: World, ranks: list[int], patience: float) -> DistributedError:
    named = "; ".join(f"rank {rank} ({world.places[rank]})" for rank in ranks)
    return DistributedError(
        f"kvstore: expected an answer of the server within {patience:g} s, got none of {named}; "
        "it hangs, or computes longer than GLUONISH_DISTRIBUTED_TIMEOUT allows"
    )
