"""Stage 0: rows that fail in every way there is. It tries the harness, and needs no device."""

import os
import signal
import time
from collections.abc import Iterator

from benchmarks.gpu_run.place import Place
from benchmarks.gpu_run.rows import Note, NotOnDouble, Table

TABLE = Table()


@TABLE.row("raises while it measures", 5)
def _raises(place: Place, note: Note) -> None:
    note("before", 1)
    raise ValueError("on purpose")


@TABLE.row("raises while it is prepared", 5)
def _raises_early(place: Place, note: Note) -> Iterator[None]:
    raise ValueError("on purpose")
    yield


@TABLE.row("hangs while it measures", 2)
def _hangs(place: Place, note: Note) -> Iterator[None]:
    yield
    note("before", 2)
    time.sleep(1000)


@TABLE.row("hangs, and does not let itself be interrupted", 2)
def _hangs_hard(place: Place, note: Note) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGTERM, signal.SIGINT})
    time.sleep(1000)


@TABLE.row("dies", 5)
def _dies(place: Place, note: Note) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@TABLE.row("is refused", 5)
def _refused(place: Place, note: Note) -> None:
    raise NotOnDouble("a row of stage 0")


@TABLE.row("has a variable of its own", 5, environment={"GPU_RUN_VARIABLE": "17"})
def _variable(place: Place, note: Note) -> None:
    note("value", os.environ["GPU_RUN_VARIABLE"])


@TABLE.row("works after all of them", 5)
def _works(place: Place, note: Note) -> Iterator[None]:
    note("prepared", True)
    yield
    note("measured", 3.5, "ms")
