"""Running a program as Python itself would: as ``__main__``, with its own arguments and path."""

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
from gluonish.core.errors import ArgumentError, FileFormatError, FolderPathError, MissingFileError

__all__ = [
    "become_code",
    "become_input",
    "become_module",
    "become_script",
    "check_script",
    "run_script",
]

_LOOK_NBYTES = 1 << 16
_INTERRUPTED = 130  # as shells say of a program that Ctrl-C ended


def check_script(command: str, path: str, *, folders: bool = True) -> None:
    """Refuse what cannot be run, before anything is.

    Args:
        command: The command that runs it, for messages.
        path: The script, folder or archive.
        folders: Whether folders, archives and compiled modules can be run, too.

    Raises:
        MissingFileError: It is not there.
        FolderPathError: It is a folder without a ``__main__.py``.
        FileFormatError: It may not be read, or is no Python program.
    """
    if not os.path.exists(path):
        raise MissingFileError(f"{command}: expected a script, got {path!r}, which is not there")
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
        raise FileFormatError(f"{command}: expected a script, got {path!r}, which may not be read")
    if os.path.isfile(path) and not (folders and _is_archive(path)):
        with io.open_code(os.path.abspath(path)) as file:
            start = file.read(_LOOK_NBYTES)
        if b"\0" in start:
            raise FileFormatError(
                f"{command}: expected a Python program, got {path!r}, which contains null bytes"
            )


def _is_archive(path: str) -> bool:
    """Whether Python runs a file as it is, without a source: archives, compiled modules."""
    return path.endswith(".pyc") or zipfile.is_zipfile(path)


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
    if os.path.isdir(path) or _is_archive(path):
        sys.argv = [path, *arguments]
        return _status_of(lambda: runpy.run_path(path, run_name="__main__"))
    _lead_path(os.path.dirname(os.path.realpath(path)))
    return _status_of(lambda: _run_file(path, arguments))


def become_module(name: str, arguments: Sequence[str]) -> int:
    """Run a module as ``python -m`` does; see `become_script`.

    Raises:
        ArgumentError: There is no such module.
    """
    sys.argv = [name, *arguments]
    _lead_path(os.getcwd())
    if not _may_exist(name):
        raise ArgumentError(f"run: expected a module that Python finds, got {name!r}")
    return _status_of(lambda: runpy.run_module(name, run_name="__main__", alter_sys=True))


def _may_exist(name: str) -> bool:
    """Whether there is a module; also where looking for it fails, which running it then shows."""
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError as error:  # a package that it is said to be in
        return error.name is None or not f"{name}.".startswith(f"{error.name}.")
    except BaseException:
        return True


def become_code(source: str, arguments: Sequence[str]) -> int:
    """Run a text as ``python -c`` does; see `become_script`."""
    sys.argv = ["-c", *arguments]
    _lead_path("")
    return _status_of(lambda: _run_code(compile(source, "<string>", "exec", dont_inherit=True)))


def become_input(name: str, arguments: Sequence[str]) -> int:
    """Run the text of standard input as ``python -`` does; see `become_script`."""
    sys.argv = [name, *arguments]
    _lead_path("")
    source = sys.stdin.buffer.read()
    return _status_of(lambda: _run_code(compile(source, "<stdin>", "exec", dont_inherit=True)))


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
    sys.stderr.write(f"{code}\n")
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
