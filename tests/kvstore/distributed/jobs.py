"""Programs in several processes, as `gluonish launch` starts them."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from gluonish.test_utils.ranks import Job, launch_command, run_command

__all__ = ["Job", "environment", "interrupt_job", "left", "run_job"]

ROOT = Path(__file__).resolve().parents[3]
_PATIENCE_S = 20.0  # of ranks for each other, unless a test says something else


def run_job(ranks: int, program: str, *words: str, timeout: float = 60, **variables: str) -> Job:
    """Run a program in so many processes, one thread each.

    Args:
        ranks: The number of processes.
        program: Its text.
        *words: Its arguments.
        timeout: Seconds after which a hanging job is an error.
        **variables: Of the environment.
    """
    command = [sys.executable, "-c", program, *words]
    return run_command(command, ranks, timeout_s=timeout, variables=_with_patience(variables))


def interrupt_job(
    ranks: int,
    program: str,
    *words: str,
    number: signal.Signals = signal.SIGINT,
    **variables: str,
) -> tuple[float, Job]:
    """Run a program, press Ctrl-C when all ranks have written a line, and wait for the end.

    Args:
        ranks: The number of processes.
        program: Its text.
        *words: Its arguments.
        number: Another signal than Ctrl-C's goes to the launcher alone.
        **variables: Of the environment.

    Returns:
        Seconds from the interrupt to the end, and how the job ended.
    """
    command = [sys.executable, "-c", program, *words]
    with subprocess.Popen(
        launch_command(command, ranks, 60, _with_patience(variables)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a group of its own, as a shell gives it
        preexec_fn=partial(_obey, number),  # nohup has it ignored
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(ranks)]
        start = time.perf_counter()
        if number == signal.SIGINT:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        try:
            rest, errors = process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        seconds = time.perf_counter() - start
    return seconds, Job(process.returncode, sorted([*lines, *rest.splitlines()]), errors)


def _obey(number: signal.Signals) -> None:
    """Have a signal act as in a process that a terminal started."""
    usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
    signal.signal(number, usual)


def left(mark: str) -> int:
    """Return how many processes of a job are still there."""
    found = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            texts = [(folder / name).read_bytes() for name in ("environ", "cmdline")]
            found += any(mark.encode() in text for text in texts)
        except OSError:  # it has just ended, or is another user's
            continue
    return found


def _with_patience(variables: Mapping[str, str]) -> dict[str, str]:
    return {"GLUONISH_DISTRIBUTED_TIMEOUT": f"{_PATIENCE_S:g}", **variables}


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return this process's variables and others, with which a program finds gluonish."""
    paths = (str(ROOT), str(ROOT / "engine"), os.environ.get("PYTHONPATH", ""))
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        **_with_patience(variables),
    }
