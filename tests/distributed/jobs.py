"""Programs in several processes, as `gluonish launch` starts them."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

__all__ = ["Job", "run_job"]

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
    paths = (str(ROOT), str(ROOT / "engine"), os.environ.get("PYTHONPATH", ""))
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "GLUONISH_DISTRIBUTED_TIMEOUT": "20",
        **variables,
    }
    launch = (sys.executable, "-m", "gluonish", "launch", "--no-prefix", "-n", str(ranks))
    done = subprocess.run(
        [*launch, sys.executable, "-c", program, *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    return Job(done.returncode, sorted(done.stdout.splitlines()), done.stderr)
