"""Environment variables that are not flags: of other libraries, and for `mx.util`."""

import os
from types import TracebackType

from gluonish.core.errors import ArgumentTypeError


class LoadEnvironment:
    """Scope that sets variables which a library reads once, when it is loaded.

    Args:
        unless: Names of variables; if the user has set one of them, nothing is changed.
        **variables: Values by name.
    """

    def __init__(self, *unless: str, **variables: str) -> None:
        decided = any(name in os.environ for name in (*unless, *variables))
        self._variables = {} if decided else variables

    def __enter__(self) -> None:
        os.environ.update(self._variables)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for name in self._variables:
            os.environ.pop(name, None)


def extend_python_path(folder: str) -> None:
    """Append a folder to the module search path of child Python processes."""
    folders = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if folder not in folders:
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [*folders, folder]))


def is_set(*names: str) -> bool:
    """Whether any of these variables, which belong to other libraries, is set."""
    return any(name in os.environ for name in names)


def variables_with(*prefixes: str) -> dict[str, str]:
    """Return the variables whose names begin with any of the prefixes, as a dict by name."""
    return {name: text for name, text in sorted(os.environ.items()) if name.startswith(prefixes)}


def get_variable(name: str) -> str | None:
    """Return the value of a variable; None if it is not set.

    Raises:
        ArgumentTypeError: The name is not a str.
    """
    if not isinstance(name, str):
        raise ArgumentTypeError(f"getenv: expected the name as text, got {name!r}")
    return os.environ.get(name)


def set_variable(name: str, value: str | None) -> None:
    """Set an environment variable; None unsets it.

    Raises:
        ArgumentTypeError: The name or the value is not a str.
    """
    if not isinstance(name, str) or not isinstance(value, str | None):
        raise ArgumentTypeError(f"setenv: expected name and value as text, got {name!r}, {value!r}")
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value
