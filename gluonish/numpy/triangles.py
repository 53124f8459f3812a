"""Indices of triangles of matrices, and `fill_diagonal`."""

from typing import Any

import numpy as np

from gluonish.core.context import Context
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ndarray.ndarray import NDArray
from gluonish.numpy.calls import NUMBERS
from gluonish.numpy.creation import arange, asarray
from gluonish.numpy.numerics import clip
from gluonish.numpy.reductions import cumsum
from gluonish.numpy.shapes import repeat, resize

__all__ = ["fill_diagonal", "tril_indices", "triu_indices"]

Ctx = Context | str | None


def tril_indices(
    n: int, k: int = 0, m: int | None = None, ctx: Ctx = None, device: Ctx = None
) -> tuple[Any, Any]:
    """Return the rows and the columns of the elements on and below a diagonal, int64.

    Args:
        n: Number of rows of the matrix.
        k: Index of the diagonal: 0 for the main one, positive above it, negative below.
        m: Number of columns; ``n`` by default.
        ctx: Device; the current context by default.
        device: ``ctx`` under the name it has in MXNet 2.0.
    """
    columns = n if m is None else m
    rows = arange(n, dtype="int64", ctx=ctx or device)
    counts = clip(rows + (k + 1), 0, columns)
    static = np.clip(np.arange(n) + k + 1, 0, columns)
    return _indices(rows, rows * 0, counts, static, ctx or device)


def triu_indices(
    n: int, k: int = 0, m: int | None = None, ctx: Ctx = None, device: Ctx = None
) -> tuple[Any, Any]:
    """Return the rows and the columns of the elements on and above a diagonal, int64.

    Args:
        n: Number of rows of the matrix.
        k: Index of the diagonal: 0 for the main one, positive above it, negative below.
        m: Number of columns; ``n`` by default.
        ctx: Device; the current context by default.
        device: ``ctx`` under the name it has in MXNet 2.0.
    """
    columns = n if m is None else m
    rows = arange(n, dtype="int64", ctx=ctx or device)
    starts = clip(rows + k, 0, columns)
    static = columns - np.clip(np.arange(n) + k, 0, columns)
    return _indices(rows, starts, starts * -1 + columns, static, ctx or device)


def _indices(rows: Any, starts: Any, counts: Any, static: Any, ctx: Ctx) -> tuple[Any, Any]:
    """Return the indices of ``counts[i]`` elements of each row i, from column ``starts[i]`` on.

    Args:
        rows: The indices of all rows, int64.
        starts: Array, or a Symbol.
        counts: Array, or a Symbol.
        static: The counts as a NumPy array.
        ctx: Device of the result.
    """
    each = [int(count) for count in static]
    total = arange(sum(each), dtype="int64", ctx=ctx)
    before = cumsum(counts) - counts  # elements of the rows above
    return repeat(rows, each, 0), total + repeat(starts - before, each, 0)


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Write values to the main diagonal of an array, in place.

    Args:
        a: Array of two axes, or of more axes of equal size.
        val: Number, or an array or list of numbers, which are repeated as needed.
        wrap: Whether the diagonal of a tall matrix begins anew below a row left out.

    Raises:
        ArgumentError: The array has one axis or none, or more than two of different sizes.
        ArgumentTypeError: ``a`` is not an array.
    """
    if not isinstance(a, NDArray):
        raise ArgumentTypeError(f"fill_diagonal: expected an array, got {type(a).__name__}")
    shape = a.shape
    if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
        raise ArgumentError(
            f"fill_diagonal: expected two axes, or more of one size, got shape {shape}"
        )
    step = 1 + int(np.cumprod(shape[:-1]).sum()) if len(shape) > 2 else shape[1] + 1
    end = a.size if len(shape) > 2 or wrap else min(a.size, shape[1] * shape[1])
    flat = np.arange(0, end, step)
    if not flat.size:
        return
    values = val if isinstance(val, NUMBERS) else resize(asarray(val, a.dtype), flat.size)
    a[np.unravel_index(flat, shape)] = values
