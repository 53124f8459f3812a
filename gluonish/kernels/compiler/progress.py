"""Shows on a terminal or in a notebook that kernels are compiled, while that takes long.

A process that compiles for more than a second shows a line on stderr that counts the kernels. It
goes away when nothing was compiled for a while.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from gluonish.core.progress import progress_bar, shows_progress
from gluonish.core.timeout_lock import TimeoutLock

_PATIENCE_S = 1.0  # of compilation without a line
_IDLE_S = 0.5  # after which the line goes away
_TEXT = "compiling kernels, once on this machine (see `gluonish warm`)"


class _State:
    """What was compiled; changed under a lock.

    Attributes:
        count: Number of kernels.
        seconds: Time during which kernels were compiled, one or several at once.
        active: Number of kernels that are compiled now.
        since: Time up to which ``seconds`` counts, while there are such kernels.
        bar: The line, while it is shown.
        closing: Timer that removes it.
    """

    def __init__(self) -> None:
        self.count = 0
        self.seconds = 0.0
        self.active = 0
        self.since = 0.0
        self.bar: Any = None
        self.closing: threading.Timer | None = None


_state = _State()
_lock = TimeoutLock()  # a fork may lose its owner


def compiled_count() -> int:
    """Return the number of kernels that this process compiled, without those found on disk."""
    return _state.count


@contextmanager
def shown() -> Iterator[None]:
    """Count a kernel that is compiled meanwhile, unless an error ends that."""
    _count_time(1)
    try:
        yield
    except BaseException:
        _count_time(-1)
        raise
    with _lock:
        _count_time(-1)
        _state.count += 1
        if _state.seconds > _PATIENCE_S and shows_progress():
            _show()


def _count_time(more: int) -> None:
    """Count the time up to now, and change the number of kernels that are compiled from now on."""
    with _lock:
        now = monotonic()
        if _state.active > 0:
            _state.seconds += now - _state.since
        _state.since = now
        _state.active += more


def _show() -> None:
    if _state.closing is not None:
        _state.closing.cancel()
    if _state.bar is None:
        form = "{desc}: {n} [{elapsed}]"
        _state.bar = progress_bar(
            desc=_TEXT, initial=_state.count - 1, leave=False, bar_format=form
        )
    _state.bar.update(1)
    _state.closing = timer = threading.Timer(_IDLE_S, _close)
    timer.daemon = True
    timer.start()


def _close() -> None:
    with _lock:
        bar, _state.bar, _state.closing = _state.bar, None, None
        if bar is not None:
            bar.close()
