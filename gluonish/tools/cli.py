"""The ``gluonish`` command and its subcommands."""

import argparse
import platform
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from gluonish.core.command import exit_status
from gluonish.core.errors import nearest
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
    sweep,
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
    sweep,
    train,
    warm,
    where,
    zoo,
)


_CHOICE = re.compile(
    r"argument COMMAND: invalid choice: '(?P<name>[^']*)' \(choose from (?P<all>.*)\)"
)


class _Parser(argparse.ArgumentParser):
    """A parser whose errors name the nearest command or option; also of each subcommand."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and the message, and end with status 2."""
        found = _CHOICE.match(message)
        if found is not None:
            known = [name.strip("' ") for name in found["all"].split(",")]
            message = (
                f"expected a command, got {found['name']!r}{nearest(found['name'], known)}; "
                f"{self.prog} --help lists them"
            )
        super().error(message)

    def parse_args(  # pyright: ignore[reportIncompatibleMethodOverride]  # of two overloads
        self, args: Any = None, namespace: Any = None
    ) -> Any:
        """Parse arguments; unknown ones are refused by the subcommand that they were passed to."""
        parsed, unknown = self.parse_known_args(args, namespace)
        if unknown:
            parser = self._parser_of(sys.argv[1:] if args is None else args)
            options = [name for name in parser._option_string_actions if name.startswith("--")]
            hint = nearest(unknown[0], options) if unknown[0].startswith("-") else ""
            parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return parsed

    def _parser_of(self, args: Sequence[str]) -> argparse.ArgumentParser:
        """Return the parser of the subcommand in a command line."""
        parser: argparse.ArgumentParser = self
        for argument in args:
            for action in parser._actions:
                choices = action.choices if isinstance(action, argparse._SubParsersAction) else {}
                parser = choices.get(argument, parser)
        return parser


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = _Parser(
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
