"""Lets idle OpenMP threads sleep at once while other programs keep the cores busy.

Between two kernels the threads of a team spin, since waking them takes longer than many kernels.
On a core that another program keeps busy that is the wrong choice: a spinning thread uses up its
share of the core, and the next kernel then waits for it until the other program's share is over.

libgomp has no function that changes how long its threads spin. But it lets them spin a few hundred
times only, while it manages more threads than the process has cores. So this module starts a team
of threads that do nothing while the threads of this process wait for cores, which Linux counts.

Where a control group leaves less time to this process than it has cores, its threads also wait, but
for the group's next period. Sleeping would only delay them more: then nothing is changed.
"""

import ctypes
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from gluonish.core.cpu_quota import cpu_limit
from gluonish.core.operating_system import usable_cores

_INTERVAL_S = 0.2
# Seconds in which threads wait for a core, all together, per second. On quiet cores it is 0.02 to
# 0.09; next to one busy process on two cores 0.8 while threads spin, and 0.6 while they do not.
_BUSY, _QUIET = 0.3, 0.15
_CALM = 2  # quiet intervals in a row before threads spin again
_COMPUTES = 0.3  # cores that the process uses; below, its threads do not wait
_TASKS = "/proc/self/task"
_MOST_THREADS = 64
_LISTED = 20  # measurements for which a list of the threads serves


class BusyCores:
    """Watches whether the threads of this process wait for cores, in a thread of its own.

    Args:
        library: libgomp.
        team_threads: Number of threads of a team that computes.

    Attributes:
        are_busy: Whether threads sleep at once at present.
    """

    def __init__(self, library: ctypes.PyDLL, team_threads: int) -> None:
        self.are_busy = False
        self._library = library
        # As many as make the managed threads, with the first thread, one more than the cores.
        self._size = usable_cores() - team_threads + 2
        self._has_team = team_threads > 1
        self._leave: Callable[[], None] | None = None
        self._calm = 0

    def start(self) -> None:
        """Watch from now on, if a team can make a difference and Linux counts."""
        counts = os.path.exists("/proc/thread-self/schedstat")
        if counts and self._has_team and 2 <= self._size <= _MOST_THREADS:
            threading.Thread(target=self._watch, name="gluonish-busy-cores", daemon=True).start()

    def _watch(self) -> None:
        before_s, used_s = time.perf_counter(), time.process_time()
        waited: float | None = None
        while True:
            time.sleep(_INTERVAL_S)
            now_s, now_used_s = time.perf_counter(), time.process_time()
            elapsed_s = now_s - before_s
            computes = now_used_s - used_s > _COMPUTES * elapsed_s
            now_waited = waited_s() if computes else None
            if waited is not None and now_waited is not None:
                self.note((now_waited - waited) / elapsed_s)
            elif not computes:
                self.note(0.0)
            before_s, used_s, waited = now_s, now_used_s, now_waited

    def note(self, waiting: float) -> None:
        """Decide by what was measured in an interval.

        Args:
            waiting: Seconds in which threads waited for a core, per second.
        """
        if waiting > _BUSY and not _is_limited():
            self._calm = 0
            if not self.are_busy:
                self._leave = self._idle_team()
                self.are_busy = True
        elif self.are_busy:
            self._calm = self._calm + 1 if waiting < _QUIET else 0
            if self._calm >= _CALM:
                self._calm = 0
                assert self._leave is not None
                self._leave()
                self.are_busy = False

    def _idle_team(self) -> Callable[[], None]:
        """Start a team whose threads sleep; return the function that ends it."""
        ready, end = threading.Event(), threading.Event()

        def hold() -> None:
            nothing = ctypes.cast(ctypes.pythonapi.PyMem_RawFree, ctypes.c_void_p)  # of NULL
            self._library.GOMP_parallel(nothing, None, ctypes.c_uint(self._size), ctypes.c_uint(0))
            ready.set()
            end.wait()  # libgomp ends the team with this thread

        thread = threading.Thread(target=hold, name="gluonish-idle-team", daemon=True)
        with suppress(RuntimeError):  # no thread can start at interpreter exit
            thread.start()
            ready.wait()
        return end.set


def _is_limited() -> bool:
    limit = cpu_limit()
    return limit is not None and limit < usable_cores()


class _Tasks:
    """Reads what Linux counts of the threads of this process.

    By functions of the C library that keep the GIL: Python's release it for each file, and would
    take it back from a computing thread as often, for which both wait for milliseconds.
    """

    def __init__(self) -> None:
        library = ctypes.PyDLL(None)
        self._open, self._read, self._close = library.open, library.read, library.close
        self._read.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
        self._buffer = ctypes.create_string_buffer(128)
        self._counts: dict[bytes, int] = {}  # nanoseconds at the last look, by the thread's file
        self._age = _LISTED
        self._total_ns = 0

    def waited_ns(self) -> int:
        """Return the nanoseconds that threads have waited for a core since they were first seen."""
        if self._age >= _LISTED:
            files = [f"{_TASKS}/{task}/schedstat".encode() for task in os.listdir(_TASKS)]
            self._counts = {path: self._counts.get(path, -1) for path in files}
            self._age = 0
        self._age += 1
        for path, before in self._counts.items():
            file = self._open(path, os.O_RDONLY | os.O_CLOEXEC)
            if file < 0:
                continue  # the thread ended
            size = self._read(file, self._buffer, 128)
            self._close(file)
            words = self._buffer.raw[: max(size, 0)].split()
            if len(words) > 1:
                self._counts[path] = now = int(words[1])
                if before >= 0:
                    self._total_ns += max(0, now - before)
        return self._total_ns


_tasks: list[_Tasks] = []


def waited_s() -> float:
    """Return the seconds that threads of this process have waited for a core since a first call."""
    if not _tasks:
        _tasks.append(_Tasks())
    return _tasks[0].waited_ns() / 1e9
