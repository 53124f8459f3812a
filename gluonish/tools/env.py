"""``gluonish env``: the table of environment variables with their values here and now."""

import argparse
import sys
from collections.abc import Sequence

from gluonish.core.config import Flag, all_flags
from gluonish.core.errors import ConfigError

__all__ = ["add_parser", "flag_table", "run"]

_HEADER = ("Variable", "Value", "Source", "Default", "Allowed", "Effect")


def flag_table(flags: Sequence[Flag[object]]) -> str:
    """The flags as aligned text, a line each, under a heading.

    A variable with a text that its flag does not allow has ``invalid`` as its source and that text
    as its value, so that one mistake does not hide the rest of the table.
    """
    rows = [_HEADER, *(_row(flag) for flag in flags)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADER))]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join(lines) + "\n"


def add_parser(parsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``env`` to the subcommands of ``gluonish``."""
    parser = parsers.add_parser(
        "env",
        help="print every environment variable that gluonish acts on, with its value",
        description="Print every environment variable that gluonish acts on: its value now, where "
        "that comes from, the default, what is allowed, and the effect. Exits with 1 if one holds "
        "a value that is not allowed.",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the table; 0 if every variable is valid, else 1 with the errors on standard error."""
    flags = all_flags()
    sys.stdout.write(flag_table(flags))
    # A flag that follows an invalid one fails with the same message.
    errors = dict.fromkeys(str(error) for flag in flags if (error := _error(flag)) is not None)
    for message in errors:
        print(message, file=sys.stderr)
    return 1 if errors else 0


def _error(flag: Flag[object]) -> ConfigError | None:
    try:
        _ = flag.value
    except ConfigError as error:
        return error
    return None


def _row(flag: Flag[object]) -> tuple[str, ...]:
    invalid = _error(flag) is not None
    value = flag.text if invalid else flag.value_as_text
    source = "invalid" if invalid else flag.source
    return flag.name, value, source, flag.default_as_text, flag.expected, flag.doc
