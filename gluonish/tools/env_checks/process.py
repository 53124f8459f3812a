"""Programs in processes of their own, for variables that are read once in a process's life."""

import json
import subprocess
import sys

from gluonish.tools.env_checks.check import CheckFailedError

__all__ = ["run_program"]

_TIMEOUT_S = 60.0
# The variables are set before anything but the standard library is imported.
_BOOT = """\
import json, os, sys
path, variables, source = json.loads(sys.argv.pop(1))
os.environ.update(variables)
sys.path[:] = path
exec(compile(source, "check", "exec"), {"__name__": "__main__"})
"""


def run_program(source: str, **variables: str) -> str:
    """Run Python source in a new process that imports what this one can.

    Args:
        source: The program.
        **variables: Environment variables for it; empty is unset.

    Returns:
        What it wrote to standard output and standard error, together.

    Raises:
        CheckFailedError: It failed, or took longer than a minute; the message ends with what it
            wrote last.
    """
    arguments = json.dumps([sys.path, variables, source])
    try:
        done = subprocess.run(
            [sys.executable, "-c", _BOOT, arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CheckFailedError(f"run_program: expected an end within {_TIMEOUT_S:g} s") from None
    if done.returncode:
        last = done.stdout.strip().splitlines()[-1:] or ["nothing"]
        raise CheckFailedError(f"run_program: expected status 0, got {done.returncode}: {last[0]}")
    return done.stdout
