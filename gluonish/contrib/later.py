"""Functions of MXNet that gluonish does not have yet: they can be imported, and say so when called.

Programs import whole packages at their top, and call what they need under an option. What only
a call needs is therefore refused at the call.
"""

from collections.abc import Callable
from typing import NoReturn

from gluonish.core.errors import NotSupportedError


def later(name: str, instead: str) -> Callable[..., NoReturn]:
    """Return a function that raises NotSupportedError.

    Args:
        name: Its dotted name, after ``mx.``.
        instead: What a program can do instead.
    """

    def function(*args: object, **kwargs: object) -> NoReturn:
        raise NotSupportedError(f"mx.{name}: gluonish does not have it yet; {instead}")

    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    function.__doc__ = (
        f"Refuse: gluonish does not have ``mx.{name}`` yet; {instead}.\n\n"
        "Raises:\n    NotSupportedError: Always."
    )
    return function
