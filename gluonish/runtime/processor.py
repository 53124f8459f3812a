"""The processor: its model, what it can do, and how much of it this process may use."""

import functools
import os
import platform
import re
from pathlib import Path
from typing import NamedTuple

from gluonish.core.control_groups import OWN, ROOT, control_groups

__all__ = ["Processor", "cpu_limit", "memory_limit", "processor", "usable_cores"]

_CPUINFO = Path("/proc/cpuinfo")
# Without a limit, the older control groups say the largest number of pages there is.
_NO_LIMIT = 1 << 60


class Processor(NamedTuple):
    """A processor.

    Attributes:
        model: Its name, as it gives it itself.
        flags: What it can do, by the names of Linux: ``avx2``, ``avx512f``; empty if unknown.
        cores: Logical cores of the machine.
    """

    model: str
    flags: frozenset[str]
    cores: int


@functools.cache
def processor() -> Processor:
    """Return this machine's processor."""
    return _parse(_read(_CPUINFO))  # which another system than Linux lacks


def _parse(cpuinfo: str) -> Processor:
    """Read what Linux says of its processors, all of which are taken to be like the first."""
    fields = dict(re.findall(r"^(model name|flags|Features)[ \t]*:[ \t]*(.*)$", cpuinfo, re.M))
    model = fields.get("model name") or platform.processor() or platform.machine()
    flags = fields.get("flags") or fields.get("Features") or ""
    return Processor(model, frozenset(flags.split()), os.cpu_count() or 1)


def usable_cores() -> int:
    """Return how many cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def cpu_limit(root: Path = ROOT, own: Path = OWN) -> float | None:
    """Return how many cores' time the control groups grant; None if they set no limit.

    Args:
        root: Where the control groups are mounted.
        own: Which groups this process is in, as Linux lists them.
    """
    limits = []
    for folder in control_groups(root, own, "cpu"):
        words = _read(folder / "cpu.max").split() or [
            *_read(folder / "cpu.cfs_quota_us").split(),
            *_read(folder / "cpu.cfs_period_us").split(),
        ]
        # Otherwise "max 100000" or "-1 100000", or nothing.
        if len(words) == 2 and all(word.isdecimal() for word in words) and int(words[1]):
            limits.append(int(words[0]) / int(words[1]))
    return min(limits, default=None)


def memory_limit(root: Path = ROOT, own: Path = OWN) -> int | None:
    """Return the control groups' limit of memory in bytes; None if they set none.

    Args:
        root: Where the control groups are mounted.
        own: Which groups this process is in, as Linux lists them.
    """
    limits = []
    for folder in control_groups(root, own, "memory"):
        text = _read(folder / "memory.max") or _read(folder / "memory.limit_in_bytes")
        if text.isdecimal() and int(text) < _NO_LIMIT:
            limits.append(int(text))
    return min(limits, default=None)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
