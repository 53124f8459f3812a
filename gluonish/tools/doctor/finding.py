"""Finding: one line of what the doctor says; and asking a package whether it is there."""

from types import ModuleType
from typing import NamedTuple

from gluonish.core.loading import load

__all__ = ["BROKEN", "FOUND", "MISSING", "Finding", "imported", "version_of"]

FOUND, MISSING, BROKEN = "found", "missing", "broken"


class Finding(NamedTuple):
    """What was found in one place.

    Attributes:
        topic: The part of the report that it belongs to.
        name: What was looked for.
        state: `FOUND`; `MISSING`, which gluonish does without; or `BROKEN`, which it does not.
        text: What was found, or why nothing was.
        advice: What that costs, and what to do about it; empty where there is nothing to do.
    """

    topic: str
    name: str
    state: str
    text: str
    advice: str = ""


def imported(name: str) -> ModuleType | str:
    """Return a package, or why it cannot be imported."""
    try:
        return load(name)
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name == name.partition(".")[0]
        return "not installed" if missing else f"cannot be imported: {error}"
    except (Exception, SystemExit) as error:  # a broken installation's is anybody's guess
        return f"cannot be imported: {type(error).__name__}: {error}"


def version_of(distribution: str) -> str:
    """Return the version of an installed distribution, ``unknown`` where there is none."""
    metadata = load("importlib.metadata")  # 15 ms that only the doctor pays
    try:
        return str(metadata.version(distribution))
    except metadata.PackageNotFoundError:
        return "unknown"
