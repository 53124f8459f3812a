"""Checks that every environment variable has an effect, by groups as in `gluonish.core.config`."""

from gluonish.tools.env_checks import (  # noqa: F401  # they register their checks
    communication,
    files,
    graph,
    libraries,
    memory,
    profiler,
    threads,
    without_effect,
)
from gluonish.tools.env_checks.process import CHECKS, CheckFailedError, NotHereError

__all__ = ["CHECKS", "CheckFailedError", "NotHereError"]
