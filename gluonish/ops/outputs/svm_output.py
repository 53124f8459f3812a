"""SVMOutput: scores with the gradient of a one-against-all hinge loss."""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, number
from gluonish.core.spec import UNKNOWN, PartialSpec, Spec
from gluonish.ops.facts import Gradient, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.support.precision import widen

_SCHEMA = Schema(
    margin=number(1.0), regularization_coefficient=number(1.0), use_linear=boolean(False)
)


def _infer(data: Spec, label: Spec, **_: object) -> tuple[Spec]:
    if len(data.shape) < 2 or not is_floating(data.dtype):
        raise OperatorError(f"SVMOutput: expected floating data of 2 axes or more, got {data}")
    if label.shape != data.shape[:-1]:
        raise OperatorError(
            f"SVMOutput: expected label {data.shape[:-1]} for data {data.shape}, got {label.shape}"
        )
    return (data,)


def _kernel(xp: ModuleType, out: Any, data: Any, label: Any, **_: object) -> None:
    out[...] = data


def _gradient(g: V | None, data: V, label: V, **attrs: Any) -> tuple[Any, None]:
    return apply(_BACKWARD, (data, label), attrs), None


def _backward_kernel(
    xp: ModuleType,
    result: Any,
    data: Any,
    label: Any,
    *,
    margin: float,
    regularization_coefficient: float,
    use_linear: bool,
) -> None:
    scores = widen(data)
    dtype = scores.dtype
    classes = xp.arange(data.shape[-1], dtype=xp.int64)
    # +1 for the class of the label, -1 for the others: the side on which the score should lie.
    side = xp.where(label.astype(xp.int64)[..., None] == classes, dtype.type(1), dtype.type(-1))
    missing = dtype.type(margin) - side * scores
    strength = (missing > 0).astype(dtype) if use_linear else xp.maximum(missing, 0) * dtype.type(2)
    result[...] = side * strength * dtype.type(-regularization_coefficient)


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], _attrs: Attrs) -> None:
    data, label = inputs
    shape = data.shape or outputs[0].shape
    dtype = data.dtype or outputs[0].dtype
    inputs[0] = outputs[0] = PartialSpec(shape, dtype)
    if label.shape is None and shape is not None and UNKNOWN not in shape:
        label = PartialSpec(shape[:-1], label.dtype)
    inputs[1] = PartialSpec(label.shape, label.dtype or dtype)


SVM_OUTPUT = register(
    Operator(
        "SVMOutput",
        _infer,
        _kernel,
        Gradient(_gradient, ignores_head_gradient=True),
        doc=(
            "data itself, with the gradient of a hinge loss; the head gradient is ignored.\n\n"
            "The score of the label's class should be above margin, every other score below\n"
            "-margin. The loss is the square of the amount by which a score misses that, or\n"
            "with use_linear the amount itself, times regularization_coefficient.\n\n"
            "Shapes: data (..., K) of scores, label (...) of class indices, output that of\n"
            "data."
        ),
        inputs=("data", "label"),
        schema=_SCHEMA,
        shapes=ShapeFacts(complete=_complete),
    )
)

_BACKWARD = register(
    Operator(
        "_svm_output_backward",
        lambda data, label, **_: (data,),
        _backward_kernel,
        None,
        doc="The gradient of SVMOutput's data.",
        inputs=("data", "label"),
        schema=_SCHEMA,
    )
)
