"""The options of the profiler: reading the arguments of `set_config`."""

import logging
import math
from dataclasses import dataclass, fields
from typing import Any

from gluonish.core.errors import ArgumentError, nearest
from gluonish.core.files import path_text

_LOG = logging.getLogger("gluonish")
_logged: list[str] = []  # functions whose warning was logged
_BOOLEANS = {"true": True, "false": False, "1": True, "0": False}


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `set_config`.

    Attributes:
        profile_all: Whether to record all kinds of events.
        profile_symbolic: Whether to record graphs, operator by operator, and calls of hybridized
            Blocks.
        profile_imperative: Whether to record operators outside graphs, and calls of other Blocks.
        profile_memory: Whether to record how many bytes of arrays are allocated on each device.
        profile_api: Whether to record calls of public functions, and waits.
        filename: Path of the trace file.
        continuous_dump: Whether to rewrite the file regularly while the profiler runs.
        dump_period: Seconds between two such writes.
        aggregate_stats: Whether to collect statistics for `dumps`.
        profile_process: ``"worker"``, this process; or ``"server"``, for which nothing is set.
    """

    profile_all: bool = False
    profile_symbolic: bool = True
    profile_imperative: bool = True
    profile_memory: bool = True
    profile_api: bool = True
    filename: str = "profile.json"
    continuous_dump: bool = True
    dump_period: float = 1.0
    aggregate_stats: bool = False
    profile_process: str = "worker"


_NAMES = tuple(field.name for field in fields(Options))


def read_options(args: dict[str, Any]) -> Options:
    """Return the options, with defaults for missing ones.

    Args:
        args: Keyword arguments of `set_config`.

    Raises:
        ArgumentError: An argument is unknown or invalid.
    """
    read: dict[str, Any] = {}
    for name, value in args.items():
        if name not in _NAMES:
            raise ArgumentError(
                f"set_config: expected arguments among {', '.join(_NAMES)}, got "
                f"{name!r}{nearest(name, _NAMES)}"
            )
        read[name] = _value(name, value)
    return Options(**read)


def is_worker(function: str, profile_process: str) -> bool:
    """Whether a call applies to this process; for ``"server"``, log a warning once.

    Args:
        function: Name of the called function, for error messages.
        profile_process: ``"worker"`` or ``"server"``.

    Raises:
        ArgumentError: ``profile_process`` is neither of these.
    """
    if profile_process not in ("worker", "server"):
        raise ArgumentError(
            f"{function}: expected profile_process 'worker' or 'server', got {profile_process!r}"
        )
    if profile_process == "server" and not _logged:
        _logged.append(function)
        _LOG.warning(
            "%s: profile_process='server' has no effect; the servers of dist_async are threads of "
            "the workers, and their work is in the workers' traces, as 'kvstore server'",
            function,
        )
    return profile_process == "worker"


def _value(name: str, value: Any) -> Any:
    if name == "filename":
        path = path_text(value, "set_config: filename")
        if not path:
            raise ArgumentError(f"set_config: expected a path as filename, got {value!r}")
        return path
    if name == "dump_period":
        return _period(value)
    if name == "profile_process":
        return value
    text = str(value).lower()
    if text not in _BOOLEANS:
        raise ArgumentError(f"set_config: expected {name} True or False, got {value!r}")
    return _BOOLEANS[text]


def _period(value: Any) -> float:
    try:
        period_s = float(value)
    except (TypeError, ValueError):
        period_s = math.nan
    if not 0 < period_s < math.inf:
        raise ArgumentError(f"set_config: expected a positive dump_period in s, got {value!r}")
    return period_s
