"""The option ``--json``: one JSON value on standard output, and nothing else there."""

import argparse
import contextlib
import json
import math
import os
import sys
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

import numpy as np

_STDOUT, _STDERR = 1, 2  # descriptors, which other processes and libraries write to


def add_json_option(parser: "argparse.ArgumentParser | argparse._ArgumentGroup") -> None:
    """Add ``--json`` to a command that reports."""
    parser.add_argument(
        "--json", action="store_true", help="print the report as JSON, and nothing else"
    )


def write_json(value: Any) -> None:
    """Print a value as JSON: NaN and infinity as null, paths as text."""
    json.dump(plain(value), sys.stdout, indent=2, allow_nan=False)
    print(flush=True)


def plain(value: Any) -> Any:
    """Return a value of what JSON has: dictionaries, lists, text, numbers, booleans and null."""
    if isinstance(value, dict):
        return {str(key): plain(x) for key, x in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        named: Any = value
        return plain(named._asdict())
    if isinstance(value, list | tuple):
        return [plain(x) for x in value]
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


@contextlib.contextmanager
def stdout_to_stderr(active: bool = True) -> Iterator[None]:
    """Send what is printed, also by other processes and libraries, to standard error."""
    if not active:
        yield
        return
    sys.stdout.flush()
    try:
        kept = os.dup(_STDOUT)
    except OSError:  # it is closed
        with contextlib.redirect_stdout(sys.stderr):
            yield
        return
    try:
        with contextlib.redirect_stdout(sys.stderr):
            os.dup2(_STDERR, _STDOUT)
            yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, _STDOUT)
        os.close(kept)
