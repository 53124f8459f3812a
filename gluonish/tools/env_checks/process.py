"""Checks that variables act, and programs in processes of their own for them.

A check is a function without arguments that has the variable's effect happen under two values or
more, observes it from outside (threads, calls, bytes, kernels, plans, rows of a trace), and returns
one short sentence that says what it saw. It takes seconds at most, needs no network, and leaves the
process as it was. ``gluonish env --check`` prints what all of them say, and a test runs each.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from gluonish.core.config import Flag
from gluonish.core.errors import GluonishError

Check = Callable[[], str]

# By the variable's name.
CHECKS: dict[str, Check] = {}


class CheckFailedError(GluonishError, RuntimeError):
    """A variable does not do what its line in the table says."""


class NotHereError(GluonishError, RuntimeError):
    """The effect cannot be seen on this machine; the message says what is missing."""


def observes(flag: Flag[Any]) -> Callable[[Check], Check]:
    """Register the decorated function as the check of a variable.

    Raises:
        CheckFailedError: The variable has a check already.
    """

    def register(check: Check) -> Check:
        if flag.name in CHECKS:
            raise CheckFailedError(f"{flag.name}: expected one check, got two")
        CHECKS[flag.name] = check
        return check

    return register


def expect(flag: Flag[Any], holds: bool, expected: str, got: object) -> None:
    """Raise unless an effect was seen.

    Args:
        flag: The variable.
        holds: Whether it was.
        expected: The effect, in words.
        got: What was seen instead.

    Raises:
        CheckFailedError: It was not.
    """
    if not holds:
        raise CheckFailedError(f"{flag.name}: expected {expected}, got {got}")


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
