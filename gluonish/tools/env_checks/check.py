"""Checks that an environment variable acts: each sees one effect come and go with the value.

A check is a function without arguments that has the variable's effect happen under two values or
more, observes it from outside (threads, calls, bytes, kernels, plans, rows of a trace), and returns
one short sentence that says what it saw. It takes seconds at most, needs no network, and leaves the
process as it was. ``gluonish env --check`` prints what all of them say, and a test runs each.
"""

from collections.abc import Callable
from typing import Any

from gluonish.core.config import Flag
from gluonish.core.errors import GluonishError

__all__ = ["CHECKS", "CheckFailedError", "NotHereError", "expect", "observes"]

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
