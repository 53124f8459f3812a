"""rms_norm: divide by the root mean square along one axis; add_rms_norm does it to a sum.

One operator computes the gradients of both. Statistics and products of 16-bit data are in float32,
and each result is rounded once.

References:
    B. Zhang, R. Sennrich, Root Mean Square Layer Normalization, 2019.
"""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import FLOAT32, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer, number
from gluonish.core.spec import (
    UNKNOWN,
    PartialSpec,
    Shape,
    Spec,
    merge_dtypes,
    merge_shapes,
)
from gluonish.ops.elementwise.cast import cast
from gluonish.ops.elementwise.unary import RSQRT
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.reductions.reduction import sum_
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.precision import accumulator, total, widen
from gluonish.ops.support.shape_rules import normalize_axis, parameter_error

_NAME, _SUM_NAME = "rms_norm", "add_rms_norm"


def _statistic(name: str, shape: Shape, axis: int) -> Shape:
    """Return the shape of the statistic: the data's, with 1 at the axis."""
    axis = normalize_axis(name, axis, len(shape))
    return (*shape[:axis], 1, *shape[axis + 1 :])


def _along(shape: Shape, axis: int) -> Shape:
    """Return the shape in which gamma broadcasts to the data."""
    axis %= len(shape)
    return tuple(n if i == axis else 1 for i, n in enumerate(shape))


def _check(name: str, data: Spec, gamma: Spec, axis: int) -> Spec:
    """Check data and gamma; return the spec of the statistic.

    Raises:
        OperatorError: The message says what was expected.
    """
    if not is_floating(data.dtype):
        raise OperatorError(f"{name}: expected floating data, got {data.dtype.name}")
    statistic = Spec(_statistic(name, data.shape, axis), accumulator(data.dtype))
    wide = gamma.dtype if gamma.dtype == statistic.dtype else data.dtype
    expected = Spec((data.shape[axis],), wide)
    if gamma != expected:
        raise parameter_error(name, "gamma", expected, gamma, data, axis)
    return statistic


def _infer(data: Spec, gamma: Spec, *, axis: int, **_: object) -> tuple[Spec, Spec]:
    return data, _check(_NAME, data, gamma, axis)


def _factor(gamma: Any, shape: Shape, axis: int, offset: bool) -> Any:
    """Return the factor of the normalized data, in the dtype of sums."""
    factor = widen(gamma).reshape(_along(shape, axis))
    return factor + 1 if offset else factor


def _kernel(
    xp: ModuleType,
    outputs: tuple[Any, Any],
    data: Any,
    gamma: Any,
    *,
    axis: int,
    eps: float,
    offset: bool,
    **_: object,
) -> None:
    out, inverse = outputs
    wide = widen(data)
    count = wide.dtype.type(max(1, data.shape[axis]))
    squares = total(xp, wide * wide, (axis % data.ndim,), keepdims=True)
    inverse[...] = 1 / xp.sqrt(squares / count + wide.dtype.type(eps))
    out[...] = wide * inverse * _factor(gamma, data.shape, axis, offset)


def _backward_kernel(
    xp: ModuleType,
    outputs: tuple[Any, Any],
    grad: Any,
    data: Any,
    gamma: Any,
    inverse: Any,
    *added: Any,
    axis: int,
    offset: bool,
    **_: object,
) -> None:
    d_data, d_gamma = outputs
    others = tuple(i for i in range(data.ndim) if i != axis % data.ndim)
    grad, normalized = widen(grad), widen(data) * inverse
    d_gamma[...] = total(xp, grad * normalized, others)
    scaled = grad * _factor(gamma, data.shape, axis, offset)
    count = scaled.dtype.type(max(1, data.shape[axis]))
    normalized *= total(xp, scaled * normalized, (axis % data.ndim,), keepdims=True) / count
    scaled -= normalized
    scaled *= inverse
    d_data[...] = scaled + widen(added[0]) if added else scaled


def _backward(
    grad: Any, data: Any, gamma: Any, _inverse: Any, *added: Any, **attrs: Any
) -> tuple[Any, Any]:
    """Compute `_backward_kernel`'s result with operators; the statistic depends on the data."""
    axis = attrs["axis"] % len(data.shape)
    statistic = _statistic(_NAME, data.shape, axis)
    others = tuple(i for i in range(len(data.shape)) if i != axis)
    share = 1 / max(1, data.shape[axis])
    narrow, of_gamma, wide = data.dtype, gamma.dtype, accumulator(data.dtype)
    grad, data, gamma = (cast(x, wide) for x in (grad, data, gamma))

    def average(x: Any) -> Any:
        return reshape(sum_(x, axis=(axis,)), statistic) * share

    inverse = RSQRT(average(data * data) + attrs["eps"])
    normalized = data * inverse
    factor = reshape(gamma + 1.0 if attrs["offset"] else gamma, _along(data.shape, axis))
    scaled = grad * factor
    d_data = (scaled - normalized * average(scaled * normalized)) * inverse
    for x in added:
        d_data = d_data + cast(x, wide)
    d_gamma = grad * normalized
    if others:
        d_gamma = reshape(sum_(d_gamma, axis=others), (data.shape[axis],))
    return cast(d_data, narrow), cast(d_gamma, of_gamma)


def _of_backward(attrs: Attrs, *, plus: bool) -> dict[str, Any]:
    return {name: attrs[name] for name in ("axis", "eps", "offset")} | {"plus": plus}


def _gradient(g: tuple[V | None, ...], *values: V, **attrs: Any) -> Any:
    data, gamma, _, inverse = values
    if g[0] is None:
        return (None, None)
    return tuple(
        apply(RMS_NORM_BACKWARD, (g[0], data, gamma, inverse), _of_backward(attrs, plus=False))
    )


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    """Complete specs: all of data's shape but the last input, gamma, and last output."""
    name = _NAME if len(inputs) == 2 else _SUM_NAME
    alike = (*inputs[:-1], *outputs[:-1])
    shape, dtype = None, None
    for spec in alike:
        shape = merge_shapes(shape, spec.shape, f"{name} output")
        dtype = merge_dtypes(dtype, spec.dtype, name)
    wide = inputs[-1].dtype
    if dtype is None and wide != FLOAT32:  # float32 may accompany 16-bit data
        dtype = wide
    inputs[:-1] = [PartialSpec(shape, dtype)] * (len(inputs) - 1)
    outputs[:-1] = [PartialSpec(shape, dtype)] * (len(outputs) - 1)
    axis = attrs["axis"]
    units = UNKNOWN if shape is None else shape[normalize_axis(name, axis, len(shape))]
    known = merge_shapes((units,), inputs[-1].shape, f"{name} gamma")
    inputs[-1] = PartialSpec(known, dtype if wide is None else wide)
    outputs[-1] = PartialSpec(
        None if shape is None else _statistic(name, shape, axis),
        None if dtype is None else accumulator(dtype),
    )


_SCHEMA = Schema(axis=integer(-1), eps=number(1e-6), offset=boolean(False))

RMS_NORM = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "data / sqrt(mean(data^2) + eps) * gamma, with the mean along axis.\n\n"
            "With offset the factor is 1 + gamma, as in Gemma. 16-bit data are normalized in\n"
            "float32, and rounded once.\n\n"
            "Shapes: data any, gamma (size of axis,), in float32 or the dtype of data, output\n"
            "that of data."
        ),
        inputs=("data", "gamma"),
        schema=_SCHEMA,
        aliases=("_npx_rms_norm",),
        outputs=2,
        visible=1,
        output_names=("output", "inverse"),
        shapes=ShapeFacts(complete=_complete),
        execution=Execution(heavy=True),
    )
)


def _sum_infer(
    data: Spec, residual: Spec, gamma: Spec, *, axis: int, **_: object
) -> tuple[Spec, Spec, Spec]:
    if data != residual:
        raise OperatorError(f"{_SUM_NAME}: expected residual {data}, like data, got {residual}")
    return data, data, _check(_SUM_NAME, data, gamma, axis)


def _sum_kernel(
    xp: ModuleType,
    outputs: tuple[Any, Any, Any],
    data: Any,
    residual: Any,
    gamma: Any,
    **attrs: Any,
) -> None:
    out, joined, inverse = outputs
    xp.add(residual, data, out=joined)
    _kernel(xp, (out, inverse), joined, gamma, **attrs)


def _sum_gradient(g: tuple[V | None, ...], *values: V, **attrs: Any) -> Any:
    _data, _residual, gamma, _out, joined, inverse = values
    of_out, of_sum = g[:2]
    if of_out is None:
        return of_sum, of_sum, None
    plus = () if of_sum is None else (of_sum,)
    options = _of_backward(attrs, plus=bool(plus))
    of_data, of_gamma = apply(RMS_NORM_BACKWARD, (of_out, joined, gamma, inverse, *plus), options)
    return of_data, of_data, of_gamma


ADD_RMS_NORM = register(
    Operator(
        _SUM_NAME,
        _sum_infer,
        _sum_kernel,
        Gradient(_sum_gradient, uses_output=True),
        doc=(
            "rms_norm of data + residual, and the sum itself, in one pass over memory.\n\n"
            "The second output is the sum, to which the next layer adds. The first is the same\n"
            "as rms_norm of the second.\n\n"
            "Shapes: data and residual any, gamma (size of axis,), in float32 or the dtype of\n"
            "data, outputs that of data."
        ),
        inputs=("data", "residual", "gamma"),
        schema=_SCHEMA,
        aliases=("_npx_add_rms_norm",),
        outputs=3,
        visible=2,
        output_names=("output", "sum", "inverse"),
        shapes=ShapeFacts(complete=_complete),
        execution=Execution(heavy=True),
    )
)


def _backward_inputs(attrs: Attrs) -> tuple[str, ...]:
    return ("grad", "data", "gamma", "inverse", *(("added",) if attrs["plus"] else ()))


RMS_NORM_BACKWARD = register(
    Operator(
        "_rms_norm_backward",
        lambda grad, data, gamma, *_inputs, **_: (data, gamma),
        _backward_kernel,
        composite_gradient(_backward),
        doc=(
            "Gradients of rms_norm's data and gamma; with plus an array is added to the first,\n"
            "which is that of add_rms_norm's terms."
        ),
        inputs=("grad", "data", "gamma", "inverse", "added"),
        active_inputs=_backward_inputs,
        schema=Schema(
            axis=integer(-1), eps=number(1e-6), offset=boolean(False), plus=boolean(False)
        ),
        outputs=2,
        output_names=("data", "gamma"),
        execution=Execution(heavy=True),
    )
)
