"""Decorators of `mx.util` for functions whose arguments MXNet 2.0 renamed."""

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

__all__ = [
    "wrap_ctx_to_device_func",
    "wrap_data_api_linalg_func",
    "wrap_data_api_statical_func",
    "wrap_sort_functions",
]

_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])
Change = Callable[[Any], Any]


def _same(value: Any) -> Any:
    return value


def _renaming(func: Any, renamed: Mapping[str, tuple[str, Change]]) -> Any:
    """Return a function that accepts other names of its keyword arguments.

    Args:
        func: The function.
        renamed: By old name, the new name and a function from an old to a new value.
    """

    @functools.wraps(func)
    def run(*args: Any, **kwargs: Any) -> Any:
        for old in kwargs.keys() & renamed:
            new, change = renamed[old]
            kwargs[new] = change(kwargs.pop(old))
        return func(*args, **kwargs)

    return run


def wrap_ctx_to_device_func(func: _Decorated) -> _Decorated:
    """Decorator: a function accepts its argument ``device`` under the name ``ctx``, too.

    Args:
        func: The function, with an argument ``device``.
    """
    wrapped: _Decorated = _renaming(func, {"ctx": ("device", _same)})
    return wrapped


def wrap_data_api_statical_func(func: _Decorated) -> _Decorated:
    """Decorator: a function accepts its argument ``correction`` under NumPy's name ``ddof``, too.

    Args:
        func: The function, with an argument ``correction``.
    """
    wrapped: _Decorated = _renaming(func, {"ddof": ("correction", _same)})
    return wrapped


def wrap_data_api_linalg_func(func: _Decorated) -> _Decorated:
    """Decorator: a function accepts ``UPLO`` for ``upper``, and ``tol`` or ``rcond`` for ``rtol``.

    Args:
        func: The function, with an argument ``upper`` (bool) or ``rtol``.
    """
    names = {
        "UPLO": ("upper", lambda triangle: triangle == "U"),
        "tol": ("rtol", _same),
        "rcond": ("rtol", _same),
    }
    wrapped: _Decorated = _renaming(func, names)
    return wrapped


def wrap_sort_functions(func: _Decorated) -> _Decorated:
    """Decorator: a function accepts NumPy's ``kind`` for ``stable``; ``order`` is ignored.

    Args:
        func: The function, with an argument ``stable`` (bool).
    """

    @functools.wraps(func)
    def run(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop("order", None)
        kind = kwargs.pop("kind", None)
        if kind is not None:
            kwargs["stable"] = kind == "stable"
        return func(*args, **kwargs)

    wrapped: _Decorated = run  # type: ignore[assignment]  # the same arguments
    return wrapped
