"""``gluonish run``: run an unmodified program for MXNet."""

import argparse
from collections.abc import Callable, Sequence

from gluonish.core.command import exit_status
from gluonish.core.errors import ArgumentError
from gluonish.core.loading import load
from gluonish.core.mxnet_rules import Rules, follow_mxnet
from gluonish.mxnet_names.script import (
    become_code,
    become_input,
    become_module,
    become_script,
    check_script,
)

__all__ = ["add_parser", "main", "run"]

_Start = Callable[[str, Sequence[str]], int]


def add_parser(parsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``run`` to the subcommands of ``gluonish``."""
    parser = parsers.add_parser(
        "run",
        help="run an unmodified program for MXNet: `import mxnet` is gluonish",
        description="Run a Python program in which, and in the processes it starts, `import mxnet` "
        "gives gluonish's modules with the rules of MXNet 1.9.1. The rest is as Python does it: "
        "arguments, __main__, module path, exit status. `python -m gluonish.as_mxnet` is the same.",
        usage="gluonish run [--mxnet2] [--numpy1] (SCRIPT | - | -m MODULE | -c CODE) "
        "[ARGUMENT ...]",
    )
    parser.add_argument(
        "--numpy1",
        action="store_true",
        help="restore names that NumPy 2 removed, such as np.bool and np.float_",
    )
    parser.add_argument(
        "--mxnet2",
        action="store_true",
        help="follow the rules of MXNet 2.0; `python -m gluonish.as_mxnet2` is the same",
    )
    remaining = argparse.REMAINDER
    parser.add_argument("-m", nargs=remaining, metavar="MODULE", dest="module", help="run a module")
    parser.add_argument(
        "-c", nargs=remaining, metavar="CODE", dest="code", help="run a string of code"
    )
    parser.add_argument(
        "script", nargs="?", metavar="SCRIPT", help="the program; - reads it from standard input"
    )
    parser.add_argument("arguments", nargs=remaining, metavar="ARGUMENT", help="its own arguments")
    parser.set_defaults(run=run)


def main(argv: Sequence[str]) -> int:
    """Run the program of a command line; return its exit status, or 1 after an error message."""
    parser = argparse.ArgumentParser(prog="python")
    add_parser(parser.add_subparsers())
    return exit_status(parser.parse_args(["run", *argv]))


def run(arguments: argparse.Namespace) -> int:
    """Run the program; return its exit status.

    Raises:
        ArgumentError: There is no program, or no module of that name.
        MissingFileError: There is no such script.
        FolderPathError: The folder has no ``__main__.py``.
        NameTakenError: Another package named mxnet is installed.
    """
    start, command = _select(arguments)
    if not command:
        raise ArgumentError("run: expected a script, -m and a module, or -c and code, got none")
    if start is become_script:
        check_script("run", command[0])
    # This affects the whole process.
    if arguments.mxnet2:
        follow_mxnet(Rules.MXNET2)
    name = "as_mxnet2" if arguments.mxnet2 else "as_mxnet"
    load(f"gluonish.mxnet_names.{'as_mxnet_numpy1' if arguments.numpy1 else name}")
    return start(command[0], command[1:])


def _select(arguments: argparse.Namespace) -> tuple[_Start, list[str]]:
    """Return the function that runs the program, and the program's name and arguments."""
    if arguments.module is not None:
        return become_module, arguments.module
    if arguments.code is not None:
        return become_code, arguments.code
    start = become_input if arguments.script == "-" else become_script
    return start, [arguments.script, *arguments.arguments] if arguments.script else []
