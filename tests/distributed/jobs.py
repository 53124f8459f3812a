"""Programs in several processes, as `gluonish launch` starts them."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

__all__ = ["Job", "environment", "interrupt_job", "run_job"]

ROOT = Path(__file__).resolve().parents[2]


class Job(NamedTuple):
    """How a job ended.

    Attributes:
        status: Its exit status.
        lines: What it wrote to standard output, sorted: ranks come as they like.
        errors: What it wrote to standard error.
    """

    status: int
    lines: list[str]
    errors: str


def run_job(ranks: int, program: str, *words: str, timeout: float = 60, **variables: str) -> Job:
    """Run a program in so many processes, one thread each.

    Args:
        ranks: The number of processes.
        program: Its text.
        *words: Its arguments.
        timeout: Seconds after which a hanging job is an error.
        **variables: Of the environment.
    """
    done = subprocess.run(
        _command(ranks, program, words),
        env=environment(variables),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    return Job(done.returncode, sorted(done.stdout.splitlines()), done.stderr)


def interrupt_job(ranks: int, program: str, *words: str, **variables: str) -> tuple[float, Job]:
    """Run a program, press Ctrl-C when all ranks have written a line, and wait for the end.

    Returns:
        Seconds from the interrupt to the end, and how the job ended.
    """
    with subprocess.Popen(
        _command(ranks, program, words),
        env=environment(variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a group of its own, as a shell gives it
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(ranks)]
        start = time.perf_counter()
        os.killpg(process.pid, signal.SIGINT)
        rest, errors = process.communicate(timeout=30)
        seconds = time.perf_counter() - start
    return seconds, Job(process.returncode, sorted([*lines, *rest.splitlines()]), errors)


def _command(ranks: int, program: str, words: Sequence[str]) -> list[str]:
    launch = [sys.executable, "-m", "gluonish", "launch", "--no-prefix", "-n", str(ranks)]
    return [*launch, sys.executable, "-c", program, *words]


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return this process's variables and others, with which a program finds gluonish."""
    paths = (str(ROOT), str(ROOT / "engine"), os.environ.get("PYTHONPATH", ""))
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "GLUONISH_DISTRIBUTED_TIMEOUT": "20",
        **variables,
    }
