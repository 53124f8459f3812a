"""The ``gluonish`` command and its subcommands."""

import argparse
import os
import sys
from collections.abc import Sequence

from gluonish.core.errors import GluonishError
from gluonish.tools import (
    bandwidth,
    check,
    convert,
    demo,
    doctor,
    env,
    im2rec,
    launch,
    onnx,
    profile,
    quantize,
    rec,
    run,
    score,
    train,
    where,
    zoo,
)

__all__ = ["main", "make_parser"]

# A subcommand is a module here with add_parser(parsers), which sets `run` to a function from the
# parsed arguments to the exit status. Such a module imports what is heavy only when it runs.
_COMMANDS = (
    bandwidth,
    check,
    convert,
    demo,
    doctor,
    env,
    im2rec,
    launch,
    onnx,
    profile,
    quantize,
    rec,
    run,
    score,
    train,
    where,
    zoo,
)


def make_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="gluonish", description="Gluon in pure Python: demonstrations and tools."
    )
    parsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in _COMMANDS:
        command.add_parser(parsers)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand.

    Args:
        argv: The arguments after the program's name; those of the process where None.

    Returns:
        The exit status: that of the subcommand, 1 after an error of gluonish (which is printed),
        2 (by SystemExit) for a command line that cannot be read.
    """
    arguments = make_parser().parse_args(argv)
    try:
        status: int = arguments.run(arguments)
        sys.stdout.flush()
    except GluonishError as error:
        print(f"gluonish: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # Whoever reads the output has enough, as `head` has. Python would fail again at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:  # of our own: those of a program that a command runs are shown there
        print(f"gluonish: expected files to read and write, got {error}", file=sys.stderr)
        return 1
    return status
