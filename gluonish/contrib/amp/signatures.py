"""The two signatures of the functions that convert: those of MXNet 1.9 and those of MXNet 2.0.

MXNet 2.0 takes, before ``target_dtype``, what tells the dtypes of the inputs: dicts from names to
dtypes, or example arrays. A dtype is neither, so that the first of these tells the signature.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, TypeVar

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ndarray import NDArray

__all__ = ["NEWER_REST", "both_signatures", "is_example", "is_told"]

R = TypeVar("R")

# How MXNet 2.0's signatures end.
NEWER_REST = (
    *("target_dtype", "target_dtype_ops", "fp32_ops", "conditional_fp32_ops"),
    "excluded_sym_names",
)
_RENAMED = {"cast_params_offline": "cast_optional_params", "device": "ctx"}


def is_told(value: Any) -> bool:
    """Whether a value is a dict of dtypes."""
    return isinstance(value, Mapping)


def is_example(value: Any) -> bool:
    """Whether a value is an array, or a list or tuple of arrays."""
    return isinstance(value, NDArray | list | tuple)


def both_signatures(
    newer: Sequence[str], tells: Callable[[Any], bool], at: int
) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Return a decorator: a function of MXNet 1.9's signature takes MXNet 2.0's calls, too.

    Args:
        newer: Names of the positional arguments in MXNet 2.0.
        tells: Whether the argument at ``at`` is one of MXNet 2.0.
        at: Position of the first argument that only MXNet 2.0 has.
    """

    def decorate(function: Callable[..., R]) -> Callable[..., R]:
        what = function.__name__

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> R:
            if len(args) > at and tells(args[at]):
                if len(args) > len(newer):
                    raise ArgumentTypeError(
                        f"{what}: expected at most {len(newer)} arguments, {', '.join(newer)}, "
                        f"got {len(args)}"
                    )
                kwargs = _joined(what, dict(zip(newer, args, strict=False)), kwargs)
                args = ()
            for name in _RENAMED.keys() & kwargs.keys():
                kwargs = _joined(what, kwargs, {_RENAMED[name]: kwargs.pop(name)})
            return function(*args, **kwargs)

        return call

    return decorate


def _joined(what: str, first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of two dicts, none of which may be in both."""
    twice = first.keys() & second.keys()
    if twice:
        raise ArgumentError(f"{what}: expected one value for {min(twice)}, got two")
    return {**first, **second}
