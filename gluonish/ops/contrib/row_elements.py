"""fill_element_0index and _onehot_encode: set one element of every row of a matrix.

index_copy: replace rows of an array.
"""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.spec import Spec
from gluonish.ops.elementwise.constant_like import zeros_like
from gluonish.ops.facts import ShapeFacts, zero_gradient
from gluonish.ops.indexing.pick import along_grid
from gluonish.ops.indexing.take import integer_indices, take
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.broadcasting import check_same_dtype
from gluonish.ops.support.dtype_rules import dtype_rule


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


_NAME = "_contrib_index_copy"


def _infer(old_tensor: Spec, index_vector: Spec, new_tensor: Spec) -> tuple[Spec]:
    check_same_dtype(_NAME, old_tensor, new_tensor)
    if len(index_vector.shape) != 1 or not old_tensor.shape:
        raise OperatorError(
            f"{_NAME}: expected old_tensor (N, ...) and index_vector (M,), got "
            f"{old_tensor.shape} and {index_vector.shape}"
        )
    expected = (*index_vector.shape, *old_tensor.shape[1:])
    if new_tensor.shape != expected:
        raise OperatorError(f"{_NAME}: expected new_tensor {expected}, got {new_tensor.shape}")
    return (old_tensor,)


def _kernel(xp: ModuleType, out: Any, old_tensor: Any, index_vector: Any, new_tensor: Any) -> None:
    out[...] = old_tensor
    out[integer_indices(xp, _NAME, index_vector, len(old_tensor), "raise")] = new_tensor


def _gradient(g: V, old_tensor: V, index_vector: V, new_tensor: V) -> tuple[Any, None, Any]:
    return (
        lambda: apply(INDEX_COPY, (g, index_vector, zeros_like(new_tensor)), {}),
        None,
        lambda: take(g, index_vector),
    )


INDEX_COPY = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Replace row index_vector[i] of old_tensor by row i of new_tensor.\n\n"
            "The last of equal indices takes precedence; indices must be in [0, N).\n\n"
            "Shapes: old_tensor (N, ...), index_vector (M,), new_tensor (M, ...), output that\n"
            "of old_tensor."
        ),
        inputs=("old_tensor", "index_vector", "new_tensor"),
        shapes=ShapeFacts(complete=dtype_rule(0, 2)),
    )
)
