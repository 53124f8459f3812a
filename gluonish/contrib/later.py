"""Functions of MXNet that gluonish does not have yet, which raise an error when they are called.

Programs import complete packages and call some functions only under an option, so the import must
not fail.
"""

from collections.abc import Callable
from typing import NoReturn

from gluonish.core.errors import NotSupportedError


def later(name: str, instead: str) -> Callable[..., NoReturn]:
    """Return a function that raises NotSupportedError.

    Args:
        name: Dotted name of the function, without ``mx.``.
        instead: Advice for the message.
    """

    def function(*args: object, **kwargs: object) -> NoReturn:
        raise NotSupportedError(f"mx.{name}: gluonish does not have it yet; {instead}")

    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    function.__doc__ = (
        f"Not supported: gluonish does not have ``mx.{name}`` yet; {instead}.\n\n"
        "Raises:\n    NotSupportedError: Always."
    )
    return function
