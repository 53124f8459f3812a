"""All flags in the order of docs/options.md and ``gluonish env``, and snapshots of their values."""

from collections.abc import Mapping
from typing import Any

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
from gluonish.core.config.flag import Flag, changes, encoded, environment
from gluonish.core.config.graph import MXNET_USE_FUSION
from gluonish.core.config.libraries import (
    MXNET_MKLDNN_ENABLED,
    MXNET_SAFE_ACCUMULATION,
    MXNET_USE_MKLDNN_RNN,
    MXNET_WINOGRAD_CONVOLUTION,
)

_GROUPS = {
    "Engine and threads": threads,
    "Memory": memory,
    "Graphs": graph,
    "Kernels and libraries": libraries,
    "Optimizer, kvstore and processes": communication,
    "Profiler and messages": profiler,
    "Files": files,
    "Accepted without effect": without_effect,
}


def flag_groups() -> dict[str, tuple[Flag[object], ...]]:
    """Return the flags of each group in the order of declaration, by the title of the group."""
    return {
        title: tuple(item for item in vars(group).values() if isinstance(item, Flag))
        for title, group in _GROUPS.items()
    }


def all_flags() -> tuple[Flag[object], ...]:
    """Return all flags in the order of declaration."""
    return tuple(flag for flags in flag_groups().values() for flag in flags)


_SWITCHES = (
    MXNET_MKLDNN_ENABLED,
    MXNET_USE_FUSION,
    MXNET_WINOGRAD_CONVOLUTION,
    MXNET_SAFE_ACCUMULATION,
    MXNET_USE_MKLDNN_RNN,
)
_SWITCH_KEYS = tuple(encoded(flag.name) for flag in _SWITCHES)


def kernel_switches() -> tuple[object, ...]:
    """Return a snapshot of the flags that select kernels; cheaper than reading the flags."""
    get = environment.get
    first, second, third, fourth, fifth = _SWITCH_KEYS
    return (get(first), get(second), get(third), get(fourth), get(fifth), changes[0])


def current_settings() -> tuple[Mapping[Any, object], int]:
    """Return a snapshot of all settings; equal as long as no flag has changed."""
    return dict(environment), changes[0]
