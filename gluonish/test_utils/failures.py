"""Tests that should fail, and tests that fail at times."""

import functools
from collections.abc import Callable
from typing import Any

from gluonish.core.errors import ArgumentError

__all__ = ["assert_exception", "retry"]


def assert_exception(
    f: Callable[..., Any], exception_type: type[BaseException], *args: Any, **kwargs: Any
) -> None:
    """Check that a call raises; another exception than the expected one passes through.

    Args:
        f: The function.
        exception_type: What it should raise.
        *args: Its arguments.
        **kwargs: Its keyword arguments.

    Raises:
        AssertionError: It raises nothing.
    """
    try:
        f(*args, **kwargs)
    except exception_type:
        return
    raise AssertionError(
        f"assert_exception: expected {exception_type.__name__}, got no exception from {f!r}"
    )


def retry(n: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that calls a random test again, up to ``n`` times, while it fails.

    Only an AssertionError counts as a failure; the last one is raised.

    Args:
        n: How often it is called at most.

    Raises:
        ArgumentError: This is less than once.
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
