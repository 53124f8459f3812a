"""How a command line ends: its exit status, and one line about what went wrong."""

import argparse
import os
import sys

from gluonish.core.errors import GluonishError


def exit_status(arguments: argparse.Namespace) -> int:
    """Run a parsed command, and return its exit status.

    Args:
        arguments: With a function ``run`` from themselves to an exit status.

    Returns:
        The status of the command; 1 after an error of gluonish or of the system, which is printed.
    """
    try:
        status: int = arguments.run(arguments)
        sys.stdout.flush()
    except GluonishError as error:
        sys.stderr.write(f"gluonish: {error}\n")
        return 1
    except BrokenPipeError:
        # Whoever reads the output has enough, as `head` has. Python would fail again at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:  # of our own: those of a program that a command runs are shown there
        sys.stderr.write(f"gluonish: expected files to read and write, got {error}\n")
        return 1
    return status
