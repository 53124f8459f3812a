"""weight_only_dense: a dense layer whose weight is 8-bit integers times scales.

``y = x (scale q)^T + b`` with a scale for each row of q, or for each group of elements of a row.
Data, sums and results are floating: only the weight is quantized, which is what one-token products
read. No kernel holds more of the floating weight than a block of rows or columns. The gradients of
data and scale, and those of these, are the same three products with other arguments.
"""

import math
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from gluonish.core.dtype import INT8, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer, optional
from gluonish.core.spec import UNKNOWN, PartialSpec, Shape, Spec, merge_shapes
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.reductions.reduction import sum_
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.precision import accumulator, product, widen
from gluonish.ops.support.work import by_data, by_weight

_NAME = "weight_only_dense"
_BLOCK = 1 << 20  # elements of the weight that are floating at once


def features_of(shape: Shape, flatten: bool) -> int:
    """Return the number of features of each row of data."""
    if not flatten:
        return shape[-1]
    return UNKNOWN if UNKNOWN in shape[1:] else math.prod(shape[1:])


def _scale_shape(units: int, features: int, group_size: int | None) -> Shape:
    if group_size is None:
        return (units,)
    return (units, UNKNOWN if features == UNKNOWN else features // group_size)


def _infer(
    data: Spec,
    weight: Spec,
    scale: Spec,
    bias: Spec | None = None,
    *,
    num_hidden: int,
    no_bias: bool,
    flatten: bool,
    group_size: int | None,
) -> tuple[Spec]:
    if not data.shape or not is_floating(data.dtype):
        raise OperatorError(f"{_NAME}: expected floating data of at least 1 axis, got {data}")
    features = features_of(data.shape, flatten)
    expected = Spec((num_hidden, features), INT8)
    if weight != expected:
        raise OperatorError(f"{_NAME}: expected weight {expected} for data {data}, got {weight}")
    if group_size is not None and features % group_size:
        raise OperatorError(
            f"{_NAME}: expected group_size that divides {features} features, got {group_size}"
        )
    _check_scale(_NAME, data, scale, _scale_shape(num_hidden, features, group_size))
    if bias is not None and bias != Spec((num_hidden,), data.dtype):
        raise OperatorError(f"{_NAME}: expected bias {Spec((num_hidden,), data.dtype)}, got {bias}")
    rows = data.shape[:1] if flatten else data.shape[:-1]
    return (Spec((*rows, num_hidden), data.dtype),)


def _check_scale(name: str, data: Spec, scale: Spec, shape: Shape) -> None:
    wide = accumulator(data.dtype)
    if scale.shape != shape or scale.dtype not in (wide, data.dtype):
        raise OperatorError(f"{name}: expected scale {Spec(shape, wide)}, got {scale}")


def _blocks(count: int, width: int) -> Iterator[slice]:
    """Yield slices of ``count`` rows of ``width`` elements; a slice has at most `_BLOCK`."""
    step = max(1, _BLOCK // max(1, width))
    for start in range(0, count, step):
        yield slice(start, min(count, start + step))


def _floating(weight: Any, scale: Any, dtype: Any) -> Any:
    """Return rows of the weight times their scales."""
    made = weight.astype(dtype)
    if not made.size:
        return made
    if scale.ndim == 1:
        made *= scale[:, None]
    else:
        grouped = made.reshape(*scale.shape, -1)
        grouped *= scale[..., None]
    return made


def _kernel(
    xp: ModuleType,
    out: Any,
    data: Any,
    weight: Any,
    scale: Any,
    bias: Any = None,
    **_: object,
) -> None:
    units, features = weight.shape
    rows = widen(data).reshape(out.size // units, features)
    made = xp.empty((len(rows), units), rows.dtype)
    scale = widen(scale)
    for block in _blocks(units, features):
        made[:, block] = product(xp, rows, _floating(weight[block], scale[block], rows.dtype).T)
    if bias is not None:
        made += widen(bias)
    out[...] = made.reshape(out.shape)


def _gradient(
    g: V, data: V, weight: V, scale: V, bias: V | None = None, *, flatten: bool, **_: object
) -> tuple[Any, ...]:
    units, features = weight.shape
    count = math.prod(g.shape) // units
    rows = reshape(g, (count, units))
    gradients: tuple[Any, ...] = (
        lambda: reshape(apply(BACKWARD_DATA, (rows, weight, scale), {}), data.shape),
        None,
        lambda: apply(
            BACKWARD_SCALE,
            (rows, reshape(data, (count, features)), weight, scale),
            {},
        ),
    )
    return gradients if bias is None else (*gradients, lambda: sum_(rows, axis=(0,)))


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    data, out, units = inputs[0], outputs[0], attrs["num_hidden"]
    flatten = attrs["flatten"]
    dtype = data.dtype or out.dtype or (inputs[3].dtype if len(inputs) > 3 else None)
    features = UNKNOWN if not data.shape else features_of(data.shape, flatten)
    if features == UNKNOWN and inputs[1].shape is not None and len(inputs[1].shape) == 2:
        features = inputs[1].shape[1]
    group_size = attrs["group_size"]
    shapes = (units, features), _scale_shape(units, features, group_size), (units,)
    dtypes = INT8, None if dtype is None else accumulator(dtype), dtype
    inputs[0] = PartialSpec(data.shape, dtype)
    for i, spec in enumerate(inputs[1:]):
        shape = merge_shapes(shapes[i], spec.shape, f"{_NAME} input {i + 1}")
        inputs[i + 1] = PartialSpec(shape, spec.dtype or dtypes[i])
    rows = out.shape
    if data.shape is not None:
        width = 1 if flatten else len(data.shape) - 1
        rows = merge_shapes((*data.shape[:width], units), out.shape, f"{_NAME} output")
    outputs[0] = PartialSpec(rows, dtype)


_INPUTS = ("data", "weight", "scale", "bias")

WEIGHT_ONLY_DENSE = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Dense layer with a weight of 8-bit integers: data times the transpose of weight *\n"
            "scale, plus bias.\n\n"
            "There is a scale for each row of weight or, with group_size, for each group of so\n"
            "many elements of a row. Products are summed in float32 and rounded once; the whole\n"
            "floating weight never exists. Data, scale and bias have gradients.\n\n"
            "Shapes: data (N, ...), weight (num_hidden, features) of int8, scale (num_hidden,) or\n"
            "(num_hidden, features / group_size) of float32 (float64 for float64 data), bias\n"
            "(num_hidden,), output (N, num_hidden); with flatten=False data (..., features),\n"
            "output (..., num_hidden)."
        ),
        inputs=_INPUTS,
        active_inputs=lambda attrs: _INPUTS[:3] if attrs["no_bias"] else _INPUTS,
        schema=Schema(
            num_hidden=integer(low=1),
            no_bias=boolean(False),
            flatten=boolean(True),
            group_size=optional(integer(low=1)),
        ),
        aliases=("_npx_weight_only_dense",),
        shapes=ShapeFacts(complete=_complete),
        execution=Execution(heavy=by_weight),
    )
)


def _check_rows(name: str, grad: Spec, weight: Spec, scale: Spec) -> None:
    """Check the inputs that both gradients have.

    Raises:
        OperatorError: The message says what was expected.
    """
    units = weight.shape[0] if weight.shape else 0
    if len(weight.shape) != 2 or weight.dtype != INT8 or len(grad.shape) != 2:
        raise OperatorError(
            f"{name}: expected grad (rows, units) and weight (units, features) of int8, got "
            f"{grad} and {weight}"
        )
    if not is_floating(grad.dtype) or grad.shape[1] != units:
        raise OperatorError(f"{name}: expected floating grad (rows, {units}), got {grad}")
    groups = scale.shape[1] if len(scale.shape) == 2 else None
    features = weight.shape[1]
    if groups is not None and (features % groups if groups else features):
        raise OperatorError(f"{name}: expected scale that divides rows of {weight}, got {scale}")
    _check_scale(name, grad, scale, (units,) if groups is None else (units, groups))


def _data_infer(grad: Spec, weight: Spec, scale: Spec) -> tuple[Spec]:
    _check_rows("_weight_only_dense_backward_data", grad, weight, scale)
    return (Spec((grad.shape[0], weight.shape[1]), grad.dtype),)


def _data_kernel(xp: ModuleType, out: Any, grad: Any, weight: Any, scale: Any) -> None:
    rows, scale = widen(grad), widen(scale)
    units, features = weight.shape
    made = xp.zeros((len(rows), features), rows.dtype)
    for block in _blocks(units, features):
        made += product(xp, rows[:, block], _floating(weight[block], scale[block], rows.dtype))
    out[...] = made


def _data_gradient(g: V, grad: V, weight: V, scale: V) -> tuple[Any, ...]:
    return (
        lambda: _forward(g, weight, scale),
        None,
        lambda: apply(BACKWARD_SCALE, (grad, g, weight, scale), {}),
    )


def _forward(rows: V, weight: V, scale: V) -> V:
    units, features = weight.shape
    group_size = None
    if len(scale.shape) == 2:
        group_size = features // scale.shape[1] if features else 1
    attrs = {"num_hidden": units, "no_bias": True, "flatten": False, "group_size": group_size}
    made: V = apply(WEIGHT_ONLY_DENSE, (rows, weight, scale), attrs)
    return made


BACKWARD_DATA = register(
    Operator(
        "_weight_only_dense_backward_data",
        _data_infer,
        _data_kernel,
        _data_gradient,
        doc=(
            "Gradient of weight_only_dense's data: grad times weight * scale.\n\n"
            "Shapes: grad (rows, units), weight (units, features), scale (units,) or (units,\n"
            "groups), output (rows, features)."
        ),
        inputs=("grad", "weight", "scale"),
        schema=Schema(),
        execution=Execution(heavy=by_data),
    )
)


def _scale_infer(grad: Spec, data: Spec, weight: Spec, scale: Spec) -> tuple[Spec]:
    name = "_weight_only_dense_backward_scale"
    _check_rows(name, grad, weight, scale)
    expected = Spec((grad.shape[0], weight.shape[1]), grad.dtype)
    if data != expected:
        raise OperatorError(f"{name}: expected data {expected}, got {data}")
    return (scale,)


def _scale_kernel(xp: ModuleType, out: Any, grad: Any, data: Any, weight: Any, scale: Any) -> None:
    rows, data = widen(grad), widen(data)
    units, features = weight.shape
    size = features // max(1, math.prod(scale.shape[1:]))  # of a group
    for block in _blocks(units, features):
        made = product(xp, rows[:, block].T, data) * weight[block]
        out[block] = made.reshape(*scale[block].shape, size).sum(axis=-1)


def _scale_gradient(g: V, grad: V, data: V, weight: V, scale: V) -> tuple[Any, ...]:
    return (
        lambda: _forward(data, weight, g),
        lambda: apply(BACKWARD_DATA, (grad, weight, g), {}),
        None,
        None,
    )


BACKWARD_SCALE = register(
    Operator(
        "_weight_only_dense_backward_scale",
        _scale_infer,
        _scale_kernel,
        _scale_gradient,
        doc=(
            "Gradient of weight_only_dense's scale: sums of (grad^T data) * weight over the\n"
            "elements that share a scale. Of scale only the shape and the dtype are used.\n\n"
            "Shapes: grad (rows, units), data (rows, features), weight (units, features), scale\n"
            "and output (units,) or (units, groups)."
        ),
        inputs=("grad", "data", "weight", "scale"),
        schema=Schema(),
        execution=Execution(
            heavy=lambda inputs, outputs, attrs: by_data((inputs[0], inputs[2]), outputs, attrs)
        ),
    )
)
