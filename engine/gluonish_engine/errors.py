"""Failures: stored on variables when an operator raises, and raised by waits.

Invariants: a `Failure` is shared by all outputs of the failed operator and by all dependent
variables, so marking it raised marks it for all. Nothing here uses a lock; ``Failure.raised`` only
changes from False to True, and ``Failure.raised_at`` from None to a number. A `Stale` is only on
variables with complete values, except after an interrupted update.
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
    """The failure of an operator, shared by all variables that it affects.

    Args:
        name: Name of the operator that raised.
        cause: The exception that the operator raised.
        sequence: Number of the push, by which failures are ordered.
        where: The innermost frames at the push, or None if they were not captured.

    Attributes:
        raised: Whether a wait has raised the failure, so that `Engine.wait_all` need not.
        raised_at: Number of failures raised outside operators, up to and including the first raise
            of this failure; None before. Waits inside operators do not count, because their timing
            depends on the schedule.
        first: If the operator has several outputs, the error of the output whose wait raised it
            first; None before.
    """

    __slots__ = ("cause", "first", "name", "raised", "raised_at", "sequence", "where")

    # Whether there was ever a failure in this process. Set before any variable can carry one.
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
        """Return the failure itself; see `Stale.standing`."""
        return self

    def message(self) -> str:
        """Return the error message: operator, exception, and where the operator was pushed.

        The operator's name is not repeated if the exception's message begins with it.
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
    """Marks a variable whose update was skipped, and which still has the old value.

    An operator that was interrupted (Ctrl-C) leaves the same mark on variables that it updates in
    place: the program has received the interrupt, and may save the current values.

    Args:
        failure: The failure that caused the skip.
    """

    __slots__ = ("failure",)

    def __init__(self, failure: Failure) -> None:
        self.failure = failure

    def standing(self, raises: int) -> Failure | None:
        """Return the failure unless it is among the first ``raises`` failures raised, else None."""
        raised_at = self.failure.raised_at
        return None if raised_at is not None and raised_at <= raises else self.failure


class Output(Stale):
    """Marks each output of a failed operator with several outputs.

    Once a wait outside operators has raised the failure for one output, the others can be read, as
    in MXNet, with whatever was written to them. That one output raises every time.
    """

    __slots__ = ()

    def standing(self, raises: int) -> Failure | None:
        """Return the failure for a push or wait; see `Stale.standing`."""
        first = self.failure.first
        return self.failure if first is None or first is self else super().standing(raises)


def for_caller(error: BaseException) -> BaseException | None:
    """Return the exception to raise at once in the pushing thread; None for a failure.

    Such exceptions concern the thread rather than the operator, which counts as skipped: an
    interrupt (Ctrl-C), and a full stack, also if ctypes or a graph has wrapped the RecursionError.
    Failures are raised by waits.
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
