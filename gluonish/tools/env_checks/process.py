"""Registers the checks of variables, and runs their programs in separate processes.

A check is a function without arguments that triggers the variable's effect under two or more
values, observes it from outside (threads, calls, bytes, kernels, plans, rows of a trace), and
returns the observation as a short sentence. It takes a few seconds at most, needs no network, and
restores the state of the process. ``gluonish env --check`` prints all results, and a test runs each
check.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from gluonish.core.config import Flag
from gluonish.core.errors import GluonishError

Check = Callable[[], str]

# Checks by the variable's name.
CHECKS: dict[str, Check] = {}


class CheckFailedError(GluonishError, RuntimeError):
    """A variable does not have the documented effect."""


class NotHereError(GluonishError, RuntimeError):
    """The effect cannot be observed on this machine; the message names the missing requirement."""


def observes(flag: Flag[Any]) -> Callable[[Check], Check]:
    """Register the decorated function as the check of a variable.

    Raises:
        CheckFailedError: The variable already has a check.
    """

    def register(check: Check) -> Check:
        if flag.name in CHECKS:
            raise CheckFailedError(f"{flag.name}: expected one check, got two")
        CHECKS[flag.name] = check
        return check

    return register


def expect(flag: Flag[Any], holds: bool, expected: str, got: object) -> None:
    """Raise an error unless an effect was observed.

    Args:
        flag: The variable.
        holds: Whether the effect was observed.
        expected: The expected effect, as text.
        got: What was observed.

    Raises:
        CheckFailedError: The effect was not observed.
    """
    if not holds:
        raise CheckFailedError(f"{flag.name}: expected {expected}, got {got}")


_TIMEOUT_S = 60.0
# The variables are set before any import outside the standard library.
_BOOT = """\
import json, os, sys
path, variables, source = json.loads(sys.argv.pop(1))
os.environ.update(variables)
sys.path[:] = path
exec(compile(source, "check", "exec"), {"__name__": "__main__"})
"""


def run_program(source: str, **variables: str) -> str:
    """Run Python source in a new process with the import path of this one.

    Args:
        source: Source of the program.
        **variables: Environment variables of the process; an empty text unsets a variable.

    Returns:
        Standard output and standard error, combined.

    Raises:
        CheckFailedError: The program failed, or took longer than a minute; the message ends with
            the last line of its output.
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
