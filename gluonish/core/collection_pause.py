"""CollectionPause: tracing and planning without the garbage collector looking at what they make.

A graph is very many objects, none of them garbage before it is planned: half of the time of a first
call went to collections that found nothing. Inside of a pause the youngest generation may grow to
`PAUSED` objects first. It is a threshold, not a switch: the collector stays on, garbage of
whatever else runs is bounded, and a program that sets thresholds of its own meanwhile keeps them.

The threshold belongs to the process. ``_pauses`` holds what is inside of a pause, in any thread;
who leaves last puts ``_before`` back, which is never `PAUSED`. Single steps of dictionaries need no
lock; where two threads meet in the middle, the worst is a pause that ends early. A scope whose
``__enter__`` or ``__exit__`` an interrupt cuts short ends when it goes away.
"""

import gc
import os

PAUSED = 2_000_003  # objects; no program's own choice

_IMPORTS = 150_000  # objects, gluonish's own 70,000 and those of NumPy among them

_pauses: dict[int, None] = {}
_before = [gc.get_threshold()[0]]


def set_imports_aside() -> None:
    """Let the garbage collector no longer look at what there is now: modules, which stay.

    A collection of all generations took 55 ms with them, and a recorded loop of 10,000 operators
    had one each time. Where a program has made much of its own before it imports gluonish, nothing
    is set aside: that may become garbage.
    """
    if len(gc.get_objects()) <= _IMPORTS:
        gc.freeze()


def _begin(number: int) -> None:
    _pauses[number] = None
    threshold = gc.get_threshold()[0]
    if 0 < threshold < PAUSED:  # 0: the program has switched the collector off
        _before[0] = threshold
        gc.set_threshold(PAUSED)


def _end(number: int) -> None:
    """Leave; each line may be the last that is run, and may be run twice."""
    _pauses.pop(number, None)
    if not _pauses and gc.get_threshold()[0] == PAUSED:
        gc.set_threshold(_before[0])


def _end_all() -> None:
    """In a forked child, where the threads in a pause may be gone."""
    _pauses.clear()
    _end(0)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_end_all)


class CollectionPause:
    """A ``with`` inside of which the collector waits longer; may be nested, and left by an error.

    For work that makes very many objects and keeps them.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        _begin(id(self))

    def __exit__(self, *exc_info: object) -> None:
        _end(id(self))

    def __del__(self) -> None:
        if id(self) in _pauses:
            _end(id(self))
