"""Products of vectors, matrices and tensors."""

from collections.abc import Sequence
from typing import Any

from gluonish.core.argument_docs import document_arguments
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.numpy.calls import as_value, call, call_list
from gluonish.numpy.shapes import ravel
from gluonish.numpy.unary import check_options

__all__ = ["dot", "einsum", "inner", "matmul", "outer", "polyval", "tensordot", "vdot"]


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
    return call("_npi_matmul", (a, b), out=out, what="matmul")


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
    if isinstance(axes, int):
        return call("_npi_tensordot_int_axes", (a, b), {"axes": axes}, what="tensordot")
    if not isinstance(axes, list | tuple) or len(axes) != 2:
        raise ArgumentError(f"tensordot: expected axes of a and of b, got {axes!r}")
    a_axes, b_axes = [(x,) if isinstance(x, int) else tuple(x) for x in axes]
    if len(a_axes) != len(b_axes):
        raise ArgumentError(f"tensordot: expected as many axes of a as of b, got {axes!r}")
    params = {"a_axes_summed": a_axes, "b_axes_summed": b_axes}
    return call("_npi_tensordot", (a, b), params, what="tensordot")


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
