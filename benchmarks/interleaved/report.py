"""Tables, ratios, and what a machine is. Standard library only."""

import math
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any


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
    """What a benchmark prints, and the versions of the libraries that took part."""

    def __init__(self) -> None:
        self._versions: dict[str, str] = {}

    def say(self, text: str) -> None:
        """Print a text."""
        print(text, flush=True)

    def note(self, versions: Mapping[str, str]) -> None:
        """Remember versions for the last line."""
        self._versions |= versions

    def end(self) -> None:
        """Print the versions."""
        self.say("\n" + ", ".join(f"{name} {found}" for name, found in self._versions.items()))
