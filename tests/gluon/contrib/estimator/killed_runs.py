"""Kills `resumable_run` again and again, and starts it again, until it has a result.

``python -m tests.gluon.contrib.estimator.killed_runs 30`` kills one process and two ranks at 30
points each for each configuration, and compares the results with that of runs that nothing
interrupted.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path

from gluonish.test_utils.ranks import launch_command
from tests.gluon.contrib.estimator.resumable_run import CONFIGURATIONS
from tests.kvstore.distributed.jobs import environment

MODULE = "tests.gluon.contrib.estimator.resumable_run"
TIMEOUT_S = 120
BATCHES = 24  # of a run; each rank writes a line after each
SECONDS_A_BATCH = 0.06  # about, with a checkpoint after each second one


def start(folder: Path, ranks: int, configuration: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", MODULE, str(folder), configuration]
    if ranks > 1:
        command = launch_command(command, ranks, TIMEOUT_S, {})
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a group of processes, which dies together
        cwd=Path(__file__).resolve().parents[4],
        env=environment({}),
    )


def finish(folder: Path, ranks: int, configuration: str = "accumulated") -> list[str]:
    """Let a run come to its end; return the results of the ranks."""
    process = start(folder, ranks, configuration)
    out, errors = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 0, errors[-3000:]
    results = sorted(line for line in out.splitlines() if line.startswith("result"))
    assert len(results) == ranks, out
    return results


def kill(folder: Path, ranks: int, generator: random.Random, configuration: str) -> int:
    """Start a run, and kill it some time after some batch; return the number of batches before."""
    process = start(folder, ranks, configuration)
    assert process.stdout is not None
    assert process.stderr is not None
    most = generator.randint(1, BATCHES // 3) * ranks
    count = 0
    for line in process.stdout:
        count += line.startswith("batch")
        if count >= most or line.startswith("result"):
            break
    time.sleep(generator.uniform(0, SECONDS_A_BATCH))
    os.killpg(process.pid, signal.SIGKILL)
    process.stdout.read()
    errors = process.stderr.read()
    process.stdout.close()
    process.stderr.close()
    assert process.wait(TIMEOUT_S) in (0, -signal.SIGKILL), errors[-3000:]
    return count


def killed(
    folder: Path, ranks: int, kills: int, seed: int, configuration: str = "accumulated"
) -> list[str]:
    """Kill a run a number of times, and let it come to its end then; return its results."""
    generator = random.Random(seed)
    for _ in range(kills):
        kill(folder, ranks, generator, configuration)
    return finish(folder, ranks, configuration)


def main(points: int) -> int:
    """Compare runs that are killed three times each; return the number of differences."""
    differing = 0
    for ranks, name in product((1, 2), CONFIGURATIONS):
        with tempfile.TemporaryDirectory() as root:
            whole = finish(Path(root, "whole"), ranks, name)
            for number in range(points // 3):
                found = killed(Path(root, str(number)), ranks, 3, number, name)
                differing += found != whole
                same = "the same bits" if found == whole else f"other bits\n{found}\n{whole}"
                sys.stdout.write(f"{name}, {ranks} ranks, killed 3 times, seed {number}: {same}\n")
                sys.stdout.flush()
    return differing


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
