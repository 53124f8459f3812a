"""Errors that no program catches, as the interpreter and notebooks show them.

An operator's call passes through some functions of this package. An uncaught error that the package
raised on purpose is shown without their frames, so that the last line of the traceback is the
program's, as for errors that leave a Block; `gluonish.core.tracebacks` has the rules. Other errors,
and all errors if ``GLUONISH_FULL_TRACEBACKS=1``, are shown as they are.

Functions are only called while an error is shown: nothing gets slower, and errors that a program
catches, logs or tests are unchanged.
"""

import sys
from types import TracebackType
from typing import Any

from gluonish.core.keyword_errors import explain_keyword
from gluonish.core.tracebacks import shorten

_previous: Any = None


def prepare(error: BaseException | None) -> None:
    """Shorten the traceback of an error that is about to be shown, and complete its message."""
    if isinstance(error, Exception):
        explain_keyword(error)
        shorten(error)


def _show(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """Show an error as the hook before this one does; a ``sys.excepthook``."""
    try:
        prepare(error)
    finally:
        _previous(kind, error, error.__traceback__)


def _show_in_notebook(
    shell: Any,
    kind: type[BaseException],
    error: BaseException,
    traceback: TracebackType | None,
    tb_offset: int | None = None,
) -> None:
    """Show an error as IPython does; a handler for ``set_custom_exc``."""
    try:
        prepare(error)
    finally:
        shell.showtraceback((kind, error, error.__traceback__), tb_offset=tb_offset)


def install() -> None:
    """Prepare uncaught errors from now on; the previous ``sys.excepthook`` still shows them."""
    global _previous
    if sys.excepthook is not _show:
        _previous, sys.excepthook = sys.excepthook, _show
    get_shell = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = None if get_shell is None else get_shell()
    if shell is not None and not shell.custom_exceptions:  # the program's own handler stays
        shell.set_custom_exc((Exception,), _show_in_notebook)


install()
