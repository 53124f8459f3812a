"""What ranks do together or ask of each other, told to whoever looks, such as the profiler.

Nothing is told while nobody looks; what it costs then is two readings of the clock an exchange.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

__all__ = ["Exchange", "names_of", "nbytes_of", "tell", "watchers"]

Kind = Literal["exchange", "request", "answer"]


class Exchange(NamedTuple):
    """Something that ranks did together, or that one asked of another.

    Attributes:
        kind: ``"exchange"`` of all ranks; ``"request"`` to servers, until their replies are there;
            or ``"answer"``, what a server did for one.
        what: What it was for, such as ``"push of 'a'"``.
        names: Of the arrays, as other ranks know them.
        nbytes: Bytes that this rank sent.
        start_ns: When this rank came, by ``time.perf_counter_ns``.
        met_ns: When all ranks had come; ``start_ns`` where there is nobody to wait for.
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
    """Tell all watchers of an exchange that is done now; arguments as of `Exchange`."""
    met = start_ns if met_ns is None else met_ns
    exchange = Exchange(kind, what, names, nbytes, start_ns, met, time.perf_counter_ns())
    for watcher in tuple(watchers):
        watcher(exchange)


def names_of(content: Any) -> list[str]:
    """Return the keys that a request names: those of its dict, or all of its list."""
    if isinstance(content, tuple) and content and isinstance(content[0], Mapping):
        content = content[0]
    return [repr(key) for key in content] if isinstance(content, Mapping | list) else []


def nbytes_of(content: Any) -> int:
    """Return the bytes of the arrays in a request or reply, however deep."""
    if isinstance(content, Mapping):
        return sum(map(nbytes_of, content.values()))
    if isinstance(content, tuple | list):
        return sum(map(nbytes_of, content))
    return int(getattr(content, "nbytes", 0))
