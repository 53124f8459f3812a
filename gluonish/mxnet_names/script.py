"""Running a program like Python: as ``__main__``, with its own arguments and path."""

import builtins
import importlib.util
import io
import os
import runpy
import sys
import traceback
import zipfile
from collections.abc import Callable, Sequence
from importlib.machinery import SourceFileLoader
from types import CodeType, ModuleType

import gluonish.ndarray as nd
from gluonish.core.command import INTERRUPTED
from gluonish.core.errors import ArgumentError, FileFormatError, FolderPathError, MissingFileError

__all__ = [
    "become_code",
    "become_input",
    "become_module",
    "become_script",
    "check_script",
    "run_script",
]

_PROBE_NBYTES = 1 << 16


def check_script(command: str, path: str, *, folders: bool = True) -> None:
    """Check that a script can be run.

    Args:
        command: The command that runs the script, for error messages.
        path: The script, folder or archive.
        folders: Whether folders, archives and compiled modules can be run, too.

    Raises:
        MissingFileError: The path does not exist.
        FolderPathError: The path is a folder without a ``__main__.py``.
        FileFormatError: The file is not readable, or not a Python program.
    """
    if not os.path.exists(path):
        raise MissingFileError(f"{command}: expected a script, got {path!r}, which does not exist")
    if os.path.isdir(path):
        if not folders or not any(
            os.path.isfile(os.path.join(path, f"__main__.py{c}")) for c in ("", "c")
        ):
            raise FolderPathError(
                f"{command}: expected a script{', or a folder with a __main__.py' * folders}, got "
                f"the folder {path!r}"
            )
        return
    if not os.access(path, os.R_OK):
        raise FileFormatError(f"{command}: expected a script, got {path!r}, which is not readable")
    if os.path.isfile(path) and not (folders and _is_archive(path)):
        with io.open_code(os.path.abspath(path)) as file:
            start = file.read(_PROBE_NBYTES)
        if b"\0" in start:
            raise FileFormatError(
                f"{command}: expected a Python program, got {path!r}, which contains null bytes"
            )


def _is_archive(path: str) -> bool:
    """Whether a file is an archive or a compiled module, which Python runs directly."""
    return path.endswith(".pyc") or zipfile.is_zipfile(path)


def run_script(path: str, arguments: Sequence[str]) -> int:
    """Run a script to its end, and wait for pending engine operations.

    Args:
        path: The script.
        arguments: Its arguments, ``sys.argv[1:]``.

    Returns:
        The exit status: 0, the code of ``SystemExit``, or 1 after another error, whose traceback
        is printed as Python does.
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

    ``__main__``, ``sys.argv`` and ``sys.path`` are not restored, for exit handlers.

    Args:
        path: The script.
        arguments: Its arguments, ``sys.argv[1:]``.

    Returns:
        The exit status; see `run_script`.
    """
    if os.path.isdir(path) or _is_archive(path):
        sys.argv = [path, *arguments]
        return _status_of(lambda: runpy.run_path(path, run_name="__main__"))
    _set_first_path(os.path.dirname(os.path.realpath(path)))
    return _status_of(lambda: _run_file(path, arguments))


def become_module(name: str, arguments: Sequence[str]) -> int:
    """Run a module like ``python -m``; see `become_script`.

    Raises:
        ArgumentError: There is no such module.
    """
    sys.argv = [name, *arguments]
    _set_first_path(os.getcwd())
    if not _may_exist(name):
        raise ArgumentError(f"run: expected a module that Python finds, got {name!r}")
    return _status_of(lambda: runpy.run_module(name, run_name="__main__", alter_sys=True))


def _may_exist(name: str) -> bool:
    """Whether a module may exist; True if the search fails, so that running it shows the error."""
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError as error:  # a parent package
        return error.name is None or not f"{name}.".startswith(f"{error.name}.")
    except BaseException:
        return True


def become_code(source: str, arguments: Sequence[str]) -> int:
    """Run a string of code like ``python -c``; see `become_script`."""
    sys.argv = ["-c", *arguments]
    _set_first_path("")
    return _status_of(lambda: _run_code(compile(source, "<string>", "exec", dont_inherit=True)))


def become_input(name: str, arguments: Sequence[str]) -> int:
    """Run the code on standard input like ``python -``; see `become_script`."""
    sys.argv = [name, *arguments]
    _set_first_path("")
    source = sys.stdin.buffer.read()
    return _status_of(lambda: _run_code(compile(source, "<stdin>", "exec", dont_inherit=True)))


def _set_first_path(folder: str) -> None:
    """Replace the command's folder in ``sys.path`` with the program's, unless in safe-path mode."""
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
        _print_error(error)
        return INTERRUPTED
    except BaseException as error:
        _print_error(error)
        return 1


def _status(code: object) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    sys.stderr.write(f"{code}\n")
    return 1


def _print_error(error: BaseException) -> None:
    """Print an error without the frames that started the program."""
    frames = error.__traceback__
    own_frames = (__file__, runpy.__file__, "<frozen runpy>")
    while frames is not None and frames.tb_frame.f_code.co_filename in own_frames:
        frames = frames.tb_next
    sys.stdout.flush()
    if sys.excepthook is sys.__excepthook__:
        traceback.print_exception(type(error), error, frames)
    else:
        sys.excepthook(type(error), error.with_traceback(frames), frames)
