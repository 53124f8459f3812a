"""weight_only_dense: a dense layer whose weight is integers of 8 or 4 bits times scales.

``y = x (scale q)^T + b`` with a scale for each row of q, or for each group of elements of a row.
Two integers of 4 bits from -8 to 7 share a byte: the first one is in the low bits.
Data, sums and results are floating: only the weight is quantized, which is what one-token products
read. No kernel holds more of the floating weight than a block of rows or columns. The gradients of
data and scale, and those of these, are the same three products with other arguments.
"""

import math
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from gluonish.core.dtype import INT8, UINT8, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Attribute, Schema, boolean, integer, optional
from gluonish.core.spec import UNKNOWN, PartialSpec, Shape, Spec, merge_shapes
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.reductions.reduction import sum_
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.precision import accumulator, product, widen
from gluonish.ops.support.work import by_data, by_weight

_NAME = "weight_only_dense"
_BLOCK = 1 << 20  # elements of the weight that are floating at once
_DTYPES = {8: INT8, 4: UINT8}  # of weights by their bits


def _parse_bits(value: object) -> int:
    bits: Any = integer().parse(value)
    if bits not in _DTYPES:
        raise ValueError
    return int(bits)


def features_in(weight: Any) -> int:
    """Return the number of features in the rows of a weight, which is an array or a Spec."""
    count: int = weight.shape[1]
    return 2 * count if weight.dtype == UINT8 and count != UNKNOWN else count


def integers_of(xp: ModuleType, weight: Any) -> Any:
    """Return the integers (units, features) of a weight, as int8."""
    if weight.dtype != UINT8:
        return weight
    made = xp.empty((*weight.shape, 2), INT8)
    made[..., 0] = (weight << 4).view(INT8) >> 4
    made[..., 1] = weight.view(INT8) >> 4
    return made.reshape(weight.shape[0], 2 * weight.shape[1])


def packed(integers: Any) -> Any:
    """Return integers (units, features) from -8 to 7 as bytes of two: a weight of 4 bits."""
    low, high = integers[:, ::2].view(UINT8), integers[:, 1::2].view(UINT8)
    return low & 15 | high << 4


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
    bits: int,
) -> tuple[Spec]:
    if not data.shape or not is_floating(data.dtype):
        raise OperatorError(f"{_NAME}: expected floating data of at least 1 axis, got {data}")
    features = features_of(data.shape, flatten)
    expected = Spec((num_hidden, _stored(features, bits)), _DTYPES[bits])
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


def _stored(features: int, bits: int) -> int:
    """Return the number of bytes of a row of a weight.

    Raises:
        OperatorError: Integers of 4 bits do not fill bytes.
    """
    if bits == 8 or features == UNKNOWN:
        return features
    if features % 2:
        raise OperatorError(
            f"{_NAME}: expected an even number of features of 4 bits, got {features}"
        )
    return features // 2


def _check_scale(name: str, data: Spec, scale: Spec, shape: Shape) -> None:
    wide = accumulator(data.dtype)
    if scale.shape != shape or scale.dtype not in (wide, data.dtype):
        raise OperatorError(f"{name}: expected scale {Spec(shape, wide)}, got {scale}")


def _blocks(count: int, width: int) -> Iterator[slice]:
    """Yield slices of ``count`` rows of ``width`` elements; a slice has at most `_BLOCK`."""
    step = max(1, _BLOCK // max(1, width))
    for start in range(0, count, step):
        yield slice(start, min(count, start + step))


def _floating(xp: ModuleType, weight: Any, scale: Any, dtype: Any) -> Any:
    """Return rows of the weight times their scales."""
    made = integers_of(xp, weight).astype(dtype)
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
    units, features = len(weight), features_in(weight)
    rows = widen(data).reshape(out.size // units, features)
    made = xp.empty((len(rows), units), rows.dtype)
    scale = widen(scale)
    for block in _blocks(units, features):
        made[:, block] = product(xp, rows, _floating(xp, weight[block], scale[block], rows.dtype).T)
    if bias is not None:
        made += widen(bias)
    out[...] = made.reshape(out.shape)


def _gradient(
    g: V, data: V, weight: V, scale: V, bias: V | None = None, *, flatten: bool, **_: object
) -> tuple[Any, ...]:
    units, features = weight.shape[0], features_in(weight)
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
        stored = inputs[1].shape[1]
        features = stored if attrs["bits"] == 8 or stored == UNKNOWN else 2 * stored
    group_size, bits = attrs["group_size"], attrs["bits"]
    rows_of_weight = (units, _stored(features, bits))
    shapes = rows_of_weight, _scale_shape(units, features, group_size), (units,)
    dtypes = _DTYPES[bits], None if dtype is None else accumulator(dtype), dtype
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
            "Dense layer with a weight of integers: data times the transpose of weight * scale,\n"
            "plus bias. Integers of 4 bits, from -8 to 7, are two in a byte of uint8, the first\n"
            "one in the low bits.\n\n"
            "There is a scale for each row of weight or, with group_size, for each group of so\n"
            "many elements of a row. Products are summed in float32 and rounded once; the whole\n"
            "floating weight never exists. Data, scale and bias have gradients.\n\n"
            "Shapes: data (N, ...), weight (num_hidden, features) of int8, with 4 bits\n"
            "(num_hidden, features / 2) of uint8, scale (num_hidden,) or\n"
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
            bits=Attribute(_parse_bits, "8 or 4", 8),
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
    if len(weight.shape) != 2 or weight.dtype not in _DTYPES.values() or len(grad.shape) != 2:
        raise OperatorError(
            f"{name}: expected grad (rows, units) and weight (units, features) of int8 or 4 bits, "
            f"got {grad} and {weight}"
        )
    if not is_floating(grad.dtype) or grad.shape[1] != units:
        raise OperatorError(f"{name}: expected floating grad (rows, {units}), got {grad}")
    groups = scale.shape[1] if len(scale.shape) == 2 else None
    features = features_in(weight)
    if groups is not None and (features % groups if groups else features):
        raise OperatorError(f"{name}: expected scale that divides rows of {weight}, got {scale}")
    _check_scale(name, grad, scale, (units,) if groups is None else (units, groups))


def _data_infer(grad: Spec, weight: Spec, scale: Spec) -> tuple[Spec]:
    _check_rows("_weight_only_dense_backward_data", grad, weight, scale)
    return (Spec((grad.shape[0], features_in(weight)), grad.dtype),)


def _data_kernel(xp: ModuleType, out: Any, grad: Any, weight: Any, scale: Any) -> None:
    rows, scale = widen(grad), widen(scale)
    units, features = len(weight), features_in(weight)
    made = xp.zeros((len(rows), features), rows.dtype)
    for block in _blocks(units, features):
        made += product(xp, rows[:, block], _floating(xp, weight[block], scale[block], rows.dtype))
    out[...] = made


def _data_gradient(g: V, grad: V, weight: V, scale: V) -> tuple[Any, ...]:
    return (
        lambda: _forward(g, weight, scale),
        None,
        lambda: apply(BACKWARD_SCALE, (grad, g, weight, scale), {}),
    )


def _forward(rows: V, weight: Any, scale: V) -> V:
    units, features = weight.shape[0], features_in(weight)
    group_size = None
    if len(scale.shape) == 2:
        group_size = features // scale.shape[1] if features else 1
    attrs = {"num_hidden": units, "no_bias": True, "flatten": False, "group_size": group_size}
    stored: Any = weight
    attrs["bits"] = 4 if stored.dtype == UINT8 else 8
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
    expected = Spec((grad.shape[0], features_in(weight)), grad.dtype)
    if data != expected:
        raise OperatorError(f"{name}: expected data {expected}, got {data}")
    return (scale,)


def _scale_kernel(xp: ModuleType, out: Any, grad: Any, data: Any, weight: Any, scale: Any) -> None:
    rows, data = widen(grad), widen(data)
    units, features = len(weight), features_in(weight)
    size = features // max(1, math.prod(scale.shape[1:]))  # of a group
    for block in _blocks(units, features):
        made = product(xp, rows[:, block].T, data) * integers_of(xp, weight[block])
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
