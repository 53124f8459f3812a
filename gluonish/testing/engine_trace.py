"""engine_trace: what the engine ran meanwhile, and when, for tests and checks of overlap."""

import threading
import time
from collections.abc import Callable, Hashable
from functools import partial
from typing import NamedTuple

from gluonish.engine import current_engine

__all__ = ["Ran", "engine_trace"]


class Ran(NamedTuple):
    """One operator that ran.

    Attributes:
        name: Its name.
        lane: Lane key that it was pushed to.
        start: When it began, in seconds of ``time.perf_counter``.
        end: When it ended.
        thread: Number of the thread that ran it.
    """

    name: str
    lane: Hashable
    start: float
    end: float
    thread: int


class engine_trace:
    """Scope that gathers what is pushed to the current engine inside and has run at its end.

    ``with engine_trace() as ran:`` gives a list of `Ran`, in the order in which they ended; the
    scope waits for all work before it begins and ends. Another hook that is there stays in use.
    """

    def __init__(self) -> None:
        self.ran: list[Ran] = []

    def __enter__(self) -> list[Ran]:
        self._engine = current_engine()
        self._engine.wait_all()
        self._previous = self._engine.on_push
        self._engine.on_push = self._note
        return self.ran

    def __exit__(self, *exc_info: object) -> None:
        self._engine.on_push = self._previous
        if exc_info[0] is None:
            self._engine.wait_all()

    def _note(self, fn: Callable[[], None], lane: Hashable, name: str) -> Callable[[], None]:
        if self._previous is not None:
            fn = self._previous(fn, lane, name)
        if isinstance(fn, partial) and fn.func == self._run:  # pushed again
            return fn
        return partial(self._run, fn, lane, name)

    def _run(self, fn: Callable[[], None], lane: Hashable, name: str) -> None:
        start = time.perf_counter()
        try:
            fn()
        finally:
            self.ran.append(Ran(name, lane, start, time.perf_counter(), threading.get_ident()))
