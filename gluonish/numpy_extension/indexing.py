"""index_add and index_update: changed copies of arrays, by coordinates."""

from typing import Any

from gluonish.core.errors import ArgumentTypeError
from gluonish.numpy.calls import as_value, call
from gluonish.numpy.shapes import broadcast_to

__all__ = ["index_add", "index_update"]


def index_add(a: Any, ind: Any, val: Any) -> Any:
    """Return a copy of an array with values added at points; equal points add up.

    Args:
        a: Array (d1, ..., dn).
        ind: int32 or int64 (M, K): column j holds the M coordinates of point j; or (K,), for M = 1.
        val: Array that broadcasts to (K, ...), the last of which are the axes of ``a`` after M; of
            the dtype of ``a``.

    Raises:
        ArgumentTypeError: ``ind`` is not of an integer type, or the dtype of ``val`` differs.
        OperatorError: A shape does not match, or a coordinate is out of range.

    Example:
        >>> import gluonish as mx
        >>> a = mx.np.zeros((2, 3))
        >>> ind = mx.np.array([[0, 0, 1], [1, 1, 2]], dtype="int32")
        >>> mx.npx.index_add(a, ind, mx.np.array([1, 2, 3])).tolist()
        [[0.0, 3.0, 0.0], [0.0, 0.0, 3.0]]
    """
    points, values = _arguments("index_add", a, ind, val)
    return a + call("_backward_gather_nd", (values, points), {"shape": a.shape}, what="index_add")


def index_update(a: Any, ind: Any, val: Any) -> Any:
    """Return a copy of an array with values at points replaced; the last of equal points wins.

    Args:
        a: Array (d1, ..., dn).
        ind: int32 or int64 (M, K): column j holds the M coordinates of point j; or (K,), for M = 1.
        val: Array that broadcasts to (K, ...), the last of which are the axes of ``a`` after M; of
            the dtype of ``a``.

    Raises:
        ArgumentTypeError: ``ind`` is not of an integer type, or the dtype of ``val`` differs.
        OperatorError: A shape does not match, or a coordinate is out of range.
    """
    points, values = _arguments("index_update", a, ind, val)
    return call("_scatter_set_nd", (a, values, points), {"shape": a.shape}, what="index_update")


def _arguments(what: str, a: Any, ind: Any, val: Any) -> tuple[Any, Any]:
    """Return the points, (M, K), and the values broadcast to all points."""
    a, ind, val = as_value(a, what), as_value(ind, what), as_value(val, what)
    if ind.dtype.kind not in "iu":
        raise ArgumentTypeError(f"{what}: expected ind of an integer type, got {ind.dtype}")
    if val.dtype != a.dtype:
        raise ArgumentTypeError(
            f"{what}: expected val of {a.dtype}, the dtype of a, got {val.dtype}; use astype"
        )
    points = ind.reshape(1, -1) if len(ind.shape) == 1 else ind
    shape = (*points.shape[1:], *a.shape[points.shape[0] :])
    return points, broadcast_to(val, shape) if val.shape != shape else val
