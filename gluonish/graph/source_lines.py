"""Lines of the user's program that made the nodes of a traced call, for messages.

While a block is traced, a `SourceLines` is the recorder of its thread, and all code that names a
node calls `note`. Frames of this package are skipped: a node made inside a layer has the line that
called the layer. Source text is looked up only for a message.
"""

import sys
from collections.abc import Callable
from contextvars import ContextVar, Token
from types import FrameType, TracebackType
from typing import Self

from gluonish.core.errors import GluonishError
from gluonish.core.program_lines import Line, with_line
from gluonish.core.tracebacks import is_ours


class SourceLines:
    """A scope that records the lines that make a graph's nodes, by node name.

    Frames outside the scope are ignored, so that no message names code around the blocks.

    Attributes:
        locate: Adds the layer of a node to a message that begins with the node's name; None
            without layers.
    """

    __slots__ = ("_frame", "_lines", "_token", "locate")

    def __init__(self) -> None:
        self.locate: Callable[[str], str] | None = None
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
        """Record the innermost user line, from a frame outwards, as that of the node ``name``."""
        while frame is not None and frame is not self._frame:
            code = frame.f_code
            if not is_ours(code):
                self._lines[name] = Line(code.co_filename, frame.f_lineno, code.co_name)
                return
            frame = frame.f_back

    def line_of(self, name: str) -> Line | None:
        """Return the line that made a node, or None."""
        return self._lines.get(name)

    def completed(self, message: str) -> str:
        """Append the line of the innermost node to a message that begins with node names.

        The message is returned unchanged if no name is known.
        """
        named = [self._lines[word] for word in message.split(": ") if word in self._lines]
        return with_line(message, named[-1] if named else None)

    def located(self, message: str) -> str:
        """Add the line and the layer of a node that failed while it ran; see `completed`."""
        message = self.completed(message)
        return message if self.locate is None else self.locate(message)

    def complete(self, error: GluonishError) -> None:
        """Append a line to the message of an error; see `completed`."""
        error.args = (self.completed(str(error.args[0])), *error.args[1:])


_recorder: ContextVar[SourceLines | None] = ContextVar("gluonish_source_lines", default=None)


def note(name: str) -> None:
    """Record the line that makes the node ``name``, if a block is traced in this thread."""
    recorder = _recorder.get()
    if recorder is not None:
        recorder.note(name, sys._getframe(1))


def innermost(traceback: TracebackType | None) -> Line | None:
    """Return the innermost user line of a traceback."""
    found = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not is_ours(code):
            found = Line(code.co_filename, traceback.tb_lineno, code.co_name)
        traceback = traceback.tb_next
    return found
