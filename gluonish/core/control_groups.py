"""Control groups: what Linux lets this process use of the machine, as containers are bounded."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["MemoryBound", "control_groups", "memory_bounds"]

ROOT = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")
# Without a limit, the older control groups say the largest number of pages there is.
_NO_LIMIT = 1 << 60


class MemoryBound(NamedTuple):
    """What a group bounds memory to, in bytes.

    Attributes:
        folder: Where the group is described.
        limit: What all its processes may have together.
        free: How much of that they could still get.
    """

    folder: Path
    limit: int
    free: int


def control_groups(root: Path, own: Path, controller: str) -> Iterator[Path]:
    """Yield the folders of the groups around this process, whose limits all hold, innermost first.

    Version 2 has one tree for everything, version 1 one for each controller; both may be mounted. A
    container may see its own group as the root, under a path that leads nowhere.

    Args:
        root: Where the control groups are mounted.
        own: Which groups this process is in, as Linux lists them.
        controller: ``"cpu"`` or ``"memory"``.
    """
    for line in _text(own).splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        trees = [root / controllers, root / controller] if controllers else [root, root / "unified"]
        for tree in dict.fromkeys(trees):
            group = tree / path.lstrip("/")
            yield from (one for one in (group, *group.parents) if one.is_relative_to(tree))


def memory_bounds() -> list[MemoryBound]:
    """Return what bounds this process's memory; nothing where no group sets a limit."""
    found = []
    for folder in control_groups(ROOT, OWN, "memory"):
        limit = _number(folder / "memory.max", folder / "memory.limit_in_bytes")
        used = _number(folder / "memory.current", folder / "memory.usage_in_bytes")
        if limit is not None and used is not None and limit < _NO_LIMIT:
            # Pages of files on disk are given up before anybody is killed.
            rows = (line.split() for line in _text(folder / "memory.stat").splitlines())
            pages = {"active_file", "inactive_file"}
            cached = sum(int(row[1]) for row in rows if len(row) == 2 and row[0] in pages)
            found.append(MemoryBound(folder, limit, max(0, limit - used + cached)))
    return found


def _number(*paths: Path) -> int | None:
    """Return the number in the first of some files that holds one."""
    texts = (_text(path).strip() for path in paths)
    return next((int(text) for text in texts if text.isdecimal()), None)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
