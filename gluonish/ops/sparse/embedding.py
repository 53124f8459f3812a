"""_contrib_SparseEmbedding: Embedding with a row-sparse gradient of the weight.

_sparse_adagrad_update: AdaGrad, which updates only the rows stored in a row-sparse gradient.
"""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, number
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.nn.embedding import EMBEDDING, embedding_kernel
from gluonish.ops.registry import Operator, V, register
from gluonish.ops.support.dtype_rules import dtype_rule
from gluonish.ops.updates.rules import ADAGRAD, apply_rule
from gluonish.ops.updates.update import check_arrays


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
        embedding_kernel("_contrib_SparseEmbedding"),
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


_NAME = "_sparse_adagrad_update"


def _infer_adagrad(weight: Spec, grad: Spec, history: Spec, **attrs: Any) -> tuple[Spec]:
    if attrs["wd"] != 0:
        raise OperatorError(f"{_NAME}: expected wd 0, got {attrs['wd']}; apply weight decay before")
    if not is_floating(weight.dtype):
        raise OperatorError(f"{_NAME}: expected a floating-point weight, got {weight.dtype.name}")
    return (check_arrays(_NAME, (weight, grad, history), mixed=False),)


def _kernel(
    xp: ModuleType,
    out: Any,
    weight: Any,
    grad: Any,
    history: Any,
    *,
    lr: float,
    wd: float,
    **scalars: Any,
) -> None:
    apply_rule(xp, ADAGRAD, out, (weight, grad, history), False, (lr, wd), scalars)


ADAGRAD_UPDATE = register(
    Operator(
        _NAME,
        _infer_adagrad,
        _kernel,
        None,
        doc=(
            "Take one step of AdaGrad: return the new weight, and update history in place.\n\n"
            "Rows that a row-sparse grad does not store do not change. wd exists for\n"
            "compatibility with MXNet, and must be 0.\n\n"
            "Shapes: all that of the weight."
        ),
        inputs=("weight", "grad", "history"),
        schema=Schema(
            lr=number(),
            epsilon=number(1e-7),
            wd=number(0.0),
            rescale_grad=number(1.0),
            clip_gradient=number(-1.0),
        ),
        execution=Execution(mutates=(2,), elementwise=True),
        shapes=ShapeFacts(complete=dtype_rule(0, 1)),
    )
)
