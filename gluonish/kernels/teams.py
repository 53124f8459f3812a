"""Decide which thread runs kernels on an OpenMP team: the caller, or the workers of lanes.

libgomp gives each thread that starts a team a team of its own, and puts all teams to sleep when
they have more threads than there are cores; then each kernel waits for its team to wake up. So only
one thread should have a team. Small networks run in the caller, since passing them to a worker
would take longer than some of their kernels. The first work that is large enough for a worker moves
the team to the workers, and the caller runs its kernels without one. The team returns to the caller
after `_SMALL_IN_A_ROW` small calls in a row with all workers idle, so that the speed of a program
does not depend on its past.
"""

import threading
from collections.abc import Callable

from gluonish.core.hooks import end_idle_teams
from gluonish.kernels import openmp

_MAX_WORKER_RUNS = 16  # runs of small networks in a worker before the workers get the team
_SMALL_IN_A_ROW = 64  # small calls in a row after which the caller gets the team back


class _State:
    """The process-wide state, read and written by several threads without a lock.

    A read of one attribute returns an old or a new value, never a mixture. Two threads that
    count at the same time may lose an increment: the team then moves a few calls later.
    """

    owner = 0  # the calling thread that has the team; 0 if none has
    ended = False  # whether the callers' teams are ended, and workers have teams
    worker_runs = 0  # small networks that ran in a worker before that
    small_calls = 0  # small calls since the last large one


def may_run_here(weight: int = 1) -> bool:
    """Whether the calling thread may run a small network itself, on its own team.

    Args:
        weight: How many small calls this one counts for.
    """
    if _State.ended and not _resumes(weight):
        openmp.disable_team()
        return False
    ident = threading.get_ident()
    if not _State.owner:
        _State.owner = ident
    return _State.owner == ident


def hand_over() -> None:
    """Move the team to the workers, before one of them runs kernels."""
    _end_callers()
    openmp.disable_team()


def _end_callers() -> None:
    _State.ended = True
    _State.small_calls = _State.owner = 0


def _resumes(weight: int) -> bool:
    """Count a small call; return whether callers may have teams again."""
    _State.small_calls += weight
    if _State.small_calls < _SMALL_IN_A_ROW:
        return False
    if not end_idle_teams(openmp.team().release):
        return False  # the next small call tries again
    _State.owner = _State.worker_runs = _State.small_calls = 0
    _State.ended = False
    openmp.enable_teams()
    return True


def claim(*, small: bool, weight: int = 1) -> bool:
    """Whether the calling thread may run work on its own team; otherwise a worker must run it.

    Args:
        small: Whether passing the work to a worker would take a large part of the total time.
        weight: How many small calls this one counts for, if it is small.
    """
    if small and may_run_here(weight):
        return True
    if not (small and _State.ended):  # the work is large, or two callers compete for the team
        hand_over()
    return False


def run_and_leave(run: Callable[[], None]) -> None:
    """Run small work, and end the calling thread's team unless that thread owns the team.

    A small network runs in a worker if it waits for other work there. If that keeps happening, as
    in a loop that waits for no result, the workers get the team.
    """
    run()
    if not _State.ended and _State.owner != threading.get_ident():
        _State.worker_runs += 1
        if _State.worker_runs > _MAX_WORKER_RUNS:
            _end_callers()
        else:
            openmp.team().release()
