"""Failures: what is kept when an operator raises, and what a wait raises in its place.

Invariant: a `Failure` is shared by every variable that the failed operator would have written and
by all that depend on them, so marking it raised once marks it for all. Nothing here takes a lock;
`Failure.raised` only ever goes from False to True.
"""

import sys
import traceback
from collections.abc import Iterator
from types import FrameType

__all__ = ["EngineError", "Failure", "pushed_at"]


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
    """

    __slots__ = ("cause", "name", "raised", "sequence", "where")

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

    def message(self) -> str:
        """Say which operator failed, with what, and where it was pushed."""
        name = self.name or "<unnamed operator>"
        text = f"{name}: failed with {type(self.cause).__name__}: {self.cause}"
        if self.where is None:
            return text
        return (
            f"{text}\nPushed at (most recent call last):\n{''.join(self.where.format())}".rstrip()
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
