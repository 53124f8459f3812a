"""Programs as users of MXNet 2.0 write them give what they give under MXNet 2.0.0b1.

Each function of the other files is a program. golden.json.gz holds MXNet's answers;
tests/golden/make_programs_2_0.py wrote it. The programs run in one process, under the name
``mxnet`` with the rules of 2.0. `KNOWN` and `WRONG_THERE` list those with another answer, and the
reasons.
"""

import gzip
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.programs_2_0 import runner
from tests.programs_2_0.known_differences import KNOWN, WRONG_THERE

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAMS = [f"{area}.{name}" for area in runner.areas() for name in runner.names_of(area)]
GOLDEN = json.loads(gzip.decompress((HERE / "golden.json.gz").read_bytes()))
LIMIT_S = 120


class Process:
    """Runs programs one after another; started anew if one of them ends it."""

    def __init__(self) -> None:
        self._running: subprocess.Popen[str] | None = None
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()

    def _start(self) -> subprocess.Popen[str]:
        command = ["run", "--mxnet2", str(HERE / "runner.py")]
        started = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "gluonish", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT), "MPLBACKEND": "agg"},
        )
        self._lines = lines = queue.SimpleQueue()

        def read() -> None:
            assert started.stdout is not None
            for line in started.stdout:
                lines.put(line)
            lines.put("")  # the end

        threading.Thread(target=read, daemon=True).start()
        return started

    def ask(self, program: str) -> Any:
        """Return the answer of one program, or what became of the process."""
        if self._running is None:
            self._running = self._start()
        assert self._running.stdin is not None
        self._running.stdin.write(program.replace(".", " ") + "\n")
        self._running.stdin.flush()
        try:
            lines = [self._lines.get(timeout=LIMIT_S) for _ in range(2)]
        except queue.Empty:
            lines = [""]
        if not all(lines):
            self.close()
            return {"failed": [], "message": "the process ended, or the program took too long"}
        return json.loads(lines[1])["answer"]

    def close(self) -> None:
        """End the process, if it runs."""
        if self._running is not None:
            self._running.kill()
            self._running.communicate()
            self._running = None


@pytest.fixture(scope="module")
def process() -> Iterator[Process]:
    made = Process()
    yield made
    made.close()


@pytest.mark.parametrize("program", PROGRAMS)
def test_program_gives_what_mxnet_gives(process: Process, program: str) -> None:
    area, name = program.split(".")
    answer = process.ask(program)
    if isinstance(answer, dict) and "ImportError" in answer.get("failed", ()):
        pytest.skip(answer["message"])  # an optional package, such as OpenCV
    found = runner.differences(GOLDEN[area][name], answer)
    if program in KNOWN or program in WRONG_THERE:
        assert found, f"{program} agrees now: take it from known_differences.py"
    else:
        assert not found, found


def test_golden_answers_are_those_of_these_programs() -> None:
    assert sorted(PROGRAMS) == sorted(f"{area}.{name}" for area in GOLDEN for name in GOLDEN[area])
    assert {*KNOWN, *WRONG_THERE} <= set(PROGRAMS)
    assert not KNOWN.keys() & WRONG_THERE.keys()


def test_almost_all_programs_give_the_same() -> None:
    right_there = len(PROGRAMS) - len(WRONG_THERE)
    assert right_there > 1200
    assert len(KNOWN) <= 0.03 * right_there
