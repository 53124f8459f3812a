"""A thread that receives what is read next.

Invariants: the thread refers to the source, never to the reader, so that a reader which is dropped
ends it; the thread closes the source when it ends. Queues are the only thing that both share: they
need no lock, and a signal's handler may come at any place.
"""

import os
import threading
from queue import SimpleQueue
from typing import Generic, Protocol, TypeVar

from gluonish.core.errors import DownloadError
from gluonish.core.object_repr import default_repr

_JOIN_TIMEOUT_S = 1.5

Chunk = TypeVar("Chunk", covariant=True)


class Source(Protocol[Chunk]):
    """What the thread reads."""

    def receive(self) -> Chunk:
        """Return the next chunk; what is false, such as no bytes, at the end."""
        ...

    def stop(self) -> None:
        """Make `receive` end soon with an error if possible, without waiting for it."""

    def close(self) -> None:
        """Close the connection."""


class ReadAhead(Generic[Chunk]):
    """Receives the chunks of a source in a thread, up to ``depth`` before they are read.

    Args:
        source: The source, which no other thread uses from now on.
        depth: Number of chunks that are kept.
    """

    __repr__ = default_repr

    def __init__(self, source: Source[Chunk], depth: int) -> None:
        self._source = source
        self._process = os.getpid()
        self._results: SimpleQueue[Chunk | Exception] = SimpleQueue()
        self._room: SimpleQueue[bool] = SimpleQueue()
        self._last: list[Chunk | Exception] = []  # the end, or an error, once it came
        for _ in range(depth):
            self._room.put(True)
        self._thread = threading.Thread(
            target=_run, args=(source, self._room, self._results), name="read-ahead", daemon=True
        )
        self._thread.start()

    @property
    def is_here(self) -> bool:
        """Whether the thread belongs to this process, and not to the one that was forked."""
        return self._process == os.getpid()

    def read(self) -> Chunk:
        """Wait for the next chunk, and return it; what is false at the end.

        Raises:
            DownloadError: The process was forked, and has no such thread.
            Exception: The source raised it.
        """
        if not self.is_here:
            raise DownloadError("download: expected to read in the process that began it")
        found = self._last[0] if self._last else self._results.get()
        if not found or isinstance(found, Exception):
            self._last = [found]
        self._room.put(True)
        if isinstance(found, Exception):
            raise found
        return found

    def close(self) -> None:
        """End the thread, and wait for it up to a time limit."""
        if not self.is_here:
            return
        self._room.put(False)
        self._source.stop()
        if self._thread is not threading.current_thread():  # where the garbage collector runs
            self._thread.join(_JOIN_TIMEOUT_S)


def _run(
    source: Source[Chunk], room: SimpleQueue[bool], results: SimpleQueue[Chunk | Exception]
) -> None:
    try:
        while room.get():
            found = source.receive()
            results.put(found)
            if not found:
                break
    except Exception as error:  # for the reader, whatever it is
        results.put(error)
    finally:
        source.close()
