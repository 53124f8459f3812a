"""Link matrices: how well each two devices are connected, for the trees of a store.

An entry is the number of direct links (NVLinks) between two devices, 0 where there is none. CPU
devices share one memory: each two have one. For GPUs ``nvidia-smi topo -m`` tells; without it, two
that can read each other's memory count as linked once.
"""

import re
import subprocess
from collections.abc import Callable, Sequence
from typing import Any

from gluonish.core.context import Context
from gluonish.core.device import device_of
from gluonish.core.errors import ArgumentError

__all__ = ["Links", "links_between", "parse_topology", "uniform_links"]

Links = tuple[tuple[float, ...], ...]

_TIMEOUT_S = 20.0
_ESCAPES = re.compile("\x1b\\[[0-9;]*m")


def uniform_links(count: int) -> Links:
    """Return the link matrix of devices that have one link between each two.

    Args:
        count: Number of devices.
    """
    return tuple(tuple(float(i != j) for j in range(count)) for i in range(count))


def ask_nvidia_smi(*arguments: str) -> str:
    """Return the output of ``nvidia-smi``; empty if it is missing or fails.

    Args:
        *arguments: Command-line arguments.
    """
    try:
        answer = subprocess.run(
            ["nvidia-smi", *arguments],
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout


def links_between(contexts: Sequence[Context], ask: Callable[..., str] = ask_nvidia_smi) -> Links:
    """Return the link matrix of devices.

    Args:
        contexts: The devices, one for each row and column.
        ask: Function that runs ``nvidia-smi`` with arguments and returns its output.
    """
    if not all(context.is_gpu for context in contexts):
        return uniform_links(len(contexts))
    cupy = device_of(contexts[0]).xp
    found = _nvlinks(contexts, cupy, ask)
    if found is None or not any(any(row) for row in found):
        found = _peers(contexts, cupy)
    return found if any(any(row) for row in found) else uniform_links(len(contexts))


def _nvlinks(contexts: Sequence[Context], cupy: Any, ask: Callable[..., str]) -> Links | None:
    """Return the numbers of NVLinks; None where nobody tells."""
    listed = ask("--query-gpu=pci.bus_id", "--format=csv,noheader").split()
    topology = ask("topo", "-m")
    if not listed or not topology:
        return None
    # The tool numbers all GPUs of the machine, a process those that it may see.
    numbers = {_bus(name): i for i, name in enumerate(listed)}
    try:
        rows = parse_topology(topology)
        own = [numbers[_bus(cupy.cuda.Device(x.device_id).pci_bus_id)] for x in contexts]
        return tuple(tuple(rows[i][j] for j in own) for i in own)
    except (ArgumentError, KeyError, IndexError):
        return None


def _bus(name: str) -> str:
    """Return a PCI address in one spelling: the tool writes more digits than the library."""
    domain, _, rest = name.strip().lower().partition(":")
    return f"{int(domain, 16):x}:{rest}"


def _peers(contexts: Sequence[Context], cupy: Any) -> Links:
    can = cupy.cuda.runtime.deviceCanAccessPeer
    numbers = [context.device_id for context in contexts]
    return tuple(tuple(float(i != j and bool(can(i, j))) for j in numbers) for i in numbers)


def parse_topology(text: str) -> Links:
    """Return the link matrix from the output of ``nvidia-smi topo -m``.

    Args:
        text: The output, with a row and a column for each GPU; ``NV2`` means two NVLinks.

    Raises:
        ArgumentError: It does not contain such a table.
    """
    rows = [line.split() for line in _ESCAPES.sub("", text).splitlines()]
    gpus = [row for row in rows if row and re.fullmatch("GPU[0-9]+", row[0]) and "X" in row]
    if not gpus or any(len(row) <= len(gpus) for row in gpus):
        raise ArgumentError("parse_topology: expected the table of nvidia-smi topo -m, got none")
    return tuple(tuple(_count(word) for word in row[1 : len(gpus) + 1]) for row in gpus)


def _count(word: str) -> float:
    found = re.fullmatch("NV([0-9]+)", word)
    return float(found[1]) if found else 0.0
