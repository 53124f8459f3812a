"""Running a program as Python itself would: as ``__main__``, with its own arguments and path."""

import builtins
import io
import os
import runpy
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib.machinery import SourceFileLoader
from types import CodeType, ModuleType

import gluonish.ndarray as nd

__all__ = ["become_code", "become_module", "become_script", "run_script"]

_INTERRUPTED = 130  # as shells say of a program that Ctrl-C ended


def run_script(path: str, arguments: Sequence[str]) -> int:
    """Run a script to its end, and wait for what it left to the engine.

    Args:
        path: The script.
        arguments: What follows its name in ``sys.argv``.

    Returns:
        The exit status: 0, that of ``SystemExit``, or 1 after an error, which is printed as Python
        prints it.
    """
    before = (sys.argv, sys.path[:], sys.modules["__main__"])
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))

    def run() -> None:
        _run_file(path, arguments)
        nd.waitall()

    try:
        return _status_of(run)
    finally:
        sys.argv, sys.path[:], sys.modules["__main__"] = before


def become_script(path: str, arguments: Sequence[str]) -> int:
    """Run a script, or a folder or archive with a ``__main__.py``, as the process's own program.

    What it leaves in ``__main__``, ``sys.argv`` and ``sys.path`` stays, for exit handlers.

    Args:
        path: The script.
        arguments: What follows its name in ``sys.argv``.

    Returns:
        The exit status, as of `run_script`.
    """
    if os.path.isdir(path) or path.endswith((".zip", ".pyz")):
        sys.argv = [path, *arguments]
        return _status_of(lambda: runpy.run_path(path, run_name="__main__"))
    _lead_path(os.path.dirname(os.path.realpath(path)))
    return _status_of(lambda: _run_file(path, arguments))


def become_module(name: str, arguments: Sequence[str]) -> int:
    """Run a module as ``python -m`` does; see `become_script`."""
    sys.argv = [name, *arguments]
    _lead_path(os.getcwd())
    return _status_of(lambda: runpy.run_module(name, run_name="__main__", alter_sys=True))


def become_code(source: str, arguments: Sequence[str]) -> int:
    """Run a text as ``python -c`` does; see `become_script`."""
    sys.argv = ["-c", *arguments]
    _lead_path("")
    return _status_of(lambda: _run_code(compile(source, "<string>", "exec", dont_inherit=True)))


def _lead_path(folder: str) -> None:
    """Put a program's folder where Python put that of the command, unless asked not to."""
    if not sys.flags.safe_path:
        sys.path[:1] = [folder]


def _run_file(path: str, arguments: Sequence[str]) -> None:
    sys.argv = [path, *arguments]
    file_name = os.path.abspath(path)
    with io.open_code(file_name) as file:
        code = compile(file.read(), file_name, "exec", dont_inherit=True)
    loader = SourceFileLoader("__main__", file_name)
    _run_code(code, __file__=file_name, __cached__=None, __loader__=loader)


def _run_code(code: CodeType, **names: object) -> None:
    module = ModuleType("__main__")
    module.__dict__.update(__builtins__=builtins, **names)
    sys.modules["__main__"] = module
    exec(code, module.__dict__)


def _status_of(run: Callable[[], object]) -> int:
    try:
        run()
        return 0
    except SystemExit as end:
        return _status(end.code)
    except KeyboardInterrupt as error:
        _show(error)
        return _INTERRUPTED
    except BaseException as error:
        _show(error)
        return 1


def _status(code: object) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    print(code, file=sys.stderr)
    return 1


def _show(error: BaseException) -> None:
    """Print an error without the calls that started the program, as if it ran by itself."""
    frames = error.__traceback__
    ours = (__file__, runpy.__file__, "<frozen runpy>")
    while frames is not None and frames.tb_frame.f_code.co_filename in ours:
        frames = frames.tb_next
    sys.stdout.flush()
    if sys.excepthook is sys.__excepthook__:
        traceback.print_exception(type(error), error, frames)
    else:
        sys.excepthook(type(error), error, frames)
