"""LinearRegressionOutput, LogisticRegressionOutput and MAERegressionOutput.

SVMOutput: scores with the gradient of a one-against-all hinge loss.
"""

import math
from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, choice, number
from gluonish.core.spec import UNKNOWN, PartialSpec, Shape, Spec
from gluonish.ops.elementwise.unary import SIGMOID
from gluonish.ops.facts import Gradient, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.support.broadcasting import check_same_dtype
from gluonish.ops.support.precision import widen

_KINDS = ("difference", "sign")


def _label_shape(data: Shape) -> Shape:
    """Return the inferred label shape; for a column (N, 1) it is (N,)."""
    return data[:1] if len(data) == 2 and data[1] == 1 else data


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], _attrs: Attrs) -> None:
    data, label = inputs
    shape = data.shape or outputs[0].shape
    dtype = data.dtype or outputs[0].dtype or label.dtype
    inputs[0] = outputs[0] = PartialSpec(shape, dtype)
    if label.shape is None and shape is not None and UNKNOWN not in shape:
        label = PartialSpec(_label_shape(shape), label.dtype)
    inputs[1] = PartialSpec(label.shape, label.dtype or dtype)


def _copy(xp: ModuleType, out: Any, data: Any) -> None:
    out[...] = data


def _sigmoid(xp: ModuleType, out: Any, data: Any) -> None:
    SIGMOID.operator.kernel(xp, out, data)


def _family(name: str, word: str, link: Any, kind: str) -> Operator:
    """Register the output operator of one loss.

    Args:
        word: Output and gradient, for the docstring.
        link: ``link(xp, out, data)`` fills the output.
        kind: Whether the gradient is the difference ``output - label`` or its sign.
    """

    def infer(data: Spec, label: Spec, *, grad_scale: float) -> tuple[Spec]:
        check_same_dtype(name, data, label)
        if not is_floating(data.dtype) or not data.shape:
            raise OperatorError(f"{name}: expected floating data of at least 1 axis, got {data}")
        if label.size != data.size or label.shape[:1] != data.shape[:1]:
            raise OperatorError(
                f"{name}: expected label {_label_shape(data.shape)} for data {data.shape}, or "
                f"as many values for each sample, got {label.shape}"
            )
        return (data,)

    def kernel(xp: ModuleType, out: Any, data: Any, label: Any, *, grad_scale: float) -> None:
        link(xp, out, data)

    def gradient(g: V | None, data: V, label: V, out: V, *, grad_scale: float) -> tuple[Any, None]:
        return apply(_BACKWARD, (out, label), {"grad_scale": grad_scale, "kind": kind}), None

    return register(
        Operator(
            name,
            infer,
            kernel,
            Gradient(gradient, uses_output=True, ignores_head_gradient=True),
            doc=(
                f"{word}.\n\n"
                "The gradient is multiplied by grad_scale and divided by the number of values\n"
                "per sample; the head gradient is ignored.\n\n"
                "Shapes: data (N, ...), label (N, ...) with the same number of values, such as\n"
                "(N,) for data (N, 1), output that of data."
            ),
            inputs=("data", "label"),
            schema=Schema(grad_scale=number(1.0)),
            aliases=(f"_sparse_{name}",),
            shapes=ShapeFacts(complete=_complete),
        )
    )


def _backward_kernel(
    xp: ModuleType, result: Any, out: Any, label: Any, *, grad_scale: float, kind: str
) -> None:
    wide = widen(out)
    difference = wide - widen(label).reshape(out.shape)
    if kind == "sign":
        difference = xp.where(difference > 0, wide.dtype.type(1), wide.dtype.type(-1))
    values = max(1, math.prod(out.shape[1:]))
    result[...] = difference * wide.dtype.type(grad_scale / values)


_BACKWARD = register(
    Operator(
        "_regression_output_backward",
        lambda out, label, **_: (out,),
        _backward_kernel,
        None,
        doc="The gradient of a regression output's data.",
        inputs=("out", "label"),
        schema=Schema(grad_scale=number(1.0), kind=choice(*_KINDS)),
    )
)

LINEAR_REGRESSION_OUTPUT = _family(
    "LinearRegressionOutput", "data itself, with gradient data - label", _copy, "difference"
)
LOGISTIC_REGRESSION_OUTPUT = _family(
    "LogisticRegressionOutput",
    "sigmoid of data, with gradient sigmoid - label",
    _sigmoid,
    "difference",
)
MAE_REGRESSION_OUTPUT = _family(
    "MAERegressionOutput", "data itself, with gradient 1 where data > label, else -1", _copy, "sign"
)


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
    return apply(_SVM_OUTPUT_BACKWARD, (data, label), attrs), None


def _backward_kernel_svm_output(
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


def _complete_svm_output(
    inputs: list[PartialSpec], outputs: list[PartialSpec], _attrs: Attrs
) -> None:
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
        shapes=ShapeFacts(complete=_complete_svm_output),
    )
)

_SVM_OUTPUT_BACKWARD = register(
    Operator(
        "_svm_output_backward",
        lambda data, label, **_: (data,),
        _backward_kernel_svm_output,
        None,
        doc="The gradient of SVMOutput's data.",
        inputs=("data", "label"),
        schema=_SCHEMA,
    )
)
