"""Tables, ratios, and the results file. Standard library only."""

import argparse
import datetime
import json
import math
import os
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["Report", "geometric_mean", "table"]


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Aligned columns: the first to the left, the others to the right."""
    lines = [list(header), *map(list, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    texts = [
        "  ".join(
            word.ljust(width) if column == 0 else word.rjust(width)
            for column, (word, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    return "\n".join(texts)


def geometric_mean(ratios: Sequence[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def machine() -> dict[str, Any]:
    """What the numbers were measured on."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    found = {key.strip(): value.strip() for key, value in fields.items()}
    flags = found.get("flags", "").split()
    interesting = [word for word in flags if word.startswith(("avx", "amx", "fma"))]
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "processor": found.get("model name", platform.processor()),
        "cpus": os.cpu_count(),
        "instructions": interesting,
        "memory_gb": round(pages / 1e9, 1),
        "system": platform.platform(),
        "python": platform.python_version(),
    }


class Report:
    """What a script prints and writes.

    Args:
        benchmark: The script's name.
        arguments: Its arguments, with those of `peers.add_arguments`.
    """

    def __init__(self, benchmark: str, arguments: argparse.Namespace) -> None:
        self._path = None if arguments.json is None else Path(arguments.json)
        self._text: list[str] = []
        self._found: dict[str, Any] = {
            "benchmark": benchmark,
            "command": " ".join(sys.argv),
            "date": arguments.date or datetime.date.today().isoformat(),
            "machine": machine(),
            "threads": arguments.threads,
            "versions": {},
            "cells": [],
        }
        found = self._found
        self.say(f"{benchmark}, {found['date']}: {found['machine']['processor']}")

    def say(self, text: str) -> None:
        """Print a text, which also belongs to the results."""
        print(text, flush=True)
        self._text.append(text)

    def add(self, cell: Mapping[str, Any], versions: Mapping[str, str]) -> None:
        """Add one measurement, and write the files so far: a long run may be interrupted."""
        self._found["cells"].append(dict(cell))
        self._found["versions"] |= versions
        self.write()

    def write(self) -> None:
        """Write the results file and the tables, where a file was asked for."""
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text(json.dumps(self._found, indent=1) + "\n", encoding="utf-8")
        text = "\n".join(self._text) + "\n"
        self._path.with_suffix(".txt").write_text(text, encoding="utf-8")
