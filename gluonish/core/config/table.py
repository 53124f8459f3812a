"""all_flags and flag_groups: every flag, in the order of docs/options.md and ``gluonish env``."""

from gluonish.core.config import (
    communication,
    files,
    graph,
    libraries,
    memory,
    profiler,
    threads,
    without_effect,
)
from gluonish.core.config.flag import Flag

_GROUPS = {
    "Engine and threads": threads,
    "Memory": memory,
    "Graphs": graph,
    "Kernels and libraries": libraries,
    "Optimizer, kvstore and processes": communication,
    "Profiler": profiler,
    "Files": files,
    "Accepted without effect": without_effect,
}


def flag_groups() -> dict[str, tuple[Flag[object], ...]]:
    """The flags of each group, in the order of declaration, under the group's title."""
    return {
        title: tuple(item for item in vars(group).values() if isinstance(item, Flag))
        for title, group in _GROUPS.items()
    }


def all_flags() -> tuple[Flag[object], ...]:
    """Every flag, in the order of declaration."""
    return tuple(flag for flags in flag_groups().values() for flag in flags)
