"""The CPU time that control groups, such as those of a container, leave to this process."""

from pathlib import Path

from gluonish.core.cpu_memory import OWN, ROOT, control_groups


def cpu_limit(root: Path = ROOT, own: Path = OWN) -> float | None:
    """Return the CPU limit of this process's control groups, in cores; None without a limit.

    Args:
        root: Mount point of the control groups.
        own: The file that lists the groups of this process.
    """
    limits = []
    for folder in control_groups(root, own, "cpu"):
        values = _text(folder / "cpu.max").split() or [
            *_text(folder / "cpu.cfs_quota_us").split(),
            *_text(folder / "cpu.cfs_period_us").split(),
        ]
        # Without a limit, the text is "max 100000", "-1 100000" or empty.
        if len(values) == 2 and all(value.isdecimal() for value in values) and int(values[1]):
            limits.append(int(values[0]) / int(values[1]))
    return min(limits, default=None)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
