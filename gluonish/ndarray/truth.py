"""Arrays of 0 and 1 that comparisons give, which select elements: ``x[x == 0] = v``.

Comparisons of `nd` give numbers in the dtype of their operands, as MXNet's do, and numbers as a key
are positions. So the result of a comparison is marked (`NDArray._truth`), and as a key of the
array's own shape it is a mask. Products of such results, and what `logical_and` and its kin give,
are marked, too. An array that merely holds 0 and 1 keeps its meaning as positions. Under the name
``mxnet`` all keys of numbers are positions.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from gluonish.core.mxnet_rules import follows_mxnet
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops import binary
from gluonish.ops.arithmetic import apply_row
from gluonish.ops.support.binary_row import Row

__all__ = ["COMPARISONS", "as_mask", "marking"]

# Operators whose results are marked.
COMPARISONS = frozenset(
    f"{kind}{word}{tail}"
    for word in ("equal", "not_equal", "greater", "greater_equal", "lesser", "lesser_equal")
    for kind, tail in (("broadcast_", ""), ("_", ""), ("_", "_scalar"))
) | frozenset(
    f"{kind}logical_{word}{tail}"
    for word in ("and", "or", "xor")
    for kind, tail in (("broadcast_", ""), ("_", ""), ("_", "_scalar"))
)
COMPARISONS |= {"logical_not"}


def marking(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of ``nd`` that compares, with its results marked."""

    @wraps(function)
    def compare(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        if type(result) is NDArray:
            result._truth = True
        return result

    return compare


def as_mask(x: NDArray, key: Any) -> Any:
    """Return the mask that the result of a comparison stands for; other keys as they are.

    Args:
        x: What is indexed.
        key: What Python gives to ``__getitem__`` or ``__setitem__``.
    """
    given = key[0] if isinstance(key, tuple) and len(key) == 1 else key
    if type(given) is not NDArray or not given._truth or given.shape != x.shape or follows_mxnet():
        return key
    if not np.isin(given.asnumpy(), (0, 1)).all():  # it was written to since
        return key
    return given.detach().astype("bool")


def _comparison(row: Row, unlike: bool | None = None) -> Callable[[NDArray, Any], Any]:
    """Return a method that compares; ``unlike`` is what the comparison with None gives."""

    def compare(self: NDArray, other: Any) -> Any:
        if other is None and unlike is not None:
            return unlike
        result = apply_row(row, self, other)
        if type(result) is NDArray:
            result._truth = True
        return result

    return compare


def _product(self: NDArray, other: Any) -> Any:
    result = apply_row(binary.MULTIPLY, self, other)
    if type(other) is NDArray and other._truth and type(self) is NDArray and self._truth:
        result._truth = True
    return result


def attach() -> None:
    """Give `NDArray` the operators that mark their results."""
    methods = {
        "__eq__": _comparison(binary.EQUAL, unlike=False),
        "__ne__": _comparison(binary.NOT_EQUAL, unlike=True),
        "__gt__": _comparison(binary.GREATER),
        "__ge__": _comparison(binary.GREATER_EQUAL),
        "__lt__": _comparison(binary.LESSER),
        "__le__": _comparison(binary.LESSER_EQUAL),
        "__mul__": _product,
    }
    for name, method in methods.items():
        method.__name__ = name
        method.__qualname__ = f"NDArray.{name}"
        setattr(NDArray, name, method)


attach()
