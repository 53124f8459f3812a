"""index_copy: replace rows of an array."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.spec import Spec
from gluonish.ops.elementwise.constant_like import zeros_like
from gluonish.ops.facts import ShapeFacts
from gluonish.ops.indexing.take import integer_indices, take
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.broadcasting import check_same_dtype
from gluonish.ops.support.dtype_rules import dtype_rule

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
