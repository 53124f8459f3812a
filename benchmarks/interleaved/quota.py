"""A control group that leaves little CPU time to processes, as a container's quota does."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.interleaved.driver import PeerError
from gluonish.core.cpu_memory import OWN, ROOT, control_groups

_PERIOD_US = 100_000


@contextmanager
def cpu_quota(cores: float | None, processes: Iterable[int]) -> Iterator[None]:
    """Leave the time of so many cores to processes, all together; None for no limit.

    Args:
        cores: The limit, such as 1.5; Linux enforces it in periods of 0.1 s.
        processes: Their numbers. They go back to the group of this process at the end.

    Raises:
        PeerError: This process may not make control groups.
    """
    if cores is None:
        yield
        return
    own = next((folder for folder in control_groups(ROOT, OWN, "cpu") if folder.is_dir()), ROOT)
    group = own / f"gluonish-benchmark-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        raise PeerError(f"--quota: expected control groups that can be made, got {error}") from None
    try:
        try:
            _limit(group, round(cores * _PERIOD_US))
            _move(processes, group)
        except OSError as error:
            raise PeerError(f"--quota: expected a CPU controller, got {error}") from None
        yield
    finally:
        _move(processes, own)
        group.rmdir()


def _limit(group: Path, quota_us: int) -> None:
    if (group / "cpu.max").exists():  # version 2
        (group / "cpu.max").write_text(f"{quota_us} {_PERIOD_US}", encoding="ascii")
    else:
        (group / "cpu.cfs_period_us").write_text(str(_PERIOD_US), encoding="ascii")
        (group / "cpu.cfs_quota_us").write_text(str(quota_us), encoding="ascii")


def _move(processes: Iterable[int], group: Path) -> None:
    for process in processes:
        try:
            (group / "cgroup.procs").write_text(str(process), encoding="ascii")
        except ProcessLookupError:
            continue  # it has ended
