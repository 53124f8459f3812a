"""The environment where it is not gluonish's own: for other libraries, and for users who ask."""

import os
from types import TracebackType

from gluonish.core.errors import ArgumentTypeError


class LoadEnvironment:
    """Scope in which variables have a value that a library reads once, when it is loaded.

    Args:
        unless: Names; if one of them is set, the user has decided, and nothing is changed.
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
    """Have the Python processes that this one starts look for modules in one more folder, last."""
    folders = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if folder not in folders:
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [*folders, folder]))


def is_set(*names: str) -> bool:
    """Whether the environment has one of some variables that are another library's."""
    return any(name in os.environ for name in names)


def variables_with(*prefixes: str) -> dict[str, str]:
    """Return the variables whose names begin with one of some prefixes, by name."""
    return {name: text for name, text in sorted(os.environ.items()) if name.startswith(prefixes)}


def get_variable(name: str) -> str | None:
    """Return what the environment holds under a name, None if it has no such variable.

    Raises:
        ArgumentTypeError: The name is no text.
    """
    if not isinstance(name, str):
        raise ArgumentTypeError(f"getenv: expected the name as text, got {name!r}")
    return os.environ.get(name)


def set_variable(name: str, value: str | None) -> None:
    """Set an environment variable, or unset it with None, for users who ask for it.

    Raises:
        ArgumentTypeError: The name or the value is no text.
    """
    if not isinstance(name, str) or not isinstance(value, str | None):
        raise ArgumentTypeError(f"setenv: expected name and value as text, got {name!r}, {value!r}")
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value
