"""The ``gluonish`` command and its subcommands."""

import argparse
import platform
from collections.abc import Sequence

import numpy as np

from gluonish.core.command import exit_status
from gluonish.core.loading import load
from gluonish.mxnet_names import program as run
from gluonish.tools import (
    bandwidth,
    chat,
    check,
    completion,
    convert,
    demo,
    docs,
    doctor,
    embed,
    env,
    generate,
    im2rec,
    launch,
    onnx,
    profile,
    quantize,
    rec,
    score,
    train,
    warm,
    where,
    zoo,
)

# Each subcommand is a module with add_parser(parsers), which sets `run` to a function that returns
# the exit status for parsed arguments. The modules import heavy packages only when they run.
_COMMANDS = (
    bandwidth,
    chat,
    check,
    completion,
    convert,
    demo,
    docs,
    doctor,
    embed,
    env,
    generate,
    im2rec,
    launch,
    onnx,
    profile,
    quantize,
    rec,
    run,
    score,
    train,
    warm,
    where,
    zoo,
)


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="gluonish",
        description="Tools of gluonish, which runs MXNet Gluon programs on current Python and "
        "NumPy.",
        epilog="Begin with `gluonish demo` and `gluonish doctor`. `gluonish COMMAND --help` "
        "explains a command. Exit statuses: 0 success, 1 an error or a negative result, 2 an "
        "invalid command line, 130 interrupted by Ctrl-C.",
    )
    parser.add_argument(
        *("-V", "--version"),
        action="version",
        version=_version(),
        help="print the versions of gluonish, Python and NumPy",
    )
    parsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in _COMMANDS:
        command.add_parser(parsers)
    parsers.choices["completion"].set_defaults(all_commands=parser)  # which it describes
    return parser


def _version() -> str:
    version = load("gluonish").__version__
    return f"gluonish {version}, Python {platform.python_version()}, NumPy {np.__version__}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand.

    Args:
        argv: The arguments after the program's name; by default those of the process.

    Returns:
        The exit status: that of the subcommand, 1 after an error of gluonish (which is printed),
        2 (by SystemExit) for an invalid command line, 130 after Ctrl-C.
    """
    return exit_status(make_parser().parse_args(argv))
