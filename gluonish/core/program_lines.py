"""Lines of the user's program, for messages."""

import linecache
import re
import sys
import warnings
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from gluonish.core.tracebacks import is_ours

_HAS_LINE = re.compile(r"; at [^;]+:\d+ in ")


class Line(NamedTuple):
    """A line of a program."""

    file: str
    number: int
    function: str

    def __str__(self) -> str:
        code = linecache.getline(self.file, self.number).strip()
        where = f"{Path(self.file).name}:{self.number} in {self.function}"
        return f"{where}: {code}" if code else where


def calling_line(frame: FrameType | None) -> Line | None:
    """Return the innermost line of the user's program, from a frame outwards."""
    while frame is not None:
        code = frame.f_code
        if not is_ours(code):
            return Line(code.co_filename, frame.f_lineno, code.co_name)
        frame = frame.f_back
    return None


def warn_at_line(message: str) -> None:
    """Warn at the innermost line of the user's program."""
    line = calling_line(sys._getframe(1)) or Line("<unknown>", 0, "")
    warnings.warn_explicit(message, UserWarning, line.file, line.number)


def with_line(message: str, line: Line | None) -> str:
    """Append a line to a message, unless the message has one or the line is None."""
    return message if line is None or _HAS_LINE.search(message) else f"{message}; at {line}"
