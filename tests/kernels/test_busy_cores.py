"""Threads that wait sleep at once on busy cores, and threads are as many as a quota leaves."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from gluonish.core.operating_system import LINUX, usable_cores
from gluonish.kernels import busy_cores, openmp
from gluonish.kernels.busy_cores import BusyCores, waited_s

pytestmark = pytest.mark.skipif(
    not LINUX or openmp.team()._library is None, reason="needs Linux and libgomp"
)


@pytest.fixture
def watched() -> Iterator[BusyCores]:
    library = openmp.team()._library
    assert library is not None
    made = BusyCores(library, max(2, usable_cores()))
    yield made
    while made.are_busy:
        made.note(0.0)


def _threads() -> int:
    return len(os.listdir("/proc/self/task"))


def _ends(condition: str, seconds: float, watched: BusyCores, want: bool) -> bool:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        if getattr(watched, condition) is want:
            return True
        sum(range(10_000))  # the process computes, which is when the cores are watched
    return False


def test_an_idle_team_is_there_while_threads_wait_for_cores(watched: BusyCores) -> None:
    before = _threads()
    for waiting in (0.0, 0.1, busy_cores._BUSY):
        watched.note(waiting)
        assert not watched.are_busy
    watched.note(0.8)
    assert watched.are_busy
    assert _threads() >= before + 2  # the one that holds the team, and one of the team
    held = _threads()
    watched.note(0.6)
    assert _threads() == held
    for waiting in (0.01, 0.2, 0.01):  # not quiet for long enough
        watched.note(waiting)
        assert watched.are_busy
    watched.note(0.01)
    assert not watched.are_busy
    end = time.perf_counter() + 10
    while _threads() > held - 2 and time.perf_counter() < end:
        time.sleep(0.01)
    assert _threads() <= held - 2


def test_nothing_changes_while_a_control_group_is_what_threads_wait_for(
    monkeypatch: pytest.MonkeyPatch, watched: BusyCores
) -> None:
    monkeypatch.setattr(busy_cores, "cpu_limit", lambda: usable_cores() - 0.5)
    watched.note(0.8)
    assert not watched.are_busy
    monkeypatch.setattr(busy_cores, "cpu_limit", lambda: float(usable_cores()))
    watched.note(0.8)
    assert watched.are_busy


def test_the_watch_decides_by_the_time_that_threads_waited(
    monkeypatch: pytest.MonkeyPatch, watched: BusyCores
) -> None:
    monkeypatch.setattr(busy_cores, "_INTERVAL_S", 0.02)
    rate = [0.0]
    begin = time.perf_counter()
    monkeypatch.setattr(busy_cores, "waited_s", lambda: rate[0] * (time.perf_counter() - begin))
    watched.start()
    assert not _ends("are_busy", 0.3, watched, True)
    rate[0] = 5.0
    assert _ends("are_busy", 10, watched, True)
    rate[0] = 0.0
    assert _ends("are_busy", 10, watched, False)


def test_waiting_threads_are_counted() -> None:
    before = waited_s()
    assert before >= 0
    code = "while True: pass"
    others = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2 * usable_cores())]
    try:
        end = time.perf_counter() + 20
        while waited_s() < before + 0.05 and time.perf_counter() < end:
            sum(range(10_000))
    finally:
        for process in others:
            process.kill()
            process.wait()
    assert waited_s() >= before + 0.05


@pytest.mark.parametrize("name", ["GOMP_SPINCOUNT", "OMP_WAIT_POLICY"])
def test_a_user_who_says_how_long_threads_spin_is_obeyed(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    started: list[BusyCores] = []
    monkeypatch.setattr(BusyCores, "start", lambda self: started.append(self))
    monkeypatch.delenv("GOMP_SPINCOUNT", raising=False)
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    openmp.team().adapt_to_busy_cores()
    assert len(started) == 1
    monkeypatch.setenv(name, "100" if name == "GOMP_SPINCOUNT" else "PASSIVE")
    openmp.team().adapt_to_busy_cores()
    assert len(started) == 1


@pytest.mark.parametrize(
    ("limit", "given", "want"), [(0.5, None, 1), (1.5, None, 2), (0.5, "3", 3)]
)
def test_threads_are_as_many_as_the_quota_leaves(
    limit: float, given: str | None, want: int
) -> None:
    program = (
        "from gluonish.kernels import openmp\n"
        f"openmp.cpu_limit = lambda: {limit}\n"
        "openmp.usable_cores = lambda: 4\n"
        "print(openmp.team().threads())\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    if given is not None:
        environment["OMP_NUM_THREADS"] = given
    found = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert int(found.stdout) == want


@pytest.mark.parametrize("threads", [1, usable_cores() + 1, usable_cores() + 9])
def test_no_team_is_watched_that_a_further_one_would_not_change(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = openmp.team()._library
    assert library is not None
    started: list[object] = []
    monkeypatch.setattr(threading.Thread, "start", started.append)
    BusyCores(library, threads).start()
    assert not started
