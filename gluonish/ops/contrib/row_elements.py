"""fill_element_0index and _onehot_encode: set one element of every row of a matrix."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.spec import Spec
from gluonish.ops.facts import ShapeFacts
from gluonish.ops.indexing.pick import along_grid
from gluonish.ops.indexing.take import integer_indices
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.broadcasting import check_same_dtype
from gluonish.ops.support.dtype_rules import dtype_rule
from gluonish.ops.support.zero_gradient import zero_gradient


def _fill_infer(lhs: Spec, mhs: Spec, rhs: Spec) -> tuple[Spec]:
    check_same_dtype("fill_element_0index", lhs, mhs)
    if len(lhs.shape) != 2 or mhs.shape != lhs.shape[:1] or rhs.shape != lhs.shape[:1]:
        raise OperatorError(
            f"fill_element_0index: expected lhs (N, K), mhs (N,) and rhs (N,), got {lhs.shape}, "
            f"{mhs.shape} and {rhs.shape}"
        )
    return (lhs,)


def _fill_kernel(xp: ModuleType, out: Any, lhs: Any, mhs: Any, rhs: Any) -> None:
    columns = integer_indices(xp, "fill_element_0index", rhs, lhs.shape[1], "raise")
    out[...] = lhs
    out[along_grid(xp, columns[:, None], 1)] = mhs[:, None]


FILL_ELEMENT_0INDEX = register(
    Operator(
        "fill_element_0index",
        _fill_infer,
        _fill_kernel,
        None,
        doc=(
            "Replace element rhs[i] of row i of lhs by mhs[i].\n\n"
            "Shapes: lhs (N, K), mhs and rhs (N,)."
        ),
        inputs=("lhs", "mhs", "rhs"),
        shapes=ShapeFacts(complete=dtype_rule(0, 1)),
    )
)


def _encode_infer(lhs: Spec, rhs: Spec) -> tuple[Spec]:
    if len(rhs.shape) != 2 or lhs.shape != rhs.shape[:1]:
        raise OperatorError(
            f"_onehot_encode: expected lhs (N,) and rhs (N, K), got {lhs.shape} and {rhs.shape}"
        )
    return (rhs,)


def _encode_kernel(xp: ModuleType, out: Any, lhs: Any, rhs: Any) -> None:
    out[...] = lhs.astype(xp.int64)[:, None] == xp.arange(rhs.shape[1])


ONEHOT_ENCODE = register(
    Operator(
        "_onehot_encode",
        _encode_infer,
        _encode_kernel,
        zero_gradient,
        doc=(
            "Return rows of zeros with a 1 at index lhs[i], in the shape and dtype of rhs.\n\n"
            "An index out of range gives a row of zeros.\n\n"
            "Shapes: lhs (N,), rhs and output (N, K)."
        ),
        inputs=("lhs", "rhs"),
        shapes=ShapeFacts(complete=dtype_rule(1)),
    )
)
