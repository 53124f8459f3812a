"""`mx.log`: loggers with short lines, colored in terminals."""

import logging
import sys
import warnings
from logging import CRITICAL, DEBUG, ERROR, INFO, NOTSET, WARNING

from gluonish.core.errors import ArgumentError
from gluonish.core.files import AnyPath, path_text

__all__ = [
    "CRITICAL",
    "DEBUG",
    "ERROR",
    "INFO",
    "NOTSET",
    "WARNING",
    "getLogger",
    "get_logger",
]

_RED, _YELLOW, _GREEN, _RESET = "\x1b[31m", "\x1b[33m", "\x1b[32m", "\x1b[0m"


class _Formatter(logging.Formatter):
    """Formats ``I1122 09:56:35 24009 train.py:<module>:28] text``; the letter is the level."""

    def __init__(self, *, colored: bool) -> None:
        super().__init__(datefmt="%m%d %H:%M:%S")
        self._colored = colored

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Format the line of a record."""
        time = self.formatTime(record, self.datefmt)
        location = f"{record.pathname}:{record.funcName}:{record.lineno}"
        head = f"{record.levelname[:1]}{time} {record.process} {location}]"
        if self._colored:
            level = record.levelno
            color = _RED if level >= ERROR else _YELLOW if level >= WARNING else _GREEN
            head = f"{color}{head}{_RESET}"
        return f"{head} {record.message}"


def get_logger(
    name: str | None = None,
    filename: AnyPath | None = None,
    filemode: str | None = None,
    level: int = WARNING,
) -> logging.Logger:
    """Return a logger that writes short lines to standard error, or to a file.

    A logger that this function returned before is returned unchanged.

    Args:
        name: Name of the logger; None returns the root logger, unchanged.
        filename: Path of a file to write to; None for standard error.
        filemode: Mode in which to open the file; by default ``"a"``, append.
        level: Minimum level of messages that are written.

    Raises:
        ArgumentError: ``filemode`` is set without ``filename``, or ``filename`` contains NUL.
        ArgumentTypeError: ``filename`` is not a path.
        OSError: The file cannot be opened.
    """
    if filemode is not None and filename is None:
        raise ArgumentError(f"get_logger: expected a filename with filemode, got {filemode!r}")
    logger = logging.getLogger(name)
    if name is None or any(isinstance(one.formatter, _Formatter) for one in logger.handlers):
        return logger
    handler: logging.Handler
    if filename is not None:
        path = path_text(filename, "get_logger: filename")
        handler = logging.FileHandler(path, filemode or "a", encoding="utf-8")
        handler.setFormatter(_Formatter(colored=False))
    else:
        handler = logging.StreamHandler()
        colored = sys.stderr is not None and sys.stderr.isatty()
        handler.setFormatter(_Formatter(colored=colored))
    logger.addHandler(handler)
    logger.setLevel(level)
    return logger


def getLogger(
    name: str | None = None,
    filename: AnyPath | None = None,
    filemode: str | None = None,
    level: int = WARNING,
) -> logging.Logger:
    """Deprecated name of `get_logger`."""
    warnings.warn("log.getLogger is deprecated; use log.get_logger", DeprecationWarning, 2)
    return get_logger(name, filename, filemode, level)
