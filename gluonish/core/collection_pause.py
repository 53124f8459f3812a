"""CollectionPause: fewer garbage collections during tracing and planning.

A graph has very many objects, none of which is garbage before it is planned: half the time of a
first call went into collections that freed nothing. During a pause the youngest generation may grow
to `PAUSED` objects. The collector stays on with a higher threshold, so garbage of other code is
bounded, and a program that sets its own thresholds meanwhile keeps them.

The threshold belongs to the process. ``_pauses`` holds the active pauses of all threads; the end of
the last one restores ``_before``, which is never `PAUSED`. Operations of dictionaries are atomic
and need no lock; the worst result of a race is a pause that ends early. A scope whose ``__enter__``
or ``__exit__`` was interrupted ends when it is freed.
"""

import gc

from gluonish.core.operating_system import on_fork

PAUSED = 2_000_003  # objects; a threshold that no program would choose itself

_IMPORTS = 150_000  # objects, gluonish's own 70,000 and those of NumPy among them

_IMPORT = 0  # number of the import's pause; the others have addresses

_pauses: dict[int, None] = {}
_before = [gc.get_threshold()[0]]


def begin_import() -> None:
    """Begin a pause until `end_import`: collections took a fifth of the import's time."""
    _begin(_IMPORT)


def end_import() -> None:
    """End the pause of `begin_import`, also if the import failed."""
    _end(_IMPORT)


def freeze_imports() -> None:
    """Freeze the current objects for the garbage collector: modules, which are never garbage.

    A full collection spent 55 ms on them, and every recorded loop of 10,000 operators triggered
    one. If a program made many objects before it imports gluonish, nothing is frozen, because
    those objects may become garbage.
    """
    if len(gc.get_objects()) <= _IMPORTS:
        gc.freeze()


def _begin(number: int) -> None:
    _pauses[number] = None
    threshold = gc.get_threshold()[0]
    if 0 < threshold < PAUSED:  # 0: the program has disabled the collector
        _before[0] = threshold
        gc.set_threshold(PAUSED)


def _end(number: int) -> None:
    """End a pause; safe if an interrupt stops it after any line, and if it runs twice."""
    _pauses.pop(number, None)
    if not _pauses and gc.get_threshold()[0] == PAUSED:
        gc.set_threshold(_before[0])


def _end_all() -> None:
    """End all pauses in a forked child, where their threads may be gone."""
    _pauses.clear()
    _end(0)


on_fork(after_in_child=_end_all)


class CollectionPause:
    """Scope with fewer collections, for work that makes very many lasting objects."""

    __slots__ = ()

    def __enter__(self) -> None:
        _begin(id(self))

    def __exit__(self, *exc_info: object) -> None:
        _end(id(self))

    def __del__(self) -> None:
        if id(self) in _pauses:
            _end(id(self))
