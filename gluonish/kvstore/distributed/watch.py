"""What ranks do together or ask of each other, told to whoever looks, such as the profiler.

Nothing is told while nobody looks; what it costs then is two readings of the clock an exchange.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

Kind = Literal["exchange", "request", "answer"]


class Exchange(NamedTuple):
    """A finished exchange of all ranks, or a request of one rank to servers.

    Attributes:
        kind: ``"exchange"`` of all ranks; ``"request"`` to servers, until their replies arrive; or
            ``"answer"``, what a server did for a request.
        what: Purpose, such as ``"push of 'a'"``.
        names: Names of the arrays, as other ranks know them.
        nbytes: Number of bytes that this rank sent.
        start_ns: When this rank arrived, by ``time.perf_counter_ns``.
        met_ns: When all ranks had arrived; ``start_ns`` if there are none to wait for.
        stop_ns: When it was done.
    """

    kind: Kind
    what: str
    names: Sequence[str]
    nbytes: int
    start_ns: int
    met_ns: int
    stop_ns: int


# Who is called with each exchange, in the thread that made it and as soon as it is done.
watchers: list[Callable[[Exchange], None]] = []


def tell(
    kind: Kind,
    what: str,
    names: Sequence[str],
    nbytes: int,
    start_ns: int,
    met_ns: int | None = None,
) -> None:
    """Notify all watchers of an exchange that is done now; see `Exchange` for the arguments."""
    met = start_ns if met_ns is None else met_ns
    exchange = Exchange(kind, what, names, nbytes, start_ns, met, time.perf_counter_ns())
    for watcher in tuple(watchers):
        watcher(exchange)


def names_of(content: Any) -> list[str]:
    """Return the keys in a request: those of its dict, or all items of its list.

    Args:
        content: Content of the request.
    """
    if isinstance(content, tuple) and content and isinstance(content[0], Mapping):
        content = content[0]
    return [repr(key) for key in content] if isinstance(content, Mapping | list) else []


def nbytes_of(content: Any) -> int:
    """Return the total size in bytes of all arrays in a request or reply, however nested.

    Args:
        content: Content of the request or reply.
    """
    if isinstance(content, Mapping):
        return sum(map(nbytes_of, content.values()))
    if isinstance(content, tuple | list):
        return sum(map(nbytes_of, content))
    return int(getattr(content, "nbytes", 0))
