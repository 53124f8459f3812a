"""Deprecated names of the profiler's functions; each warns and calls the new one."""

import warnings

from gluonish.core.errors import ArgumentError
from gluonish.profiler.state import dump, set_config, set_state

_MODES = ("symbolic", "imperative", "api", "memory", "all")


def profiler_set_config(mode: str = "symbolic", filename: str = "profile.json") -> None:
    """Set what to record and the trace file; deprecated, use `set_config`.

    Args:
        mode: ``"symbolic"``, ``"imperative"``, ``"api"``, ``"memory"`` or ``"all"``.
        filename: Path of the trace file.

    Raises:
        ArgumentError: ``mode`` is not one of those.
    """
    _deprecated("profiler_set_config", "set_config")
    if mode not in _MODES:
        raise ArgumentError(f"profiler_set_config: expected a mode among {_MODES}, got {mode!r}")
    set_config(**{f"profile_{mode}": True}, filename=filename)


def profiler_set_state(state: str = "stop") -> None:
    """Start or stop the profiler; deprecated, use `set_state`.

    Args:
        state: ``"run"`` or ``"stop"``.
    """
    _deprecated("profiler_set_state", "set_state")
    set_state(state)


def dump_profile() -> None:
    """Write the trace file; deprecated, use `dump`."""
    _deprecated("dump_profile", "dump")
    dump(True)


def _deprecated(old: str, new: str) -> None:
    warnings.warn(f"profiler.{old} is deprecated; use profiler.{new}", UserWarning, stacklevel=3)
