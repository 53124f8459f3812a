"""The subcommand ``check``: reads sources and prints a line for each finding."""

import argparse
import ast
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from gluonish.core.errors import MissingFileError
from gluonish.tools.check.advice import advice_on
from gluonish.tools.check.uses import uses_of

_PACKAGES = ("mxnet", "numpy")
_advice = cache(advice_on)


def add_parser(parsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``check`` to the subcommands of ``gluonish``."""
    parser = parsers.add_parser(
        "check",
        help="list MXNet names in a program that are missing here or behave differently",
        description="Read Python sources, without running them, and list by file and line the "
        "names of MXNet that are missing here or behave differently, with advice, and names that "
        "NumPy 2 removed. Exits with 1 if something is missing or cannot be read.",
    )
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a source, or a folder of them")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the findings and their number; 1 if something is missing or unreadable, else 0.

    Raises:
        MissingFileError: There is no such file or folder.
    """
    files = list(_sources(arguments.paths))
    counts = {"missing": 0, "differs": 0, "unreadable": 0}
    for file in files:
        for line, kind, text in _findings(file):
            counts[kind] += 1
            print(f"{file}:{line}: {text}")
    summary = ", ".join(f"{number} {kind}" for kind, number in counts.items() if number)
    print(f"{len(files)} {'file' if len(files) == 1 else 'files'}: {summary or 'nothing found'}")
    return 1 if counts["missing"] or counts["unreadable"] else 0


def _sources(paths: Sequence[str]) -> Iterator[Path]:
    for path in map(Path, paths):
        if path.is_dir():
            inside = sorted(path.rglob("*.py"))
            hidden = (
                any(part.startswith(".") for part in p.relative_to(path).parts) for p in inside
            )
            yield from (p for p, is_hidden in zip(inside, hidden, strict=True) if not is_hidden)
        elif path.is_file():
            yield path
        else:
            raise MissingFileError(f"check: expected a file or a folder, got {str(path)!r}")


def _findings(file: Path) -> Iterator[tuple[int, str, str]]:
    """Yield line, kind and text of each finding in a source."""
    try:
        with tokenize.open(file) as opened, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the program's own literals
            tree = ast.parse(opened.read(), str(file))
    except (SyntaxError, UnicodeDecodeError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        yield line, "unreadable", f"not valid for this Python: {getattr(error, 'msg', error)}"
        return
    for use in uses_of(tree, _PACKAGES):
        advice = _advice(use.name)
        if advice is not None:
            kind, text = advice
            word = "is missing" if kind == "missing" else "differs"
            yield use.line, kind, f"{use.name} {word}: {text}"
