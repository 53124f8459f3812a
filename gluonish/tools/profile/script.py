"""Running a script as Python itself would: as ``__main__``, with its own arguments and path."""

import builtins
import io
import os
import sys
import traceback
from collections.abc import Sequence
from types import ModuleType

import gluonish.ndarray as nd

__all__ = ["run_script"]

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
    module = ModuleType("__main__")
    module.__dict__.update(__file__=path, __builtins__=builtins, __cached__=None)
    before = (sys.argv, sys.path[:], sys.modules["__main__"])
    sys.argv = [path, *arguments]
    sys.path[:0] = [os.path.dirname(os.path.abspath(path))]
    sys.modules["__main__"] = module
    try:
        with io.open_code(os.path.abspath(path)) as file:
            code = compile(file.read(), path, "exec", dont_inherit=True)
        exec(code, module.__dict__)
        nd.waitall()
        return 0
    except SystemExit as end:
        return _status(end.code)
    except KeyboardInterrupt as error:
        _show(error)
        return _INTERRUPTED
    except BaseException as error:
        _show(error)
        return 1
    finally:
        sys.argv, sys.path[:], sys.modules["__main__"] = before


def _status(code: object) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    print(code, file=sys.stderr)
    return 1


def _show(error: BaseException) -> None:
    """Print an error without the calls of this module, as if the script ran by itself."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename == __file__:
        frames = frames.tb_next
    sys.stdout.flush()
    traceback.print_exception(type(error), error, frames)
