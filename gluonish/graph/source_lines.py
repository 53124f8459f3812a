"""Where in the user's program the nodes of a traced call were made, for messages.

While a block is traced, a `SourceLines` is the recorder of its thread, and everything that names a
node calls `note`. Frames of this package are passed over: what a layer makes inside was made by the
line that called the layer. Lines are looked up only for a message; until then they are a file name
and a number.
"""

import linecache
import re
import sys
from contextvars import ContextVar, Token
from pathlib import Path
from types import FrameType, TracebackType
from typing import NamedTuple, Self

from gluonish.core.errors import GluonishError

_PACKAGE = str(Path(__file__).parents[1])
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


class SourceLines:
    """The lines that made a graph's nodes, by the names of the nodes; a scope that records them.

    Frames outside the scope are not looked at, so that what a program does around its blocks is
    never named.
    """

    __slots__ = ("_frame", "_lines", "_token")

    def __init__(self) -> None:
        self._lines: dict[str, Line] = {}
        self._frame: FrameType | None = None
        self._token: Token[SourceLines | None] | None = None

    def __enter__(self) -> Self:
        self._frame = sys._getframe(1)
        self._token = _recorder.set(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._frame = None
        if self._token is not None:
            _recorder.reset(self._token)

    def note(self, name: str, frame: FrameType | None) -> None:
        """Keep the innermost line of the user's from a frame outwards, for the node ``name``."""
        while frame is not None and frame is not self._frame:
            code = frame.f_code
            if not code.co_filename.startswith(_PACKAGE):
                self._lines[name] = Line(code.co_filename, frame.f_lineno, code.co_name)
                return
            frame = frame.f_back

    def completed(self, message: str) -> str:
        """Return a message that begins with names of nodes, outer first, with a line at its end.

        The line is that of the innermost node; there is none if no name is known.
        """
        named = [self._lines[part] for part in message.split(": ") if part in self._lines]
        return with_line(message, named[-1] if named else None)

    def complete(self, error: GluonishError) -> None:
        """Have an error's message end with a line, as `completed` says."""
        error.args = (self.completed(str(error.args[0])), *error.args[1:])


_recorder: ContextVar[SourceLines | None] = ContextVar("gluonish_source_lines", default=None)


def note(name: str) -> None:
    """Record who makes the node ``name``, if a block is traced in this thread."""
    recorder = _recorder.get()
    if recorder is not None:
        recorder.note(name, sys._getframe(1))


def innermost(traceback: TracebackType | None) -> Line | None:
    """Return the innermost line of the user's among those that led to an error.

    Args:
        traceback: From the frame that caught it inwards.
    """
    found = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not code.co_filename.startswith(_PACKAGE):
            found = Line(code.co_filename, traceback.tb_lineno, code.co_name)
        traceback = traceback.tb_next
    return found


def with_line(message: str, line: Line | None) -> str:
    """Return a message that ends with a line, unless it names one or there is none."""
    return message if line is None or _HAS_LINE.search(message) else f"{message}; at {line}"
