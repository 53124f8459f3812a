"""Faults many times over: does every job end, soon, with its words, and leave no process?

    python -m tests.kvstore.distributed.repeat_faults --runs 50 [--kinds raises sleeps]

`test_faults.py` tries each fault once; what depends on the moment shows in many runs only.
"""

import argparse
import collections
import math
import os
import statistics
import tempfile
import time
import uuid
from pathlib import Path

from tqdm import tqdm

from gluonish.core.errors import DistributedError
from tests.kvstore.distributed.jobs import Job, interrupt_job, left, run_job
from tests.kvstore.distributed.test_async_store import FAULTS as ASYNC_FAULTS
from tests.kvstore.distributed.test_faults import FAULTS, KINDS

TIMEOUT_S = 1.5  # of what waits for a rank
SLOWEST_S = 5.0


def _run(kind: str, settings: dict[str, str]) -> tuple[Job, list[str]]:
    """Return how a job ended, and the words that its errors should have."""
    if kind == "Ctrl-C at the launcher":
        return interrupt_job(2, FAULTS, "waits", **settings)[1], []
    if kind == "a server is killed":
        return run_job(2, ASYNC_FAULTS, "killed", **settings), []
    return run_job(2, FAULTS, kind, **settings), KINDS[kind]


def run_fault(kind: str, mark: str) -> tuple[float, str]:
    """Return how long a job took to end after the fault, and what was wrong with that."""
    settings = {"GLUONISH_DISTRIBUTED_TIMEOUT": str(TIMEOUT_S), "GLUONISH_TEST_JOB": mark}
    with tempfile.TemporaryDirectory() as folder:
        moment = Path(folder, "fault")
        try:
            job, words = _run(kind, {**settings, "GLUONISH_TEST_FAULT": str(moment)})
        except DistributedError as error:
            return math.inf, f"no end: {error}"
        seconds = time.time() - moment.stat().st_mtime
    missing = [word for word in words if word not in job.errors]
    wrong = "status 0" if job.status == 0 else f"without {missing[0]!r}: {job}" if missing else ""
    if seconds > SLOWEST_S:
        wrong = wrong or f"after {seconds:.1f} s"
    return seconds, wrong


def main() -> None:
    """Run them all, and print a line for each kind."""
    everything = [*KINDS, "Ctrl-C at the launcher", "a server is killed"]
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--kinds", nargs="*", default=everything)
    options = parser.parse_args()
    for kind in options.kinds:
        seconds, wrong, stayed = [], collections.Counter[str](), 0
        for _ in tqdm(range(options.runs), desc=kind, disable=None):
            mark = f"{os.getpid()}-{uuid.uuid4()}"
            took, what = run_fault(kind, mark)
            seconds.append(took)
            wrong[what] += 1
            stayed += left(mark)
        print(  # noqa: T201
            f"{kind:24s} median {statistics.median(seconds):.2f} s, worst {max(seconds):.2f} s; "
            f"wrong {dict(wrong - collections.Counter({'': options.runs}))}, left {stayed}",
            flush=True,
        )


if __name__ == "__main__":
    main()
