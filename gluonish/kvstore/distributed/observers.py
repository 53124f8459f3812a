"""Observers of exchanges and requests between ranks, such as the profiler.

Without observers the cost is two clock readings for each exchange.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

Kind = Literal["exchange", "request", "answer"]


class Exchange(NamedTuple):
    """A finished exchange of all ranks, or a request of one rank to servers.

    Attributes:
        kind: ``"exchange"`` of all ranks; ``"request"`` to servers, until their replies arrive; or
            ``"answer"``, the work of a server for a request.
        what: Purpose, such as ``"push of 'a'"``.
        names: Names of the arrays, the same on all ranks.
        nbytes: Number of bytes that this rank sent.
        start_ns: When this rank arrived, by ``time.perf_counter_ns``.
        ready_ns: When all ranks had arrived; ``start_ns`` without other ranks.
        stop_ns: When the exchange was finished.
    """

    kind: Kind
    what: str
    names: Sequence[str]
    nbytes: int
    start_ns: int
    ready_ns: int
    stop_ns: int


# Called with each finished exchange, in the thread that ran it.
observers: list[Callable[[Exchange], None]] = []


def notify(
    kind: Kind,
    what: str,
    names: Sequence[str],
    nbytes: int,
    start_ns: int,
    ready_ns: int | None = None,
) -> None:
    """Notify all observers of an exchange that finishes now; see `Exchange` for the arguments."""
    ready = start_ns if ready_ns is None else ready_ns
    exchange = Exchange(kind, what, names, nbytes, start_ns, ready, time.perf_counter_ns())
    for watcher in tuple(observers):
        watcher(exchange)


def names_of(content: Any) -> list[str]:
    """Return the keys in a request's content: the keys of a dict, or all items of a list."""
    if isinstance(content, tuple) and content and isinstance(content[0], Mapping):
        content = content[0]
    return [repr(key) for key in content] if isinstance(content, Mapping | list) else []


def nbytes_of(content: Any) -> int:
    """Return the total size in bytes of all arrays in the nested content of a request or reply."""
    if isinstance(content, Mapping):
        return sum(map(nbytes_of, content.values()))
    if isinstance(content, tuple | list):
        return sum(map(nbytes_of, content))
    return int(getattr(content, "nbytes", 0))
