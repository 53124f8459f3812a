"""Attacks in processes of their own: programs that end with a line of JSON, and forked tries."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
_TRY_S = 60


def run_program(*command: object, timeout_s: float) -> dict[str, Any]:
    """Run Python, or a command with Python's path in it, and return what its last line says."""
    words = [str(word) for word in command]
    done = subprocess.run(
        words if words[0] != "-m" else [sys.executable, *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'engine'}"},
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    assert done.returncode == 0, f"exit status {done.returncode}: {done.stderr[-4000:]}"
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return said


def forked(run: Callable[[], Any]) -> tuple[Any, int]:
    """Return what a function returns in a forked process, if it does, and how the process ended."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 90
        try:
            signal.alarm(_TRY_S)
            os.write(writer, json.dumps(run()).encode())
            code = 0
        except SystemExit as error:
            code = int(error.code or 0)
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader) as said:
        text = said.read()
    return (json.loads(text) if text else None), os.waitpid(pid, 0)[1]
