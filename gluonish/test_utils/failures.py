"""Tests that should fail, and tests that fail at times."""

import functools
from collections.abc import Callable
from typing import Any

from gluonish.core.errors import ArgumentError

__all__ = ["assert_exception", "retry"]


def assert_exception(
    f: Callable[..., Any], exception_type: type[BaseException], *args: Any, **kwargs: Any
) -> None:
    """Check that a call raises an exception of a given type; any other exception propagates.

    Args:
        f: The function to call.
        exception_type: Type of the expected exception.
        *args: Arguments of the function.
        **kwargs: Keyword arguments of the function.

    Raises:
        AssertionError: The call raises no exception.
    """
    try:
        f(*args, **kwargs)
    except exception_type:
        return
    raise AssertionError(
        f"assert_exception: expected {exception_type.__name__}, got no exception from {f!r}"
    )


def retry(n: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that reruns a randomized test while it fails, up to ``n`` runs in all.

    Only an AssertionError counts as a failure; that of the last run is raised.

    Args:
        n: Largest number of runs.

    Raises:
        ArgumentError: ``n`` is below 1.
    """
    if n < 1:
        raise ArgumentError(f"retry: expected n of at least 1, got {n}")

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(test)
        def run(*args: Any, **kwargs: Any) -> Any:
            for _ in range(n - 1):
                try:
                    return test(*args, **kwargs)
                except AssertionError:
                    pass
            return test(*args, **kwargs)

        return run

    return decorate
