"""_contrib_SparseEmbedding: Embedding with a row-sparse gradient of the weight."""

from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean
from gluonish.core.spec import Spec
from gluonish.ops.facts import ShapeFacts
from gluonish.ops.nn.embedding import EMBEDDING
from gluonish.ops.registry import Operator, V, register


def _infer(
    data: Spec, weight: Spec, *, input_dim: int, output_dim: int, **_: object
) -> tuple[Spec]:
    if weight.shape != (input_dim, output_dim):
        raise OperatorError(
            f"_contrib_SparseEmbedding: expected weight ({input_dim}, {output_dim}), got "
            f"{weight.shape}"
        )
    return (Spec((*data.shape, output_dim), weight.dtype),)


def _gradient(g: V, data: V, weight: V, *, deterministic: bool, **attrs: Any) -> Any:
    assert EMBEDDING.gradient is not None
    return EMBEDDING.gradient(g, data, weight, **{**attrs, "sparse_grad": True})


SPARSE_EMBEDDING = register(
    Operator(
        "_contrib_SparseEmbedding",
        _infer,
        EMBEDDING.kernel,
        _gradient,
        doc=(
            "Look up rows of weight by the indices in data; the gradient of weight is\n"
            "row-sparse.\n\n"
            "Attributes are as in Embedding; sparse_grad and deterministic are always on.\n\n"
            "Shapes: data any, weight (input_dim, output_dim), output (*data.shape,\n"
            "output_dim)."
        ),
        inputs=("data", "weight"),
        schema=Schema(**EMBEDDING.schema.attributes, deterministic=boolean(False)),
        shapes=ShapeFacts(complete=EMBEDDING.complete),
    )
)
