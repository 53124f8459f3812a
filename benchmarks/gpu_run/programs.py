"""Programs that rows run in processes of their own, and what comes of them.

python -m benchmarks.gpu_run.faulting [--rehearse]
"""

import re
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from benchmarks.gpu_run.place import Place
from benchmarks.gpu_run.rows import Note

_MOST_FAILURES = 25  # that are told by name
_COUNTS = re.compile(r"(\d+) (passed|failed|skipped|errors?|warnings?|xfailed|xpassed)")


def run_module(name: str, words: Sequence[str], limit_s: float, before: Sequence[str] = ()) -> str:
    """Run ``python -m name words`` and return what it printed, errors included.

    Args:
        name: A module.
        words: Its arguments.
        limit_s: When it is killed.
        before: A command that the interpreter's is given to, such as compute-sanitizer's.

    Raises:
        RuntimeError: it ended with another status than 0; the message has its last lines.
        subprocess.TimeoutExpired: it did not end.
    """
    ended = subprocess.run(
        [*before, sys.executable, "-m", name, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=limit_s,
        check=False,
    )
    if ended.returncode:
        last = " / ".join(ended.stdout.strip().splitlines()[-3:])
        raise RuntimeError(f"{name}: expected status 0, got {ended.returncode}: {last}")
    return ended.stdout


def pytest_run(
    place: Place, paths: Sequence[str], processes: int, limit_s: float, only: str = ""
) -> str:
    """Run tests and return pytest's output, which the place keeps if a test failed.

    Args:
        place: Where they run.
        paths: Files.
        processes: How many share the work; 0 for this one's child alone.
        limit_s: When all of them are stopped, with what was printed so far.
        only: An expression of ``-k``.
    """
    command = [sys.executable, "-m", "pytest", "-o", "addopts=", "--import-mode=importlib", "-q"]
    command += ["-p", "no:cacheprovider", "--tb=short", "-rf", "-n", str(processes)]
    # Older pytests read this setting as a text; pytest-benchmark warns of tests side by side.
    command += ["-o", "faulthandler_timeout=280", "-p", "no:benchmark"]
    command += ["--timeout=100", "--timeout-method=thread"]
    command += ["-p", "benchmarks.gpu_run.pytest_on_double"] if place.rehearsed else []
    command += ["-k", only] if only else []
    try:
        ended = subprocess.run(
            [*command, *paths],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        output: Any = error.stdout or b""
        output = output if isinstance(output, str) else output.decode("utf-8", "replace")
        place.keep_failure(output)
        return str(output)
    if ended.returncode:
        place.keep_failure(ended.stdout)
    return ended.stdout


def tell_tests(output: str, note: Note) -> None:
    """Note pytest's counts and failures.

    Raises:
        AssertionError: a test failed, or pytest did not come to its end.
    """
    lines = output.strip().splitlines()
    counts = {word: int(count) for count, word in _COUNTS.findall(lines[-1] if lines else "")}
    for word, count in counts.items():
        note(word, count)
    failures = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    for number, line in enumerate(failures[:_MOST_FAILURES]):
        note(f"failure {number + 1}", line[:300])
    if not counts:
        done = sum(line.count(".") for line in lines if re.match(r"^[.FsEx]+( |$)", line))
        note("passed before it was stopped", done)
        raise AssertionError(f"pytest did not come to its end: {lines[-1:]}")
    bad = counts.get("failed", 0) + counts.get("errors", 0) + counts.get("error", 0)
    assert not bad, f"{bad} tests failed"
    assert counts.get("passed"), "no test ran"
