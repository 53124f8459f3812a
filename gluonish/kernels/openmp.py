"""The OpenMP team of libgomp, which oneDNN also loads, so that both share their threads.

A forked child has none of its parent's threads, and libgomp would wait for them forever: a child
runs everything in the calling thread.
"""

import ctypes
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from time import perf_counter
from typing import Any

from gluonish.core.config import LoadEnvironment, is_set
from gluonish.core.cpu_quota import cpu_limit
from gluonish.core.operating_system import WINDOWS, on_fork, usable_cores
from gluonish.kernels.busy_cores import BusyCores

# Spins of a libgomp thread before it sleeps; fewer on busy cores, see `busy_cores`. LeNet alone
# takes 0.120 ms a batch at 30000, 0.135 at 10000 and 0.155 at 3000.
SPIN_COUNT = "30000"
_PAUSE_SOFT = 1  # omp_pause_soft


class Team:
    """The OpenMP threads that run the chunks of a kernel.

    Attributes:
        parallel: Address of ``GOMP_parallel``; 0 where there is no libgomp.
        threads: Function that returns how many threads a kernel called from this thread may use.
        set_threads: Function that sets that number, for the calling thread only.
    """

    __slots__ = ("_library", "parallel", "set_threads", "threads")

    def __init__(self, library: ctypes.PyDLL | None) -> None:
        self._library = library  # keeps it loaded while its functions' addresses are used
        self.parallel = 0
        self.threads: Callable[[], int] = _one
        self.set_threads: Callable[[int], Any] = _ignore
        if library is not None:
            self.parallel = ctypes.cast(library.GOMP_parallel, ctypes.c_void_p).value or 0
            self.threads = library.omp_get_max_threads
            self.set_threads = library.omp_set_num_threads

    def release(self) -> None:
        """End the idle threads of the calling thread's team; the next kernel starts new ones."""
        if self._library is not None and hasattr(self._library, "omp_pause_resource_all"):
            self._library.omp_pause_resource_all(_PAUSE_SOFT)

    def adapt_to_busy_cores(self) -> None:
        """Let threads that wait sleep at once from now on, while other programs use the cores.

        Not if the environment says how long they spin.
        """
        if self._library is not None and not is_set("OMP_WAIT_POLICY", "GOMP_SPINCOUNT"):
            BusyCores(self._library, self.threads()).start()

    def start_s(self, threads: int, runs: int = 20) -> float:
        """Return the minimum time, in seconds, to start and end a team of the calling thread."""
        best = math.inf
        if self._library is None:
            return best
        nothing = ctypes.cast(ctypes.pythonapi.PyMem_RawFree, ctypes.c_void_p)  # of NULL
        start = self._library.GOMP_parallel
        start.restype = None
        for _ in range(runs):
            before = perf_counter()
            start(nothing, None, ctypes.c_uint(threads), ctypes.c_uint(0))
            best = min(best, perf_counter() - before)
        return best


def _one() -> int:
    return 1


def _ignore(_count: int) -> None:
    """Ignore the number of threads: without libgomp there is only one."""


class _State:
    team: Team | None = None
    epoch = 0  # incremented when all threads are allowed teams again


class _Thread(threading.local):
    disabled = -1  # the epoch in which this thread runs kernels without a team


_thread = _Thread()


def team() -> Team:
    """Return the process's team; the first call loads libgomp, unless oneDNN has loaded it."""
    found = _State.team
    if found is None:
        made = Team(_libgomp())  # a concurrent caller loads the same library
        found = _State.team
        if found is None:
            found = _State.team = made
            made.adapt_to_busy_cores()
    return found


def disable_team() -> None:
    """Run kernels of the calling thread without a team from now on, and end its team.

    With more team threads than cores, libgomp puts the threads of all teams to sleep.
    """
    if not is_disabled():
        _thread.disabled = _State.epoch
        team().release()


def enable_teams() -> None:
    """Allow teams for all threads again."""
    _State.epoch += 1


def is_disabled() -> bool:
    """Whether the calling thread runs kernels without a team."""
    return _thread.disabled == _State.epoch


@contextmanager
def load_settings() -> Iterator[None]:
    """Set what libgomp reads when it is loaded, unless the user has set it.

    These are how long threads spin, and how many there are where a control group leaves less time
    to this process than it has cores: as many as can run all the time, and one more for a rest.
    """
    limit = cpu_limit()
    threads = {}
    if limit is not None and limit < usable_cores():
        threads = {"OMP_NUM_THREADS": str(max(1, math.ceil(limit)))}
    with LoadEnvironment(**threads), LoadEnvironment("OMP_WAIT_POLICY", GOMP_SPINCOUNT=SPIN_COUNT):
        yield


def _libgomp() -> ctypes.PyDLL | None:
    # Given only a name, the loader returns the copy that is already loaded.
    with load_settings():
        try:
            return ctypes.PyDLL("libgomp.so.1")
        except OSError:
            return None


@cache
def yield_address() -> int:
    """Return the address of a C function of one integer, which offers the core to other threads."""
    process = None if WINDOWS else ctypes.CDLL(None)
    # The other one frees NULL, which is nothing.
    function = getattr(process, "sched_yield", ctypes.pythonapi.PyMem_RawFree)
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _forget_threads() -> None:
    enable_teams()
    if _State.team is not None:
        _State.team = Team(None)


on_fork(after_in_child=_forget_threads)
