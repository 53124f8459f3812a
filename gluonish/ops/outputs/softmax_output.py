"""Softmax with the gradient of a cross-entropy loss."""

import math
from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, choice, number
from gluonish.core.spec import UNKNOWN, PartialSpec, Shape, Spec, merge_shapes
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.indexing.pick import along_grid, pick
from gluonish.ops.indexing.take import integer_indices
from gluonish.ops.nn.softmax import SOFTMAX, log_softmax
from gluonish.ops.reductions.reduction import sum_
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.broadcasting import check_same_dtype, complete_same
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.dtype_rules import dtype_rule
from gluonish.ops.support.precision import check_number, in_dtype, widen

_SCHEMA = Schema(
    grad_scale=number(1.0),
    ignore_label=number(-1.0),
    multi_output=boolean(False),
    use_ignore=boolean(False),
    preserve_shape=boolean(False),
    normalization=choice("batch", "null", "valid", default="null"),
    out_grad=boolean(False),
    smooth_alpha=number(0.0),
)


def _matrix_shape(data: Shape, attrs: Attrs) -> Shape:
    """Return the data's shape as (outer, classes, inner); there are outer * inner distributions."""
    if attrs["multi_output"]:
        return (data[0], data[1], math.prod(data[2:]))
    if attrs["preserve_shape"]:
        return (math.prod(data[:-1]), data[-1], 1)
    return (data[0], math.prod(data[1:]), 1)


def _label_shapes(data: Shape, attrs: Attrs) -> tuple[Shape, ...]:
    """Return the valid label shapes; the first is the inferred one."""
    if attrs["multi_output"]:
        return ((data[0], math.prod(data[2:])), (data[0], *data[2:]), (data[0], 1, *data[2:]), data)
    return data[:-1], data


def _infer(data: Spec, label: Spec, **attrs: Any) -> tuple[Spec]:
    if len(data.shape) < 2 or not is_floating(data.dtype):
        raise OperatorError(f"SoftmaxOutput: expected floating data of 2 axes or more, got {data}")
    expected = _label_shapes(data.shape, attrs)
    if label.shape not in expected:
        raise OperatorError(
            f"SoftmaxOutput: expected label {' or '.join(map(str, expected))} for data "
            f"{data.shape}, "
            f"got {label.shape}"
        )
    check_number("SoftmaxOutput", label.dtype, attrs["ignore_label"])
    return (data,)


def _kernel(xp: ModuleType, out: Any, data: Any, label: Any, **attrs: Any) -> None:
    shape = _matrix_shape(data.shape, attrs)
    SOFTMAX.kernel(xp, out.reshape(shape), data.reshape(shape), axis=1, temperature=None)


def _gradient(g: V | None, data: V, label: V, out: V, **attrs: Any) -> tuple[Any, None]:
    if g is None and attrs["out_grad"]:
        return None, None
    inputs = (out, label, g) if attrs["out_grad"] else (out, label)
    return apply(_BACKWARD, inputs, attrs), None


def _targets(xp: ModuleType, rows: Shape, label: Any, alpha: float, dtype: Any) -> Any:
    """Return the target distribution of each label; zero for labels that are not classes."""
    classes = rows[1]
    index = xp.arange(classes, dtype=xp.int64).reshape(1, -1, 1)
    hit = index == label.astype(xp.int64)
    if not alpha:
        return hit.astype(dtype)
    rest = alpha / max(1, classes - 1)
    return xp.where(hit, dtype.type(1 - alpha), dtype.type(rest))


def _backward_kernel(
    xp: ModuleType, result: Any, out: Any, label: Any, head: Any = None, **attrs: Any
) -> None:
    if not out.size:
        return
    rows = _matrix_shape(out.shape, attrs)
    grad = widen(out.reshape(rows))
    dtype = grad.dtype
    divisor: Any = 1
    if label.shape == out.shape:
        grad = grad - widen(label).reshape(rows).astype(dtype)
    else:
        # Of a label with more elements than distributions, only the first ones are used.
        labels = label.reshape(-1)[: rows[0] * rows[2]].reshape(rows[0], 1, rows[2])
        alpha = 0.0 if attrs["multi_output"] else attrs["smooth_alpha"]
        grad = grad - _targets(xp, rows, labels, alpha, dtype)
        ignored = labels == in_dtype(labels.dtype, attrs["ignore_label"])
        if attrs["use_ignore"]:
            grad *= ~ignored
        divisor = _divisor(xp, label, rows, attrs)
    grad *= dtype.type(attrs["grad_scale"])
    grad /= dtype.type(divisor) if isinstance(divisor, int) else divisor.astype(dtype)
    if head is not None:
        grad *= widen(head).reshape(rows)
    result[...] = grad.reshape(result.shape)


def _divisor(xp: ModuleType, label: Any, rows: Shape, attrs: Attrs) -> Any:
    kind = attrs["normalization"]
    if kind == "valid":
        valid = label != in_dtype(label.dtype, attrs["ignore_label"])
        return xp.maximum(valid.sum(), 1)
    if kind == "batch":
        return max(1, label.size)
    return max(1, rows[2])


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    data, label = inputs
    shape = data.shape or outputs[0].shape
    dtype = data.dtype or outputs[0].dtype
    inputs[0] = outputs[0] = PartialSpec(shape, dtype)
    if shape is not None and len(shape) > 1 and (label.shape is None or UNKNOWN in label.shape):
        found = _label_shapes(shape, attrs)[0]
        if attrs["multi_output"] and UNKNOWN in shape[2:]:
            found = (shape[0], UNKNOWN)
        if label.shape is None or len(label.shape) == len(found):
            label = PartialSpec(merge_shapes(found, label.shape, "label"), label.dtype)
    inputs[1] = PartialSpec(label.shape, label.dtype or dtype)


SOFTMAX_OUTPUT = register(
    Operator(
        "SoftmaxOutput",
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True, ignores_head_gradient=True),
        doc=(
            "softmax of data, with the gradient of a cross-entropy loss.\n\n"
            "With multi_output the classes are along axis 1, with preserve_shape along the last\n"
            "axis. A label of data's shape holds probabilities. The gradient is (output -\n"
            "label) * grad_scale; the head gradient is ignored, unless out_grad multiplies by\n"
            "it. normalization divides it by the number of labels (batch), or by the\n"
            "number of labels that are not ignore_label (valid). smooth_alpha is the\n"
            "probability moved from the label to the other classes.\n\n"
            "Shapes: data (N, K), label (N,) of class indices, output that of data; with\n"
            "multi_output data (N, K, ...), label (N, ...)."
        ),
        inputs=("data", "label"),
        schema=_SCHEMA,
        aliases=("Softmax",),
        shapes=ShapeFacts(complete=_complete),
        execution=Execution(heavy=True),
    )
)

_BACKWARD = register(
    Operator(
        "_softmax_output_backward",
        lambda out, label, head=None, **_: (out,),
        _backward_kernel,
        None,
        doc="The gradient of SoftmaxOutput's data.",
        inputs=("out", "label", "head"),
        active_inputs=lambda attrs: ("out", "label", "head")[: 3 if attrs["out_grad"] else 2],
        schema=_SCHEMA,
        execution=Execution(heavy=True),
    )
)


def _infer_softmax_activation(data: Spec, *, mode: str) -> tuple[Spec]:
    least = 3 if mode == "channel" else 1
    if len(data.shape) < least or not is_floating(data.dtype):
        raise OperatorError(
            f"SoftmaxActivation: expected floating data of at least {least} axes with mode "
            f"{mode!r}, got {data}"
        )
    return (data,)


def _axis(mode: str) -> int:
    return 1 if mode == "channel" else -1


def _softmax_activation_kernel(xp: ModuleType, out: Any, data: Any, *, mode: str) -> None:
    SOFTMAX.kernel(xp, out, data, axis=_axis(mode), temperature=None)


def _softmax_activation_gradient(g: V, data: V, out: V, *, mode: str) -> tuple[Any]:
    weighted = g * out
    return (weighted - out * sum_(weighted, (_axis(mode),), keepdims=True),)


SOFTMAX_ACTIVATION = register(
    Operator(
        "SoftmaxActivation",
        _infer_softmax_activation,
        _softmax_activation_kernel,
        Gradient(_softmax_activation_gradient, uses_output=True),
        doc=(
            "softmax of data: over the last axis (instance), or over axis 1 at each position\n"
            "(channel).\n\n"
            "Shapes: data (N, ...), or (N, C, ...) for channel, output the same."
        ),
        schema=Schema(mode=choice("channel", "instance", default="instance")),
        shapes=ShapeFacts(complete=complete_same),
        execution=Execution(heavy=True),
    )
)


def _infer_softmax_cross_entropy(data: Spec, label: Spec) -> tuple[Spec]:
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


def _softmax_cross_entropy_kernel(xp: ModuleType, out: Any, data: Any, label: Any) -> None:
    wide = widen(data)
    classes = integer_indices(xp, "softmax_cross_entropy", label, data.shape[1])
    top = wide.max(axis=1, keepdims=True)
    total = xp.log(xp.exp(wide - top).sum(axis=1)) + top[:, 0]
    out[...] = (total - wide[along_grid(xp, classes[:, None], 1)][:, 0]).sum()


def _loss(data: V, label: V) -> Any:
    return reshape(-sum_(pick(log_softmax(data), label)), (1,))


def _softmax_cross_entropy_complete(
    inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs
) -> None:
    _alike(inputs, outputs, attrs)
    outputs[0] = PartialSpec((1,), outputs[0].dtype)


_alike = dtype_rule(0, 1)

SOFTMAX_CROSS_ENTROPY = register(
    Operator(
        "softmax_cross_entropy",
        _infer_softmax_cross_entropy,
        _softmax_cross_entropy_kernel,
        composite_gradient(_loss),
        doc=(
            "Cross-entropy of softmax(data) with the classes in label, summed over the batch.\n\n"
            "Class indices out of range mean the nearest class.\n\n"
            "Shapes: data (N, K), label (N,), output (1,)."
        ),
        inputs=("data", "label"),
        shapes=ShapeFacts(complete=_softmax_cross_entropy_complete),
        execution=Execution(heavy=True),
    )
)
