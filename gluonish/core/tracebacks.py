"""Tracebacks of errors in the user's program: without the frames of gluonish between its lines.

A call of a network passes through a dozen functions of this package. An error that leaves it names
the layer, the argument and the line; its traceback keeps the lines of the program. Errors that the
package did not raise on purpose keep all frames, and so does every error if
``GLUONISH_FULL_TRACEBACKS=1``.
"""

import functools
import os
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import ParamSpec, TypeVar

from gluonish.core.config import GLUONISH_FULL_TRACEBACKS
from gluonish.core.errors import UntraceableError, is_deliberate

_OURS = (f"{Path(__file__).parents[1]}{os.sep}", f"{os.sep}gluonish_engine{os.sep}")
_LIBRARIES = tuple(
    {f"{Path(path).resolve()}{os.sep}" for path in sysconfig.get_paths().values()} - {os.sep}
)

P = ParamSpec("P")
R = TypeVar("R")


def is_ours(code: CodeType) -> bool:
    """Return whether code belongs to this package."""
    return code.co_filename.startswith(_OURS[0]) or _OURS[1] in code.co_filename


def shorten(error: BaseException, caller: FrameType | None = None) -> None:
    """Remove the frames of this package from the traceback of an error that leaves it.

    Args:
        error: The error; it is raised again by a bare ``raise``.
        caller: The frame that called the function of this package; nothing is done if that is one
            of this package, too.
    """
    if caller is not None and is_ours(caller.f_code):
        return
    ours = is_deliberate(error)
    # A trace finds the blocks that it cannot trace in the frames.
    if isinstance(error, UntraceableError) or GLUONISH_FULL_TRACEBACKS.value:
        return
    frames: list[TracebackType] = []
    between: list[bool] = []  # whether each is a library's that this package called
    last: TracebackType | None = None
    entry = error.__traceback__
    while entry is not None:
        if not is_ours(entry.tb_frame.f_code):
            if last is not None and not ours and _is_library(entry):
                return  # this package called a library in a way that failed
            frames.append(entry)
            between.append((last is not None or between[-1:] == [True]) and _is_library(entry))
            last = None
        else:
            last = entry
        entry = entry.tb_next
    if last is not None and not ours:
        return
    while ours and between and between.pop():
        frames.pop()
    shorter: TracebackType | None = None
    for entry in reversed(frames):
        frame, number = entry.tb_frame, entry.tb_lineno
        shorter = TracebackType(shorter, frame, entry.tb_lasti, number)
    error.__traceback__ = shorter
    if ours:
        _drop_internal_causes(error)


def _is_library(entry: TracebackType) -> bool:
    return entry.tb_frame.f_code.co_filename.startswith((*_LIBRARIES, "<frozen "))


def _drop_internal_causes(error: BaseException) -> None:
    """Remove the errors that led to one, unless a line of the user's program raised them."""
    cause = error.__cause__ or error.__context__
    seen: set[int] = set()
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        entry = cause.__traceback__
        while entry is not None and entry.tb_next is not None:
            entry = entry.tb_next
        if entry is not None and not is_ours(entry.tb_frame.f_code) and not _is_library(entry):
            return
        cause = cause.__cause__ or cause.__context__
    error.__cause__, error.__suppress_context__ = None, True


def short_traceback(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function, which is no hot path, so that its errors have short tracebacks."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            shorten(error, sys._getframe(1))
            raise

    return run
