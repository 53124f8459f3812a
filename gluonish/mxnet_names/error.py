"""Errors under the names of `mx.error`."""

from typing import Any, TypeVar

from gluonish.core.errors import ArgumentTypeError
from gluonish.core.errors import GluonishError as MXNetError

__all__ = ["InternalError", "MXNetError", "register", "register_error"]

_Error = TypeVar("_Error", bound=type[BaseException])

_HINT = "This is an error of gluonish itself: please report it with the program that shows it."


class InternalError(MXNetError):
    """Something that should not happen, whatever a program does.

    Args:
        msg: What it was; a line is added that asks for a report.
    """

    def __init__(self, msg: str) -> None:
        super().__init__(msg if _HINT in msg else f"{msg}\n{_HINT}")


def register(func_name: Any = None, cls: Any = None) -> Any:
    """Return an error class as it is: as a decorator, or with a name for it.

    In MXNet it tells which class stands for an error that its C++ part names. Here errors are
    raised as Python's from where they happen, so that there is nothing to translate.

    Args:
        func_name: The class, or a name for it.
        cls: The class, where a name is given; without it a decorator is returned.

    Raises:
        ArgumentTypeError: Something else was given.
    """
    if isinstance(func_name, str | None):
        return _checked if cls is None else _checked(cls)
    return _checked(func_name)


register_error = register


def _checked(cls: _Error) -> _Error:
    if not (isinstance(cls, type) and issubclass(cls, BaseException)):
        raise ArgumentTypeError(f"error.register: expected a class of errors, got {cls!r}")
    return cls
