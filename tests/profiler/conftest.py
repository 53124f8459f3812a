"""A profiler that is stopped and empty before and after each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gluonish import profiler
from gluonish.profiler.recorder import recorder


def rest() -> None:
    profiler.set_config(continuous_dump=False)
    profiler.set_state("stop")
    recorder.drop(recorder.event_count())
    recorder.totals(clear=True)


@pytest.fixture
def trace_file(tmp_path: Path) -> Iterator[Path]:
    """Where the profiler writes; it does not run yet, and keeps totals."""
    rest()
    path = tmp_path / "profile.json"
    profiler.set_config(filename=str(path), continuous_dump=False, aggregate_stats=True)
    yield path
    rest()


@pytest.fixture
def running(trace_file: Path) -> Path:
    """A profiler that runs, and where it writes."""
    profiler.set_state("run")
    return trace_file
