"""softmax_cross_entropy: the loss of a whole batch as one number."""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.spec import PartialSpec, Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.indexing.pick import along_grid, pick
from gluonish.ops.indexing.take import whole_positions
from gluonish.ops.nn.softmax import log_softmax
from gluonish.ops.reductions.reduction import sum_
from gluonish.ops.registry import Attrs, Operator, V, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.broadcasting import check_same_dtype
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.dtype_rules import dtype_rule
from gluonish.ops.support.precision import widen

__all__ = ["SOFTMAX_CROSS_ENTROPY"]


def _infer(data: Spec, label: Spec) -> tuple[Spec]:
    check_same_dtype("softmax_cross_entropy", data, label)
    if len(data.shape) != 2 or not data.shape[1] or not is_floating(data.dtype):
        raise OperatorError(
            f"softmax_cross_entropy: expected floating data (N, K) with classes, got {data}"
        )
    if label.shape != data.shape[:1]:
        raise OperatorError(
            f"softmax_cross_entropy: expected label {data.shape[:1]} for data {data.shape}, "
            f"got {label.shape}"
        )
    return (Spec((1,), data.dtype),)


def _kernel(xp: ModuleType, out: Any, data: Any, label: Any) -> None:
    wide = widen(data)
    classes = whole_positions(xp, "softmax_cross_entropy", label, data.shape[1])
    top = wide.max(axis=1, keepdims=True)
    total = xp.log(xp.exp(wide - top).sum(axis=1)) + top[:, 0]
    out[...] = (total - wide[along_grid(xp, classes[:, None], 1)][:, 0]).sum()


def _loss(data: V, label: V) -> Any:
    return reshape(-sum_(pick(log_softmax(data), label)), (1,))


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    _alike(inputs, outputs, attrs)
    outputs[0] = PartialSpec((1,), outputs[0].dtype)


_alike = dtype_rule(0, 1)

SOFTMAX_CROSS_ENTROPY = register(
    Operator(
        "softmax_cross_entropy",
        _infer,
        _kernel,
        composite_gradient(_loss),
        doc=(
            "Cross-entropy of softmax(data) with the classes in label, summed over the batch.\n\n"
            "Class indices out of range mean the nearest class.\n\n"
            "Shapes: data (N, K), label (N,), output (1,)."
        ),
        inputs=("data", "label"),
        shapes=ShapeFacts(complete=_complete),
        execution=Execution(heavy=True),
    )
)
