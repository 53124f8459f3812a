"""`mx.error`: MXNet's names of errors."""

from typing import Any, TypeVar

from gluonish.core.errors import ArgumentTypeError
from gluonish.core.errors import GluonishError as MXNetError

__all__ = ["InternalError", "MXNetError", "register", "register_error"]

_Error = TypeVar("_Error", bound=type[BaseException])

_HINT = "This is an error of gluonish itself: please report it with the program that shows it."


class InternalError(MXNetError):
    """An error that indicates a bug in gluonish rather than in the program.

    Args:
        msg: What happened; a request to report it is appended.
    """

    def __init__(self, msg: str) -> None:
        super().__init__(msg if _HINT in msg else f"{msg}\n{_HINT}")


def register(func_name: Any = None, cls: Any = None) -> Any:
    """Return an error class unchanged: as a decorator, or as a function with a name for it.

    MXNet maps the names of C++ errors to classes. Here errors are raised in Python, so no mapping
    is needed.

    Args:
        func_name: The class, or a name for it.
        cls: The class, if a name is given; without it a decorator is returned.

    Raises:
        ArgumentTypeError: The argument is not an exception class.
    """
    if isinstance(func_name, str | None):
        return _checked if cls is None else _checked(cls)
    return _checked(func_name)


register_error = register


def _checked(cls: _Error) -> _Error:
    if not (isinstance(cls, type) and issubclass(cls, BaseException)):
        raise ArgumentTypeError(f"error.register: expected a class of errors, got {cls!r}")
    return cls
