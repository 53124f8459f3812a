"""FullyConnected: y = x W^T + b, on the last axis or on all flattened axes after the first."""

import math
from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer
from gluonish.core.spec import UNKNOWN, PartialSpec, Shape, Spec, merge_shapes
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.linalg.matmul import matmul
from gluonish.ops.reductions.reduction import sum_
from gluonish.ops.registry import Attrs, Operator, V, register
from gluonish.ops.shape.broadcast_to import broadcast_to
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.broadcasting import check_parameter_dtypes, check_same_dtype
from gluonish.ops.support.precision import accumulator, fill_product, total
from gluonish.ops.support.work import by_weight


def _active_inputs(attrs: Attrs) -> tuple[str, ...]:
    return ("data", "weight") if attrs["no_bias"] else ("data", "weight", "bias")


def _features(shape: tuple[int, ...], flatten: bool) -> int:
    if not flatten:
        return shape[-1]
    features = 1
    for extent in shape[1:]:
        features = UNKNOWN if UNKNOWN in (extent, features) else features * extent
    return features


def _mismatch(data: Shape, weight: Shape, num_hidden: int, flatten: bool) -> str:
    """Return the message for a weight that does not fit the data.

    If only the number of features differs, the data is wrong.
    """
    features = _features(data, flatten)
    if len(weight) != 2 or weight[0] != num_hidden:
        return (
            f"FullyConnected: expected weight ({num_hidden}, {features}) for data {data}, got "
            f"{weight}"
        )
    message = (
        f"FullyConnected: expected data with {weight[1]} features, got {features} in data {data}, "
        f"with weight {weight}"
    )
    if flatten and len(data) > 2:
        message += "; all axes but the first are flattened"
        if data[-1] == weight[1]:
            message += ": pass flatten=False for features along the last axis"
    return message


def _infer(
    data: Spec,
    weight: Spec,
    bias: Spec | None = None,
    *,
    num_hidden: int,
    no_bias: bool,
    flatten: bool,
) -> tuple[Spec]:
    if not data.shape:
        raise OperatorError(f"FullyConnected: expected data of at least 1 axis, got {data.shape}")
    features = _features(data.shape, flatten)
    if weight.shape != (num_hidden, features):
        raise OperatorError(_mismatch(data.shape, weight.shape, num_hidden, flatten))
    if bias is not None and bias.shape not in ((num_hidden,), (num_hidden, 1)):
        raise OperatorError(f"FullyConnected: expected bias ({num_hidden},), got {bias.shape}")
    check_parameter_dtypes("FullyConnected", data, weight, bias)
    rows = data.shape[:1] if flatten else data.shape[:-1]
    return (Spec((*rows, num_hidden), data.dtype),)


# Type codes of float32 and float64, which BLAS supports.
_DOT_DTYPES = "fd"


def _kernel(
    xp: ModuleType,
    out: Any,
    data: Any,
    weight: Any,
    bias: Any = None,
    *,
    num_hidden: int,
    no_bias: bool,
    flatten: bool,
) -> None:
    rows = out.size // num_hidden
    if data.ndim == 2 and data.dtype.char in _DOT_DTYPES and out.flags.c_contiguous:
        data.dot(weight.T, out)  # a third of matmul's time for small arrays
    else:
        xp.matmul(data.reshape(rows, weight.shape[1]), weight.T, out=out.reshape(rows, num_hidden))
    if bias is not None:
        xp.add(out, bias.reshape(num_hidden), out=out)


def _gradient(
    g: V,
    data: V,
    weight: V,
    bias: V | None = None,
    *,
    num_hidden: int,
    no_bias: bool,
    flatten: bool,
) -> tuple[Any, ...]:
    features = weight.shape[1]
    count = math.prod(g.shape) // num_hidden
    rows = reshape(g, (count, num_hidden))
    gradients: tuple[Any, ...] = (
        lambda: reshape(matmul(rows, weight), data.shape),
        lambda: matmul(rows, reshape(data, (count, features)), transpose_a=True),
    )
    if bias is None:
        return gradients
    return (*gradients, lambda: _reshape_to_bias(sum_(rows, axis=(0,)), bias))


def _reshape_to_bias(g: V, bias: V) -> V:
    return g if len(bias.shape) == 1 else reshape(g, bias.shape)


def _backward_infer(grad: Spec, data: Spec) -> tuple[Spec, Spec]:
    if len(grad.shape) != 2 or len(data.shape) != 2 or grad.shape[0] != data.shape[0]:
        raise OperatorError(
            "_fully_connected_backward_weight_bias: expected grad (rows, units) and data (rows, "
            f"features), got {grad.shape} and {data.shape}"
        )
    check_same_dtype("_fully_connected_backward_weight_bias", grad, data)
    units = grad.shape[1]
    return Spec((units, data.shape[1]), grad.dtype), Spec((units,), grad.dtype)


def _backward_kernel(xp: ModuleType, outputs: Any, grad: Any, data: Any) -> None:
    weight, bias = outputs
    fill_product(xp, weight, grad.T, data)
    bias[...] = total(xp, grad, (0,), accumulator(grad.dtype)).astype(bias.dtype, copy=False)


def _backward_gradient(g: tuple[V | None, V | None], grad: V, data: V) -> tuple[Any, Any]:
    of_weight, of_bias = g

    def for_grad() -> Any:
        vector = None if of_bias is None else broadcast_to(of_bias, grad.shape)
        if of_weight is None:
            return vector
        product = matmul(data, of_weight, transpose_b=True)
        return product if vector is None else product + vector

    return for_grad, None if of_weight is None else (lambda: matmul(grad, of_weight))


def has_vector_bias(*specs: Spec) -> bool:
    """Whether the bias, if present, is (num_hidden,), not a column."""
    return len(specs) < 3 or len(specs[2].shape) == 1


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    data = inputs[0]
    units = attrs["num_hidden"]
    features = UNKNOWN if data.shape is None else _features(data.shape, attrs["flatten"])
    dtype = next((spec.dtype for spec in (*inputs, *outputs) if spec.dtype is not None), None)
    known: list[Shape | None] = [data.shape, None, None]
    if data.shape == ():
        raise OperatorError("FullyConnected: expected data of at least 1 axis, got ()")
    if data.shape is not None:
        known[1:] = [(units, features), (units,)]
    if len(inputs) > 2 and inputs[2].shape is not None and len(inputs[2].shape) == 2:
        known[2] = (units, 1)
    for i, spec in enumerate(inputs):
        shape = merge_shapes(known[i], spec.shape, f"FullyConnected input {i}")
        inputs[i] = PartialSpec(shape, spec.dtype or dtype)
    outputs[0] = PartialSpec(outputs[0].shape, outputs[0].dtype or dtype)
    if data.shape is None:
        return
    # Data and output have the same rows, so either can be inferred from the other.
    width = 1 if attrs["flatten"] else len(data.shape) - 1
    rows = merge_shapes((*data.shape[:width], units), outputs[0].shape, "FullyConnected output")
    outputs[0] = PartialSpec(rows, outputs[0].dtype or dtype)
    if rows is not None:
        inputs[0] = PartialSpec((*rows[:width], *data.shape[width:]), inputs[0].dtype)
    outputs[0] = PartialSpec(outputs[0].shape, outputs[0].dtype or dtype)


FULLY_CONNECTED = register(
    Operator(
        "FullyConnected",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "data times the transposed weight, plus bias: a dense layer.\n\n"
            "With flatten all axes of data after the first are flattened; without it the layer\n"
            "applies to the last axis.\n\n"
            "Shapes: data (N, ...), weight (num_hidden, features), bias (num_hidden,) or\n"
            "(num_hidden, 1), output (N, num_hidden); with flatten=False data (..., features),\n"
            "output (..., num_hidden)."
        ),
        inputs=("data", "weight", "bias"),
        active_inputs=_active_inputs,
        schema=Schema(num_hidden=integer(low=1), no_bias=boolean(False), flatten=boolean(True)),
        aliases=("_sparse_FullyConnected", "_npx_fully_connected"),
        shapes=ShapeFacts(complete=_complete),
        execution=Execution(heavy=by_weight),
    )
)

FULLY_CONNECTED_BACKWARD_WEIGHT_BIAS = register(
    Operator(
        "_fully_connected_backward_weight_bias",
        _backward_infer,
        _backward_kernel,
        _backward_gradient,
        doc=(
            "Gradients of FullyConnected's weight and bias, from the output's gradient and the\n"
            "data.\n\n"
            "Shapes: grad (rows, num_hidden), data (rows, features), weight (num_hidden,\n"
            "features), bias (num_hidden,)."
        ),
        inputs=("grad", "data"),
        schema=Schema(),
        outputs=2,
        output_names=("weight", "bias"),
        execution=Execution(heavy=True),
    )
)
