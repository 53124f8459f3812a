"""Programs that tests of worker processes run, and what is left of them."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
WAIT_S = 60
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "engine")])}


def start(script: str) -> subprocess.Popen[str]:
    """Start a program in a process group of its own, with its output in pipes."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(script)],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )


def run(script: str, timeout_s: float = 60) -> subprocess.CompletedProcess[str]:
    """Run a program to its end."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(script)],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )


def gone(pid: int) -> bool:
    """Whether a process has ended, all its threads with it."""
    try:  # the first thread of our own child may be a zombie before the others have ended
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        pass  # another's, or one that was waited for
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return True
    return stat.rpartition(")")[2].split()[0] == "Z"


def wait_until_gone(pids: list[int], timeout_s: float = WAIT_S) -> None:
    """Wait until processes have ended."""
    deadline = time.monotonic() + timeout_s
    while not all(map(gone, pids)):
        assert time.monotonic() < deadline, f"still there: {pids}"
        signal.sigtimedwait([], 0.02)
