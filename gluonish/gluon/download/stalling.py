"""Ending connections on which too little comes: a timeout of one read alone never sees that.

A server that sends a byte a minute keeps each read of a socket short of its timeout, while the
answer's head, a chunk's length or the piece that was asked for takes years. So a thread of its own
looks at the clock, and shuts down what is open when the time for a step is over.

Invariants: ``_copies`` holds a copy of the descriptor of each connection of the attempt, so that
the one shut down is never another that got its number. A connection enters it before
``expired`` is looked at, and ``expired`` is set before ``_copies`` is: one of the two sees it.
"""

import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Protocol

__all__ = ["StallWatch"]


class _Session(Protocol):
    """What is used of a `requests.Session`."""

    @property
    def adapters(self) -> Mapping[str, Any]: ...


class StallWatch:
    """Context manager, used once, that ends an attempt to download if it stalls.

    Args:
        session: Opens the connections; none is open yet.
        limit_s: Time limit of each step, in seconds.

    Attributes:
        expired: Whether a step exceeded the limit, so that the connections were shut down.
    """

    def __init__(self, session: _Session, limit_s: float) -> None:
        self.expired = False
        self._limit_s = limit_s
        self._copies: list[socket.socket] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="download-watch", daemon=True)
        for adapter in session.adapters.values():
            _watch_connections(adapter, self)
        self.step()

    def step(self) -> None:
        """Start the time of the next step."""
        self._until = time.monotonic() + self._limit_s

    def add(self, connection: socket.socket) -> None:
        """Watch another open connection.

        Args:
            connection: The connection.
        """
        copy = connection.dup()
        self._copies.append(copy)
        if self.expired:
            _shut_down(copy)

    def __enter__(self) -> "StallWatch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        for copy in self._copies:
            copy.close()

    def _watch(self) -> None:
        while not self._ended.wait(max(0.0, self._until - time.monotonic())):
            if time.monotonic() >= self._until:
                self.expired = True
                for copy in tuple(self._copies):
                    _shut_down(copy)
                return


def _shut_down(connection: socket.socket) -> None:
    with suppress(OSError):  # the other side was faster
        connection.shutdown(socket.SHUT_RDWR)


def _watch_connections(adapter: Any, watch: StallWatch) -> None:
    """Have an adapter of requests show the watch each connection that it opens."""
    through_proxy = adapter.proxy_manager_for

    def proxy_manager_for(*args: Any, **kwargs: Any) -> Any:
        manager = through_proxy(*args, **kwargs)
        _watch_pools(manager, watch)
        return manager

    adapter.proxy_manager_for = proxy_manager_for
    _watch_pools(adapter.poolmanager, watch)


def _watch_pools(manager: Any, watch: StallWatch) -> None:
    manager.pool_classes_by_scheme = {
        scheme: _watched(pool, watch) for scheme, pool in manager.pool_classes_by_scheme.items()
    }


def _watched(pool: Any, watch: StallWatch) -> Any:
    """Return a pool whose connections are watched from before what TLS has to agree on."""

    class Connection(pool.ConnectionCls):  # type: ignore[misc]  # urllib3's, or that of SOCKS
        def _new_conn(self) -> Any:
            opened = super()._new_conn()
            watch.add(opened)
            return opened

    return type(pool.__name__, (pool,), {"ConnectionCls": Connection})
