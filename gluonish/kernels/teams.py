"""Which thread runs kernels on a team of OpenMP's threads: the caller, or the lanes' workers.

libgomp gives every thread that asks for a team one of its own, and lets all of them sleep at once
when they are more than the cores; then each kernel waits for its team to wake up. So only one
thread should have a team. A program of small networks runs them in its own thread: a hand-over to
a worker would take longer than some of their kernels. The first work that is worth a worker ends
that, for good.
"""

import threading

from gluonish.kernels.numba import openmp

__all__ = ["claim", "hand_over", "leave", "may_run_here"]

_MOST_MOVES = 16  # small networks that may run in a worker by chance


class _State:
    """Single words that are replaced as a whole: reading them needs no lock."""

    owner = 0  # the caller's thread that may have a team; 0 before there is one
    ended = False  # whether workers have teams
    moves = 0  # how often a small network ran in a worker before that


def may_run_here() -> bool:
    """Whether the calling thread may run a small network itself, on a team of its own."""
    if _State.ended:
        _release()
        return False
    ident = threading.get_ident()
    if not _State.owner:
        _State.owner = ident
    return _State.owner == ident


def hand_over() -> None:
    """Note that a worker is about to run kernels on a team: from now on workers only do."""
    _State.ended = True
    _release()


def claim(*, small: bool) -> bool:
    """Whether the calling thread may run work on a team of its own; if not, a worker will.

    Args:
        small: Whether a hand-over would be a large part of the work.
    """
    if small and may_run_here():
        return True
    hand_over()
    return False


def leave() -> None:
    """End the calling thread's team unless it may keep it.

    A small network runs in a worker if it has to wait for other work there. Where that goes on, as
    in a loop that waits for no result, workers take over.
    """
    if not _State.ended and _State.owner != threading.get_ident():
        _State.moves += 1
        if _State.moves > _MOST_MOVES:
            hand_over()
        else:
            openmp.team().release()


def _release() -> None:
    """End the calling thread's team if it is the one that had it."""
    if _State.owner == threading.get_ident():
        _State.owner = 0
        openmp.team().release()
