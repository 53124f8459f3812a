"""Functions of ``mx.npx`` whose argument names differ from those of their operators."""

from typing import Any

from gluonish.numpy.calls import call

__all__ = ["constraint_check", "nonzero"]


def nonzero(a: Any) -> Any:
    """Return the indices of the elements that are not zero: int64 (count, axes).

    Args:
        a: Array of one axis or more.
    """
    return call("_npx_nonzero", (a,), what="nonzero")


def constraint_check(x: Any, msg: str = "Constraint violated.") -> Any:
    """Return whether all elements are true, as an array of shape ().

    Args:
        x: Array of bool.
        msg: Message of the error.

    Raises:
        ArgumentError: An element is false; raised when waiting for the result.
    """
    return call("_npx_constraint_check", (x,), {"msg": msg}, what="constraint_check")
