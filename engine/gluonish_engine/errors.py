"""Failures: what is kept when an operator raises, and what a wait raises in its place.

Invariants: a `Failure` is shared by every variable that the failed operator would have written and
by all that depend on them, so marking it raised once marks it for all. Nothing here takes a lock;
``Failure.raised`` only ever goes from False to True, and ``Failure.raised_at`` from None to a
number. A `Stale` stands only on a variable whose value is complete, but for an interrupted update.
"""

import sys
import traceback
from collections.abc import Iterator
from types import FrameType
from typing import ClassVar


class EngineError(RuntimeError):
    """An operator failed, or the engine was used in a way that cannot work.

    For a failed operator the message names it and, when the engine captures stacks, where it was
    pushed; ``__cause__`` is the exception that it raised.
    """


class Failure:
    """The first thing that went wrong for a variable.

    Args:
        name: Name of the operator that raised.
        cause: What it raised.
        sequence: Place of the push among all pushes of the engine; decides which failure is the
            first.
        where: The innermost frames at the push, or None when they were not captured.

    Attributes:
        raised: Whether a wait has raised it, so that `Engine.wait_all` need not.
        raised_at: How many failures had been raised outside operators, this one included, when it
            was for the first time; None before. Waits inside operators do not count: when they
            raise depends on when the operator happens to run.
        first: For an operator of several outputs, what that output carries for which a wait has
            raised it first; None before.
    """

    __slots__ = ("cause", "first", "name", "raised", "raised_at", "sequence", "where")

    # Whether this process ever made one. Set before any variable can carry it.
    happened: ClassVar[bool] = False

    def __init__(
        self,
        name: str,
        cause: BaseException,
        sequence: int,
        where: traceback.StackSummary | None = None,
    ) -> None:
        self.name = name
        self.cause = cause
        self.sequence = sequence
        self.where = where
        self.raised = False
        self.raised_at: int | None = None
        self.first: Output | None = None
        Failure.happened = True

    def standing(self, raises: int) -> "Failure":
        """Return itself, for every push and wait; see `Stale.standing`."""
        return self

    def message(self) -> str:
        """Say which operator failed, with what, and where it was pushed.

        The operator's name comes once, even if what it raised begins with it.
        """
        name = self.name or "<unnamed operator>"
        detail = str(self.cause).removeprefix(f"{name}: ")
        text = f"{name}: failed with {type(self.cause).__name__}: {detail}"
        if self.where is None:
            return text
        return (
            f"{text}\nPushed at (most recent call last):\n{''.join(self.where.format())}".rstrip()
        )


class Stale:
    """Mark on a variable that lost an update: the operator was skipped, the old value is there.

    An operator that an interrupt of the program ended (Ctrl-C) leaves the same mark on what it was
    updating in place: the program has seen the interrupt, and may save what it has.

    Args:
        failure: Why the operator was skipped.
    """

    __slots__ = ("failure",)

    def __init__(self, failure: Failure) -> None:
        self.failure = failure

    def standing(self, raises: int) -> Failure | None:
        """Return the failure for a push or wait that came after ``raises`` raises.

        None: the failure was among them, and the mark means nothing any more.
        """
        raised_at = self.failure.raised_at
        return None if raised_at is not None and raised_at <= raises else self.failure


class Output(Stale):
    """Mark on an output of an operator that failed and has several.

    Once a wait outside operators has raised the failure for one of them, the others can be read, as
    in MXNet; what is in them is as far as the operator came. That one raises every time.
    """

    __slots__ = ()

    def standing(self, raises: int) -> Failure | None:
        """Return the failure for a push or wait; see `Stale.standing`."""
        first = self.failure.first
        return self.failure if first is None or first is self else super().standing(raises)


def for_caller(error: BaseException) -> BaseException | None:
    """Return what is raised at once of what an operator raised in the thread that pushed it.

    That is what belongs to the thread rather than to the operator, which is then as if it had been
    skipped: an interrupt (Ctrl-C), and that its stack is full, whatever was made of that by ctypes,
    which has a word of its own for it, or a graph that names its node. None: the operator has
    failed, and waits raise it.
    """
    if not isinstance(error, Exception) or isinstance(error, RecursionError):
        return error
    cause: BaseException | None = error
    while cause is not None and not _is_full_stack(cause):
        cause = cause.__cause__
    if cause is None:
        return None
    full = RecursionError("maximum recursion depth exceeded")
    full.__cause__ = error
    return full


def _is_full_stack(error: BaseException) -> bool:
    return isinstance(error, RecursionError) or (
        type(error).__name__ == "ArgumentError" and ": RecursionError" in str(error)
    )


def pushed_at(depth: int) -> traceback.StackSummary:
    """Capture the innermost ``depth`` frames outside this package, outermost first.

    Args:
        depth: Largest number of frames, at least 1.
    """
    summary = traceback.StackSummary.extract(
        _callers(sys._getframe(1)), limit=depth, lookup_lines=False
    )
    summary.reverse()
    return summary


def _callers(frame: FrameType | None) -> Iterator[tuple[FrameType, int]]:
    package = __name__.partition(".")[0]
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).partition(".")[0] != package:
            yield frame, frame.f_lineno
        frame = frame.f_back
