"""Server: a thread in each rank that serves the requests of all ranks.

An exchange of a `Channel` is a collective of all ranks. A request involves only the requesting rank
and the server, so that no rank waits for another.

Requests of one rank to one server are served in order. Threads poll for messages with pauses: a
blocking MPI call would keep a core busy.
"""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from gluonish.core.config import GLUONISH_DISTRIBUTED_TIMEOUT
from gluonish.core.errors import DistributedError
from gluonish.kvstore.distributed.observers import names_of, nbytes_of, notify, observers
from gluonish.kvstore.distributed.rendezvous import wait_for_ranks
from gluonish.kvstore.distributed.world import World

_REQUEST, _REPLY = 1, 2  # tags
_SHORTEST_S, _LONGEST_S = 2e-5, 1e-3
_BUSY_S = 2e-3  # polling with the shortest pauses continues this long after a message


class Request(NamedTuple):
    """A request of a rank to a server.

    Attributes:
        kind: Name of the request, for the server's handler.
        content: Any picklable object.
        replies: Whether the rank waits for the reply; errors of requests without a reply are sent
            with the next reply.
    """

    kind: str
    content: Any = None
    replies: bool = True


class _Reply(NamedTuple):
    content: Any
    error: str


class Server:
    """Serves requests in a thread; the constructor is collective.

    Args:
        world: The ranks.
        handle: Called with the kind and the content of one request at a time; returns the reply.
    """

    def __init__(self, world: World, handle: Callable[[str, Any], Any]) -> None:
        self._world = world
        self.comm = world.mpi.COMM_WORLD.Dup()
        self._handle = handle
        self._errors: dict[int, str] = {}  # of requests without a reply, by rank
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="kvstore server", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Stop the thread; no rank may send requests any more."""
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
            self._serve_request(status.Get_source(), Request(*message.recv()))
            last, pause = time.perf_counter(), _SHORTEST_S

    def _serve_request(self, source: int, request: Request) -> None:
        start_ns = time.perf_counter_ns()
        reply = self._reply(source, request)
        if observers:
            what, names = f"{request.kind} of rank {source}", names_of(request.content)
            notify("answer", what, names, nbytes_of(reply), start_ns)

    def _reply(self, source: int, request: Request) -> Any:
        """Handle a rank's request, and send the reply if the rank waits for it."""
        content, error = None, ""
        try:
            content = self._handle(request.kind, request.content)
        except Exception as failure:  # reported to the requesting rank
            error = f"{type(failure).__name__}: {failure}"
        if not request.replies:
            if error:
                self._errors.setdefault(source, error)
            return None
        error = self._errors.pop(source, "") or error
        sent = self.comm.isend(_Reply(content, error), source, _REPLY)
        wait_for_ranks([sent], GLUONISH_DISTRIBUTED_TIMEOUT.value)
        return content


def request_replies(world: World, comm: Any, requests: Mapping[int, Request]) -> dict[int, Any]:
    """Send requests to servers, and return their replies; both dicts have the server's rank as key.

    Only one thread of a rank may call this at a time.

    Raises:
        DistributedError: A server does not reply in time, or a request failed.
    """
    timeout_s, start_ns = GLUONISH_DISTRIBUTED_TIMEOUT.value, time.perf_counter_ns()
    sent = [comm.isend(tuple(request), rank, _REQUEST) for rank, request in requests.items()]
    if not all(wait_for_ranks(sent, timeout_s)):
        raise _timeout_error(world, [*requests], timeout_s)
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
        if time.perf_counter() - start > timeout_s:
            raise _timeout_error(world, sorted(waiting), timeout_s)
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_S)
    if observers and requests:
        _notify_request(requests, start_ns)
    for rank, reply in replies.items():
        if reply.error:
            raise DistributedError(f"kvstore: the server of rank {rank} failed with {reply.error}")
    return {rank: reply.content for rank, reply in replies.items()}


def _notify_request(requests: Mapping[int, Request], start_ns: int) -> None:
    """Notify observers of requests whose replies have arrived."""
    kinds = ", ".join(dict.fromkeys(request.kind for request in requests.values()))
    contents = [request.content for request in requests.values()]
    names = dict.fromkeys(name for content in contents for name in names_of(content))
    what = f"{kinds} at rank {', '.join(map(str, sorted(requests)))}"
    notify("request", what, [*names], nbytes_of(contents), start_ns)


def _timeout_error(world: World, ranks: list[int], timeout_s: float) -> DistributedError:
    named = "; ".join(f"rank {rank} ({world.addresses[rank]})" for rank in ranks)
    return DistributedError(
        f"kvstore: expected a reply of the server within {timeout_s:g} s, got none of {named}; it "
        "hangs, or computes longer than GLUONISH_DISTRIBUTED_TIMEOUT allows"
    )
