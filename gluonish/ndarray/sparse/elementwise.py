"""Elementwise functions of one sparse array that map 0 to 0, and arithmetic with numbers."""

from collections.abc import Callable, Sequence
from typing import Any

from gluonish.ndarray.eager import invoke
from gluonish.ndarray.sparse.array import BaseSparseNDArray
from gluonish.ndarray.sparse.dispatch import implement
from gluonish.ndarray.sparse.storage import empty_sparse
from gluonish.ops.registry import Attrs, Operator

_ZERO_KEEPING = """
    abs arcsin arcsinh arctan arctanh cbrt ceil degrees expm1 fix floor log1p make_loss negative
    radians relu rint round sign sin sinh sqrt square tan tanh trunc BlockGrad _copy
    _mul_scalar _div_scalar _scatter_plus_scalar _scatter_minus_scalar
"""

# For operators with a scalar: whether 0 is mapped to 0.
_KEEPING_NUMBERS: dict[str, Callable[[float], bool]] = {
    "_plus_scalar": lambda scalar: scalar == 0,
    "_minus_scalar": lambda scalar: scalar == 0,
    "_equal_scalar": lambda scalar: scalar != 0,
    "_not_equal_scalar": lambda scalar: scalar == 0,
    "_greater_scalar": lambda scalar: scalar >= 0,
    "_greater_equal_scalar": lambda scalar: scalar > 0,
    "_lesser_scalar": lambda scalar: scalar <= 0,
    "_lesser_equal_scalar": lambda scalar: scalar < 0,
}


@implement(_ZERO_KEEPING, "r c")
def on_values(op: Operator, inputs: Sequence[BaseSparseNDArray], attrs: Attrs) -> Any:
    """Apply the operator to the stored values."""
    (x,) = inputs
    return x._with_values(invoke(op, (x._storage.values,), attrs))


@implement(" ".join(_KEEPING_NUMBERS), "r c")
def _with_number(op: Operator, inputs: Sequence[BaseSparseNDArray], attrs: Attrs) -> Any:
    if not _KEEPING_NUMBERS[op.name](attrs["scalar"]):
        return NotImplemented
    return on_values(op, inputs, attrs)


@implement("clip", "r c")
def _clip(op: Operator, inputs: Sequence[BaseSparseNDArray], attrs: Attrs) -> Any:
    if not attrs["a_min"] <= 0 <= attrs["a_max"]:
        return NotImplemented
    return on_values(op, inputs, attrs)


@implement("_contrib_quadratic", "c")
def _quadratic(op: Operator, inputs: Sequence[BaseSparseNDArray], attrs: Attrs) -> Any:
    return NotImplemented if attrs["c"] else on_values(op, inputs, attrs)


@implement("zeros_like", "r c")
def _zeros_like(op: Operator, inputs: Sequence[BaseSparseNDArray], attrs: Attrs) -> Any:
    (x,) = inputs
    return empty_sparse(x.shape, x.stype, x.context, x.dtype)
