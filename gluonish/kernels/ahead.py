"""Work done ahead in other threads: the kernels that graphs will need, once one has to be compiled.

A graph's kernels are planned, and compiled if they are not on disk, when its first call comes to
them. As soon as one is compiled, more will be: threads then prepare the kernels of the graphs that
were made lately, in the order in which calls need them, while the calls run. If nothing has to be
compiled, no thread starts. What they prepare goes to the same caches as what calls prepare, so that
it makes no difference to results who is first; nothing is ever prepared twice at the same time.

A thread ends after a short time without work. With one core there are none.
"""

import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from typing import Protocol

from gluonish.core.operating_system import on_fork
from gluonish.core.timeout_lock import TimeoutLock
from gluonish.kernels import openmp

Work = Callable[[], object]

_MOST = 4  # threads; the calls of a first step need kernels one after the other
_IDLE_S = 2.0  # after which a thread ends


class Prepared(Protocol):
    """Something with work that can be done ahead."""

    def preparations(self) -> Sequence[Work]:
        """Return the work, in the order in which its results are needed."""


class InProgressError(Exception):
    """Another thread is doing the same work."""


class _State:
    """The threads; changed under the lock."""

    threads = 0
    is_cold = False  # whether there are threads, or work for them: announcements go to the queue


class _Thread(threading.local):
    closing: "list[Work] | None" = None  # in a thread of this module: what to call at its end


_announced: deque["weakref.ref[Prepared]"] = deque(maxlen=64)
_queue: SimpleQueue[Work] = SimpleQueue()
_thread = _Thread()
_lock = TimeoutLock()


def announce(one: Prepared) -> None:
    """Say that work could be done ahead; it is dropped with the object."""
    _announced.append(weakref.ref(one))
    if _State.is_cold:
        begin()


def begin() -> None:
    """Do the announced work from now on: a kernel has to be compiled."""
    if not _announced or is_ahead():
        return
    count = min(openmp.team().threads(), _MOST + 1) - 1
    if count < 1:
        _announced.clear()
        return
    with _lock:
        while _announced:
            _queue.put(partial(_expand, _announced.popleft()))
        _State.is_cold = True
        while _State.threads < count:
            thread = threading.Thread(target=_run, name="gluonish ahead", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # no thread can start at interpreter exit
                return
            _State.threads += 1


def is_ahead() -> bool:
    """Whether the calling thread works ahead."""
    return _thread.closing is not None


def at_end(work: Work) -> None:
    """Call a function at the end of the calling thread, which works ahead."""
    assert _thread.closing is not None
    _thread.closing.append(work)


def _expand(announced: "weakref.ref[Prepared]") -> None:
    one = announced()
    if one is not None:
        for work in one.preparations():
            _queue.put(work)


def _run() -> None:
    closing = _thread.closing = []
    try:
        while True:
            _do(_queue.get(timeout=_IDLE_S))
    except Empty:
        pass
    finally:
        with _lock:
            _State.threads -= 1
            _State.is_cold = _State.threads > 0
        for work in closing:
            work()


def _do(work: Work) -> None:
    try:
        work()
    except Exception:  # in progress elsewhere, or a call meets the error, too, and reports it
        return


def _forget() -> None:
    """Start without threads in a forked child."""
    global _queue
    _queue = SimpleQueue()
    _announced.clear()
    _State.threads, _State.is_cold = 0, False
    _thread.closing = None


on_fork(after_in_child=_forget)
