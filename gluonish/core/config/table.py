"""all_flags: the flags of all groups, as the tables of README.md and ``gluonish env`` show them."""

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

__all__ = ["all_flags"]

_GROUPS = (threads, memory, graph, libraries, communication, profiler, files, without_effect)


def all_flags() -> tuple[Flag[object], ...]:
    """Every flag, in the order of declaration."""
    return tuple(
        item for group in _GROUPS for item in vars(group).values() if isinstance(item, Flag)
    )
