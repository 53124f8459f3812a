"""Exit status and error message of a command."""

import argparse
import os
import sys

from gluonish.core.errors import GluonishError

INTERRUPTED = 130  # what shells report of a command that Ctrl-C ended


def exit_status(arguments: argparse.Namespace) -> int:
    """Run ``arguments.run(arguments)``, and return its exit status.

    An error of gluonish or of the system is printed; the status is 1 then. After Ctrl-C it is
    `INTERRUPTED`.
    """
    try:
        status: int = arguments.run(arguments)
        sys.stdout.flush()
    except GluonishError as error:
        sys.stderr.write(f"gluonish: {error}\n")
        return 1
    except BrokenPipeError:
        # The reader closed the pipe, as `head` does. Python would fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:  # of the command itself: programs that it runs report their own
        sys.stderr.write(f"gluonish: expected files to read and write, got {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("gluonish: interrupted\n")
        return INTERRUPTED
    return status
