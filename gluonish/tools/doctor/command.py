"""The subcommand ``doctor``: prints the findings of all checks."""

import argparse
import sys
from collections.abc import Iterator, Sequence

from gluonish.tools.doctor.libraries import library_findings
from gluonish.tools.doctor.machine import (
    BROKEN,
    FOUND,
    MISSING,
    Finding,
    file_findings,
    machine_findings,
    variable_findings,
)
from gluonish.tools.doctor.nvidia import gpu_findings
from gluonish.tools.json_output import add_json_option, write_json
from gluonish.tools.table import terminal_width, wrapped

_MARKS = {FOUND: "+", MISSING: "-", BROKEN: "!"}


def add_parser(parsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``doctor`` to the subcommands of ``gluonish``."""
    parser = parsers.add_parser(
        "doctor",
        help="print what gluonish finds on this machine, what is missing, and how to get it",
        description="Print the machine, libraries, GPUs, cached files and environment variables "
        "as gluonish finds them: + found, - missing or slow but optional, ! broken. "
        "Exits with 1 if a requirement is broken.",
    )
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the findings; return 1 if a requirement is broken, else 0."""
    findings = list(all_findings())
    if arguments.json:
        write_json(findings)
    else:
        sys.stdout.write(report(findings, terminal_width()))
    return 1 if any(finding.state == BROKEN for finding in findings) else 0


def all_findings() -> Iterator[Finding]:
    """Yield the findings of all checks."""
    yield from machine_findings()
    yield from library_findings()
    yield from gpu_findings()
    yield from file_findings()
    yield from variable_findings()


def report(findings: Sequence[Finding], columns: int | None = None) -> str:
    """Return the findings as lines below their topics, with advice below each.

    Args:
        findings: The findings.
        columns: Of the terminal; None for lines of any length.
    """
    width = max(len(finding.name) for finding in findings)
    indent = " " * (width + 6)
    lines: list[str] = []
    topic = ""
    for finding in findings:
        if finding.topic != topic:
            topic = finding.topic
            lines += ["", topic] if lines else [topic]
        line = f"  {_MARKS[finding.state]} {finding.name:<{width}}  {finding.text}".rstrip()
        lines.append(wrapped(line, columns, indent))
        if finding.advice:
            lines.append(wrapped(f"{indent}> {finding.advice}", columns, f"{indent}  "))
    broken = [finding.name for finding in findings if finding.state == BROKEN]
    lines += [
        "",
        f"broken: {', '.join(broken)}" if broken else "all requirements work",
    ]
    return "\n".join(lines) + "\n"
