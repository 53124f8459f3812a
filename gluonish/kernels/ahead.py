"""Work done ahead in other threads: the kernels that graphs will need, once one has to be compiled.

A graph's kernels are planned, and compiled if they are not on disk, when its first call comes to
them. As soon as one is compiled, more will be: threads then prepare the kernels of the graphs that
were made lately, in the order in which calls need them, while the calls run. If nothing has to be
compiled, no thread starts. What they prepare goes to the same caches as what calls prepare, so that
it makes no difference to results who is first; nothing is ever prepared twice at the same time.

A thread ends after a short time without work, and before the interpreter does. With one core there
are none.
"""

import atexit
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Protocol

from gluonish.core.operating_system import on_fork
from gluonish.core.timeout_lock import TimeoutLock
from gluonish.kernels import openmp

Work = Callable[[], object]

_MOST = 4  # threads; the calls of a first step need kernels one after the other
_IDLE_S = 2.0  # after which a thread ends
_EXIT_S = 5.0  # that the interpreter waits for the kernel that a thread compiles


class Prepared(Protocol):
    """Something with work that can be done ahead."""

    def preparations(self) -> Sequence[Work]:
        """Return the work, in the order in which its results are needed."""
        ...


class InProgressError(Exception):
    """Another thread is doing the same work."""


class StoppedError(Exception):
    """The interpreter is about to end."""


class _State:
    """The threads; changed under the lock."""

    threads = 0
    is_cold = False  # whether there are threads, or work for them: announcements go to the queue
    is_stopped = False  # by the end of the interpreter
    is_registered = False  # for that: after, and so called before, what ends the processes


class _Thread(threading.local):
    closing: "list[Work] | None" = None  # in a thread of this module: what to call at its end


_announced: deque["weakref.ref[Prepared]"] = deque(maxlen=64)
_queue: SimpleQueue[Work] = SimpleQueue()
_thread = _Thread()
_lock = TimeoutLock()
_running: dict[threading.Thread, list[Work]] = {}  # what to call at the end of each thread


def announce(one: Prepared) -> None:
    """Say that work could be done ahead; it is dropped with the object."""
    _announced.append(weakref.ref(one))
    if _State.is_cold:
        begin()


def begin() -> None:
    """Do the announced work from now on: a kernel has to be compiled."""
    if not _announced or is_ahead() or _State.is_stopped:
        return
    count = min(openmp.team().threads(), _MOST + 1) - 1
    if count < 1:
        _announced.clear()
        return
    with _lock:
        while _announced:
            _queue.put(partial(_expand, _announced.popleft()))
        _State.is_cold = True
        if not _State.is_registered:
            _State.is_registered = True
            atexit.register(_stop)
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
    check()


def check() -> None:
    """Have the calling thread, which works ahead, do no more if the interpreter is about to end.

    Raises:
        StoppedError: It is.
    """
    if _State.is_stopped:
        raise StoppedError


def _expand(announced: "weakref.ref[Prepared]") -> None:
    one = announced()
    if one is not None:
        for work in one.preparations():
            _queue.put(work)


def _run() -> None:
    thread = threading.current_thread()
    closing = _thread.closing = _running[thread] = []
    try:
        while _do_next():
            pass
    finally:
        for work in closing:
            work()
        _running.pop(thread, None)


def _do_next() -> bool:
    """Do the next work; return False, and count this thread no more, if there is none."""
    try:
        work = _queue.get(timeout=_IDLE_S)
    except Empty:
        with _lock:
            if not _queue.empty():  # put since then, for this thread
                return True
            _State.threads -= 1
            _State.is_cold = _State.threads > 0
            return False
    with suppress(Exception):  # in progress elsewhere, or a call meets the error, and reports it
        work()
    return not _State.is_stopped


def _forget() -> None:
    """Start without threads in a forked child."""
    global _queue, _lock
    _queue, _lock = SimpleQueue(), TimeoutLock()
    _announced.clear()
    _running.clear()
    _State.threads, _State.is_cold = 0, False
    _thread.closing = None


def _stop() -> None:
    """End the threads: the interpreter must not end while one is inside LLVM, or reads a pipe."""
    _State.is_stopped = True
    deadline = time.monotonic() + _EXIT_S
    for thread, closing in [*_running.items()]:
        _queue.put(_nothing)  # for a thread that waits for work
        for work in [*closing]:  # its helper process ends, and with it the wait for that
            work()
        thread.join(max(0.0, deadline - time.monotonic()))


def _nothing() -> None:
    """Do nothing."""


on_fork(after_in_child=_forget)
