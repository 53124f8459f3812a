"""``gluonish env``: the table of environment variables with their values here and now."""

import argparse
import contextlib
import json
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from gluonish.core.config import Flag, all_flags, report_without_effect
from gluonish.core.errors import ArgumentError, ConfigError, nearest
from gluonish.core.loading import load

__all__ = ["Verdict", "add_parser", "flag_table", "run", "verdict_of"]

_HEADER = ("Variable", "Type", "Value", "Source", "Default", "Allowed", "Effect")
# What `--check` finds, and the exit status of the command that finds it.
_RESULTS = {"acts": 0, "no effect": 0, "not here": 0, "failed": 1}


class Verdict(NamedTuple):
    """What the check of one variable found.

    Attributes:
        variable: The variable's name.
        result: ``acts``, ``no effect`` (as its line in the table says), ``not here`` or ``failed``.
        seen: What was seen, or what is missing, or what went wrong.
    """

    variable: str
    result: str
    seen: str


def flag_table(flags: Sequence[Flag[object]]) -> str:
    """The flags as aligned text, a line each, under a heading.

    A variable with a text that its flag does not allow has ``invalid`` as its source and that text
    as its value, so that one mistake does not hide the rest of the table.
    """
    rows = [_HEADER, *(_row(flag) for flag in flags)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADER))]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join(lines) + "\n"


def verdict_of(flag: Flag[object]) -> Verdict:
    """Have a variable's effect come and go, and say whether it did."""
    checks = _checks()
    check = checks.CHECKS.get(flag.name)
    if check is None:
        return Verdict(flag.name, "failed", "no check observes it")
    try:
        # What a check's programs print is not part of the table.
        with contextlib.redirect_stdout(sys.stderr):
            seen = check()
    except checks.NotHereError as error:
        return Verdict(flag.name, "not here", str(error))
    except Exception as error:
        kind = "" if isinstance(error, checks.CheckFailedError) else f"{type(error).__name__}: "
        return Verdict(flag.name, "failed", f"{kind}{error}")
    return Verdict(flag.name, "acts" if flag.acts else "no effect", seen)


def add_parser(parsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``env`` to the subcommands of ``gluonish``."""
    parser = parsers.add_parser(
        "env",
        help="print every environment variable that gluonish acts on, with its value",
        description="Print every environment variable that gluonish accepts: its type, its value "
        "now, where that comes from, the default, what is allowed, and the effect. Exits with 1 if "
        "one holds a value that is not allowed. With --check, have the effect of each come and go, "
        "and print what was seen; exits with 1 if one does not act.",
    )
    parser.add_argument("variables", nargs="*", metavar="VARIABLE", help="only these variables")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument(
        "--check", action="store_true", help="try each variable: does it do what its line says?"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the table, or what the checks found; 0 if all is well, else 1.

    Raises:
        ArgumentError: There is no variable of a given name.
    """
    flags = _chosen(arguments.variables)
    report_without_effect()
    if arguments.check:
        return _run_checks(flags, as_json=arguments.json)
    if arguments.json:
        _print_json([_entry(flag) for flag in flags])
    else:
        sys.stdout.write(flag_table(flags))
    # A flag that follows an invalid one fails with the same message.
    errors = dict.fromkeys(str(error) for flag in flags if (error := _error(flag)) is not None)
    for message in errors:
        print(message, file=sys.stderr)
    return 1 if errors else 0


def _chosen(names: Sequence[str]) -> tuple[Flag[object], ...]:
    flags = all_flags()
    known = [flag.name for flag in flags]
    for name in names:
        if name not in known:
            raise ArgumentError(
                f"env: expected a variable of its table, got {name!r}{nearest(name, known)}"
            )
    return tuple(flag for flag in flags if not names or flag.name in names)


def _run_checks(flags: Sequence[Flag[object]], *, as_json: bool) -> int:
    verdicts = []
    width = max(len(flag.name) for flag in flags)
    for flag in flags:
        verdict = verdict_of(flag)
        verdicts.append(verdict)
        if not as_json:
            print(f"{verdict.variable:<{width}}  {verdict.result:<9}  {verdict.seen}", flush=True)
    if as_json:
        _print_json([verdict._asdict() for verdict in verdicts])
    else:
        print(_summary([verdict.result for verdict in verdicts]))
    return max(_RESULTS[verdict.result] for verdict in verdicts)


def _summary(results: Sequence[str]) -> str:
    counts = [f"{results.count(result)} {result}" for result in _RESULTS if result in results]
    return f"{len(results)} variables: {', '.join(counts)}"


def _checks() -> Any:
    """The checks, which import most of the package: only who runs them pays for that."""
    return load("gluonish.tools.env_checks")


def _print_json(rows: Sequence[dict[str, Any]]) -> None:
    json.dump(rows, sys.stdout, indent=2)
    print()


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
    return flag.name, flag.kind, value, source, flag.default_as_text, flag.expected, flag.doc


def _entry(flag: Flag[object]) -> dict[str, Any]:
    invalid = _error(flag) is not None
    return {
        "name": flag.name,
        "type": flag.kind,
        "value": flag.text if invalid else flag.value,
        "source": "invalid" if invalid else flag.source,
        "default": flag.default_as_text,
        "allowed": flag.expected,
        "effect": flag.doc,
        "acts": flag.acts,
    }
