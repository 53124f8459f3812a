"""Products of vectors, matrices and tensors."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.argument_docs import document_arguments
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.numpy.array import ndarray
from gluonish.numpy.calls import as_value, axis_in, call, call_list, promoted
from gluonish.numpy.official import call_official
from gluonish.numpy.shapes import expand_dims, moveaxis, pad, ravel, reshape
from gluonish.numpy.unary import check_options

__all__ = [
    "cross",
    "dot",
    "einsum",
    "inner",
    "kron",
    "matmul",
    "outer",
    "polyval",
    "tensordot",
    "vdot",
    "vecdot",
]


def dot(a: Any, b: Any, out: Any = None) -> Any:
    """Return the sum of products over the last axis of ``a`` and the last but one of ``b``."""
    return call("_np_dot", (a, b), out=out, what="dot")


def matmul(a: Any, b: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the matrix product over the last two axes; the others broadcast.

    Args:
        a: Array of one axis or more.
        b: Array of one axis or more.
        out: Array that the result is written to, of its shape and dtype.
        **kwargs: NumPy's options, with their defaults only.
    """
    if kwargs:
        check_options("matmul", kwargs)
    values = promoted("matmul", [as_value(x, "matmul") for x in (a, b)])
    if _are_whole(values):
        return call_official(np.matmul, "matmul", values, {"out": out})
    return call("_npi_matmul", values, out=out, what="matmul")


def _are_whole(values: Sequence[Any]) -> bool:
    """Whether values are arrays of integers, whose products NumPy computes."""
    return all(isinstance(x, ndarray) and x.dtype.kind in "iu" for x in values) and not any(
        x.is_traced for x in values
    )


def inner(a: Any, b: Any) -> Any:
    """Return the sum of products over the last axes."""
    return tensordot(a, b, [-1, -1])


def outer(a: Any, b: Any) -> Any:
    """Return the products of all elements of ``a`` with all of ``b``: a matrix."""
    return tensordot(ravel(as_value(a, "outer")), ravel(as_value(b, "outer")), 0)


def vdot(a: Any, b: Any) -> Any:
    """Return the sum of products of all elements."""
    return tensordot(ravel(as_value(a, "vdot")), ravel(as_value(b, "vdot")), 1)


def tensordot(a: Any, b: Any, axes: int | Sequence[Any] = 2) -> Any:
    """Return sums of products over some axes.

    Args:
        a: Array.
        b: Array.
        axes: Number of axes, the last of ``a`` and the first of ``b``; or a pair: axes of ``a`` and
            axes of ``b``.

    Raises:
        ArgumentError: The axes are not a pair, or their numbers differ.
    """
    a, b = promoted("tensordot", [as_value(x, "tensordot") for x in (a, b)])
    if _are_whole((a, b)):
        return call_official(np.tensordot, "tensordot", (a, b, axes), {})
    if isinstance(axes, int):
        return call("_npi_tensordot_int_axes", (a, b), {"axes": axes}, what="tensordot")
    if not isinstance(axes, list | tuple) or len(axes) != 2:
        raise ArgumentError(f"tensordot: expected axes of a and of b, got {axes!r}")
    a_axes, b_axes = [(x,) if isinstance(x, int) else tuple(x) for x in axes]
    if len(a_axes) != len(b_axes):
        raise ArgumentError(f"tensordot: expected as many axes of a as of b, got {axes!r}")
    params = {"a_axes_summed": a_axes, "b_axes_summed": b_axes}
    return call("_npi_tensordot", (a, b), params, what="tensordot")


def vecdot(
    x1: Any = None, x2: Any = None, axis: int | None = -1, *, a: Any = None, b: Any = None
) -> Any:
    """Return the sums of products of two arrays over one axis; the other axes broadcast.

    Args:
        x1: Array of at least one axis.
        x2: Array of at least one axis, of the same size along it.
        axis: The axis, counted from the last: -1 or None is the last of both arrays.
        a: ``x1`` under its name in MXNet 2.0.
        b: ``x2`` under its name in MXNet 2.0.

    Raises:
        ArgumentError: The sizes along the axis differ.
    """
    x1, x2, axis = a if x1 is None else x1, b if x2 is None else x2, -1 if axis is None else axis
    first, second = promoted("vecdot", [as_value(x, "vecdot") for x in (x1, x2)])
    along = [axis_in(axis, x.ndim, "vecdot") for x in (first, second)]
    if first.shape[along[0]] != second.shape[along[1]]:
        raise ArgumentError(
            f"vecdot: expected equal sizes along axis {axis}, got shapes {first.shape} and "
            f"{second.shape}"
        )
    rows = expand_dims(moveaxis(first, along[0], -1), -2)
    columns = expand_dims(moveaxis(second, along[1], -1), -1)
    return reshape(matmul(rows, columns), _broadcast("vecdot", rows, columns))


def _broadcast(what: str, rows: Any, columns: Any) -> tuple[int, ...]:
    """Return the broadcast shape of the leading axes of two stacks of matrices."""
    try:
        return np.broadcast_shapes(rows.shape[:-2], columns.shape[:-2])
    except ValueError:
        raise ArgumentError(
            f"{what}: expected shapes that broadcast, got {rows.shape[:-2]} and "
            f"{columns.shape[:-2]}"
        ) from None


def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Any:
    """Return the vector products of vectors of two or three elements; the other axes broadcast.

    Args:
        a: Array.
        b: Array.
        axisa: Axis of ``a`` that holds the vectors.
        axisb: Axis of ``b`` that holds the vectors.
        axisc: Axis of the result that holds the vectors.
        axis: One axis for all three.

    Returns:
        The products. A vector of two elements has 0 as its third; of two such vectors only the
        third element of the product is returned, without an axis for it.

    Raises:
        ArgumentError: An axis has neither two nor three elements.
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    first, second = promoted("cross", [as_value(x, "cross") for x in (a, b)])
    first, second = moveaxis(first, axisa, -1), moveaxis(second, axisb, -1)
    sizes = (first.shape[-1], second.shape[-1])
    if not {2, 3}.issuperset(sizes):
        raise ArgumentError(
            f"cross: expected vectors of two or three elements, got {sizes[0]} and {sizes[1]}"
        )
    if sizes == (2, 2):
        return first[..., 0] * second[..., 1] - first[..., 1] * second[..., 0]
    first, second = _in_space(first), _in_space(second)
    turned = [first[..., [1, 2, 0]] * second[..., [2, 0, 1]]]
    turned.append(first[..., [2, 0, 1]] * second[..., [1, 2, 0]])
    return moveaxis(turned[0] - turned[1], -1, axisc)


def _in_space(vectors: Any) -> Any:
    """Return vectors (..., 2) with a third element 0; others unchanged."""
    if vectors.shape[-1] == 3:
        return vectors
    return pad(vectors, [(0, 0)] * (vectors.ndim - 1) + [(0, 1)])


def kron(a: Any, b: Any) -> Any:
    """Return the Kronecker product: each element of ``a`` times all of ``b``.

    Args:
        a: Array.
        b: Array; the one of fewer axes gets leading axes of size 1.
    """
    first, second = (as_value(x, "kron") for x in (a, b))
    rank = max(first.ndim, second.ndim)
    sizes = [(1,) * (rank - x.ndim) + x.shape for x in (first, second)]
    left = reshape(first, tuple(n for size in sizes[0] for n in (size, 1)))
    right = reshape(second, tuple(n for size in sizes[1] for n in (1, size)))
    return reshape(left * right, tuple(m * n for m, n in zip(*sizes, strict=True)))


def einsum(*operands: Any, **kwargs: Any) -> Any:
    """Evaluate Einstein's summation convention: sums of products of arrays.

    Args:
        *operands: The subscripts, such as ``"ij,jk->ik"``, and the arrays.
        **kwargs: ``out``: array to store the result in; ``optimize``: whether to optimize the order
            of contraction.

    Raises:
        ArgumentTypeError: A keyword is unknown, or the subscripts are missing.
    """
    out = kwargs.pop("out", None)
    optimize = int(bool(kwargs.pop("optimize", False)))
    if kwargs:
        raise ArgumentTypeError(f"einsum: expected out and optimize, got {sorted(kwargs)}")
    if not operands or not isinstance(operands[0], str):
        raise ArgumentTypeError("einsum: expected subscripts first, as a str")
    params = {"subscripts": operands[0], "optimize": optimize}
    return call_list("_npi_einsum", operands[1:], params, out, "einsum")


def polyval(p: Any, x: Any) -> Any:
    """Return the values at ``x`` of the polynomial with coefficients ``p``, the highest first."""
    return call("_npi_polyval", (p, x), what="polyval")


document_arguments(
    globals(),
    __all__,
    {
        "polyval.p": "Coefficients (K,), highest power first.",
    },
)
