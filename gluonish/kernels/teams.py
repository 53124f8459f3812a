"""Which thread runs kernels on a team of OpenMP's threads: the caller, or the lanes' workers.

libgomp gives every thread that asks for a team one of its own, and lets all of them sleep at once
when they are more than the cores; then each kernel waits for its team to wake up. So only one
thread should have a team. A program of small networks runs them in its own thread: a hand-over to
a worker would take longer than some of their kernels. Work that is worth a worker ends that: the
team then belongs to the workers, and the caller has none for what it runs itself. It goes back to
the caller when `_QUIET` pieces of small work came in a row and no worker has anything to do, so
that what ran before does not decide how fast a program runs.
"""

import threading
from collections.abc import Callable

from gluonish.core.hooks import end_idle_teams
from gluonish.kernels import openmp

_MOST_MOVES = 16  # small networks that may run in a worker by chance
_QUIET = 64  # pieces of small work without a large one, after which the caller has the team again


class _State:
    """The state of the process, which several threads read and write without a lock.

    A read of one attribute gives an old or a new value, never a mixture. Two threads that count at
    the same time may lose a count in `moves` or `quiet`: the team then moves a few calls later.
    """

    owner = 0  # the caller's thread that has the team; 0 while there is none
    ended = False  # whether workers have teams
    moves = 0  # how often a small network ran in a worker before that
    quiet = 0  # pieces of small work since the last large one


def may_run_here() -> bool:
    """Whether the calling thread may run a small network itself, on a team of its own."""
    if _State.ended and not _resumes():
        openmp.bar()
        return False
    ident = threading.get_ident()
    if not _State.owner:
        _State.owner = ident
    return _State.owner == ident


def hand_over() -> None:
    """Note that a worker is about to run kernels on a team: from now on workers only do."""
    _end_callers()
    openmp.bar()


def _end_callers() -> None:
    _State.ended = True
    _State.quiet = _State.owner = 0


def _resumes() -> bool:
    """Whether callers may have teams again."""
    _State.quiet += 1
    if _State.quiet < _QUIET:
        return False
    if not end_idle_teams(openmp.team().release):
        return False  # the next piece asks again, which may come at a better moment
    _State.owner = _State.moves = _State.quiet = 0
    _State.ended = False
    openmp.let_all()
    return True


def claim(*, small: bool) -> bool:
    """Whether the calling thread, no worker, may run work on its team; if not, a worker will.

    Args:
        small: Whether a hand-over would be a large part of the work.
    """
    if small and may_run_here():
        return True
    if not (small and _State.ended):  # two callers want one, or there is large work
        hand_over()
    return False


def run_and_leave(run: Callable[[], None]) -> None:
    """Run small work, and end the calling thread's team unless it may keep it.

    A small network runs in a worker if it has to wait for other work there. Where that goes on, as
    in a loop that waits for no result, workers take over.
    """
    run()
    if not _State.ended and _State.owner != threading.get_ident():
        _State.moves += 1
        if _State.moves > _MOST_MOVES:
            _end_callers()
        else:
            openmp.team().release()
