"""Items of an iterator, made in a background thread before they are asked for.

Invariants: the thread knows the iterator and the shelf, never the `ReadAhead` that owns them, so
that dropping the owner ends the thread. The shelf has no lock, so that a handler may take an item
in the middle of taking one; a wake-up that an interrupt loses costs `_GLANCE_S`. The iterator runs
and is closed in the thread alone. A closed shelf takes no more items.
"""

import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from gluonish.core.errors import GluonishError
from gluonish.core.numpy_mode import NumpyScope, numpy_scope_of_here

__all__ = ["ReadAhead"]

Item = TypeVar("Item")

# How long a reader waits for one item, and how long `close` waits for the thread, in seconds.
_PATIENCE_S = 600.0
# How often a waiting reader looks whether the thread still runs: it does not after a fork.
_GLANCE_S = 1.0


class _Shelf(Generic[Item]):
    """Where the thread puts items and the reader takes them."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._items: SimpleQueue[Item | None] = SimpleQueue()  # None: look what has changed
        self._taken: SimpleQueue[None] = SimpleQueue()  # wakes the thread
        self._error: BaseException | None = None
        self._finished = False
        self._closed = False

    def put(self, item: Item) -> bool:
        """Wait for a free place and put the item there; return False if the shelf is closed."""
        # Unbounded, yet it ends: the reader makes room, or the owner's end closes the shelf.
        while self._items.qsize() >= self._capacity and not self._closed:
            with suppress(Empty):
                self._taken.get(timeout=_GLANCE_S)
        if not self._closed:
            self._items.put(item)
        return not self._closed

    def finish(self, error: BaseException | None) -> None:
        """Say that no more items come, and why."""
        self._error = error
        self._finished = True
        self._items.put(None)

    def close(self) -> None:
        """Drop the items, and let the thread end."""
        self._closed = True
        with suppress(Empty):
            while True:
                self._items.get_nowait()
        self._items.put(None)
        self._taken.put(None)

    def take(self, alive: Callable[[], bool], name: str) -> Item:
        """Wait for an item and return it; raise StopIteration or the thread's error at the end."""
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            over = self._finished or self._closed  # and nothing comes behind what is there now
            try:
                item = self._items.get(timeout=0 if over else _GLANCE_S)
            except Empty:
                if over:
                    break
                if not (alive() or self._finished):
                    raise GluonishError(
                        f"{name}: expected its thread to run, got none: it does not survive a "
                        "fork; make the iterator in the process that uses it"
                    ) from None
                if time.monotonic() > deadline:
                    raise GluonishError(
                        f"{name}: expected a batch within {_PATIENCE_S:g} s, got none"
                    ) from None
                continue
            if item is not None:
                self._taken.put(None)
                return item
        self._items.put(None)  # for others that wait
        # Raised once: kept, it would keep the frames of its traceback, and thus the reader.
        error, self._error = self._error, None
        if error is not None:
            raise error
        raise StopIteration


def _run(make: Callable[[], Iterator[Item]], shelf: _Shelf[Item], semantics: NumpyScope) -> None:
    """Body of the thread: move items to the shelf until either is done."""
    failure: BaseException | None = None
    try:
        with semantics:
            iterator = make()
            try:
                for item in iterator:
                    if not shelf.put(item):
                        break
            finally:
                close = getattr(iterator, "close", None)
                if close is not None:
                    close()
    except BaseException as error:  # it is raised where the item was asked for
        failure = error
    shelf.finish(failure)


class ReadAhead(Generic[Item]):
    """Iterator over the items of another iterator, which a background thread runs ahead.

    An error in the other iterator is raised by ``next``, once; then this iterator is exhausted. The
    thread ends after the last item, at `close`, or when this object is deleted.

    Args:
        make: Returns the other iterable, which runs in the thread and must not refer to the object
            that owns this one. If it is a generator, the thread closes it.
        capacity: Maximum number of items that wait, at least 1.
        name: Start of error messages, and name of the thread.
    """

    def __init__(self, make: Callable[[], Iterator[Item]], capacity: int, name: str) -> None:
        self._name = name
        self._shelf: _Shelf[Item] = _Shelf(max(1, capacity))
        arguments = (make, self._shelf, numpy_scope_of_here())
        self._thread = threading.Thread(
            target=_run, args=arguments, name=f"gluonish-{name}", daemon=True
        )
        self._finalizer = weakref.finalize(self, _end, self._shelf, self._thread, 1.0)
        self._thread.start()

    def __iter__(self) -> "ReadAhead[Item]":
        return self

    def __next__(self) -> Item:
        return self._shelf.take(self._thread.is_alive, self._name)

    def close(self) -> None:
        """Drop the waiting items, and wait until the thread has closed the other iterator.

        Raises:
            GluonishError: The thread did not end in time.
        """
        self._finalizer.detach()
        if not _end(self._shelf, self._thread, _PATIENCE_S):
            raise GluonishError(
                f"{self._name}: expected its thread to end within {_PATIENCE_S:g} s, got one that "
                "still runs"
            )


def _end(shelf: _Shelf[Item], thread: threading.Thread, timeout_s: float) -> bool:
    """Close the shelf and wait for the thread; return whether it ended."""
    shelf.close()
    if thread is threading.current_thread():
        # The garbage collector may run anywhere, in that very thread, too.
        return True
    with suppress(RuntimeError):
        thread.join(timeout_s)
    return not thread.is_alive()
