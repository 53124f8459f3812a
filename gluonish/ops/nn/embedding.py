"""Embedding: rows of a matrix by index, and the gradient by scatter-add."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.core.errors import OperatorError, OperatorIndexError
from gluonish.core.mxnet_rules import follows_mxnet
from gluonish.core.schema import Schema, boolean, dtype_attr, integer
from gluonish.core.spec import PartialSpec, Spec, merge_dtypes, merge_shapes
from gluonish.ops.facts import ShapeFacts
from gluonish.ops.indexing.take import integer_indices
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.support.host import add_at, scatter_accumulator

_SCHEMA = Schema(
    input_dim=integer(low=1),
    output_dim=integer(low=1),
    dtype=dtype_attr(FLOAT32),
    sparse_grad=boolean(False),
)


def _infer(
    data: Spec, weight: Spec, *, input_dim: int, output_dim: int, **_: object
) -> tuple[Spec]:
    if weight.shape != (input_dim, output_dim):
        raise OperatorError(
            f"Embedding: expected weight ({input_dim}, {output_dim}), got {weight.shape}"
        )
    return (Spec((*data.shape, output_dim), weight.dtype),)


def _rows(xp: ModuleType, data: Any, input_dim: int) -> Any:
    """Return integer row indices, clipped to the table."""
    return integer_indices(xp, "Embedding", data, input_dim)


def check_ids(operator: str, data: Any, rows: int) -> None:
    """Refuse ids outside [0, rows), in memory of the host.

    Under the name ``mxnet`` they are clipped. Arrays on devices are, too, since the check would
    wait for them.

    Raises:
        OperatorIndexError: An id is outside.
    """
    if type(data) is not np.ndarray or not data.size or follows_mxnet():
        return
    _check_range(operator, data.min(), data.max(), rows)


def _check_range(operator: str, low: Any, high: Any, rows: int) -> None:
    if not (low > -1 and high < rows):  # fractions are truncated, and NaN is outside
        raise OperatorIndexError(
            f"{operator}: expected ids in data from 0 to {rows - 1}, got ids from {low} to {high}"
        )


def embedding_kernel(operator: str) -> Callable[..., None]:
    """Return the reference kernel of an operator that looks up rows, whose errors name it."""

    def kernel(
        xp: ModuleType, out: Any, data: Any, weight: Any, *, input_dim: int, **_: object
    ) -> None:
        if type(data) is np.ndarray and data.size == 1 and not follows_mxnet():
            # The next token of a text. After products that streamed all weights through the
            # processor's caches, each function of NumPy takes ten times as long as usual.
            number = data.item()
            _check_range(operator, number, number, input_dim)
            out[...] = weight[int(number)]
            return
        check_ids(operator, data, input_dim)
        out[...] = weight[_rows(xp, data, input_dim)]

    return kernel


def _gradient(g: V, data: V, weight: V, **attrs: Any) -> tuple[None, Any]:
    return None, lambda: apply(EMBEDDING_BACKWARD, (g, data), attrs)


def _backward_kernel(
    xp: ModuleType, out: Any, grad: Any, data: Any, *, input_dim: int, output_dim: int, **_: object
) -> None:
    wide = scatter_accumulator(grad.dtype)
    total = out if out.dtype == wide else xp.empty(out.shape, dtype=wide)
    total[...] = 0
    rows = _rows(xp, data, input_dim).reshape(-1)
    add_at(xp, total, rows, grad.astype(wide, copy=False).reshape(-1, output_dim))
    if total is not out:
        out[...] = total


def _backward_gradient(g: V, grad: V, data: V, **attrs: Any) -> tuple[Any, None]:
    return apply(EMBEDDING, (data, g), attrs), None


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    data, weight = inputs
    matrix = (attrs["input_dim"], attrs["output_dim"])
    dtype = merge_dtypes(weight.dtype, outputs[0].dtype, "Embedding output") or attrs["dtype"]
    inputs[1] = PartialSpec(merge_shapes(matrix, weight.shape, "Embedding weight"), dtype)
    shape = outputs[0].shape
    if data.shape is not None:
        shape = merge_shapes((*data.shape, matrix[1]), shape, "Embedding output")
    outputs[0] = PartialSpec(shape, dtype)


EMBEDDING = register(
    Operator(
        "Embedding",
        _infer,
        embedding_kernel("Embedding"),
        _gradient,
        doc=(
            "Look up rows of weight by the indices in data.\n\n"
            "Indices may be floats, which are truncated. Those outside [0, input_dim) are an\n"
            "error on CPUs; on GPUs, and under the name mxnet, they read the first or the last\n"
            "row. dtype is used only where the dtype of weight is not known. sparse_grad does\n"
            "not change the result.\n\n"
            "Shapes: data any, weight (input_dim, output_dim), output (*data.shape,\n"
            "output_dim)."
        ),
        inputs=("data", "weight"),
        schema=_SCHEMA,
        aliases=("_npx_embedding", "_sparse_Embedding"),
        shapes=ShapeFacts(complete=_complete),
    )
)

EMBEDDING_BACKWARD = register(
    Operator(
        "_embedding_backward",
        lambda grad, data, *, input_dim, output_dim, **_: (
            Spec((input_dim, output_dim), grad.dtype),
        ),
        _backward_kernel,
        _backward_gradient,
        doc=(
            "Gradient of Embedding's weight: each row of grad is added to the row of its index\n"
            "in data."
        ),
        inputs=("grad", "data"),
        schema=_SCHEMA,
    )
)
