"""Variance, standard deviation and weighted average along axes."""

import math
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT64, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer
from gluonish.core.spec import Shape, Spec
from gluonish.ops.elementwise.cast import cast, convert
from gluonish.ops.elementwise.kinks import flat_power
from gluonish.ops.elementwise.unary import SQUARE
from gluonish.ops.numpy.promotion import dtype_of, refuse_bool
from gluonish.ops.numpy.reduction import (
    AXIS,
    all_axes,
    reduced_shape,
    reduction_dtypes,
    spread,
    sum_,
)
from gluonish.ops.registry import Attrs, Operator, V, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.precision import accumulator, total, widen
from gluonish.ops.support.shape_rules import normalize_axis

Axes = tuple[int, ...]


def _moment(name: str, doc: str, *, root: bool) -> Operator:
    def infer(
        a: Spec, *, axis: Axes | None, dtype: str | None, ddof: int, keepdims: bool
    ) -> tuple[Spec, ...]:
        refuse_bool(name, a)
        shape = reduced_shape(a.shape, all_axes(name, len(a.shape), axis), keepdims)
        spec = Spec(shape, a.dtype if dtype is None else np.dtype(dtype))
        return spec, spec

    def kernel(
        xp: ModuleType,
        out: Any,
        a: Any,
        *,
        axis: Axes | None,
        dtype: str | None,
        ddof: int,
        keepdims: bool,
    ) -> None:
        axes = all_axes(name, a.ndim, axis)
        count = math.prod(a.shape[i] for i in axes)
        real = widen(a) if is_floating(a.dtype) and dtype != "float64" else a.astype(FLOAT64)
        # Zero elements give NaN, and ddof elements give infinity, by float division.
        mean = total(xp, real, axes, keepdims=True) / FLOAT64.type(count)
        if not is_floating(a.dtype):
            mean = xp.trunc(mean)  # the mean of integers is an integer
        squares = total(xp, xp.square(real - mean), axes)
        found = squares / FLOAT64.type(count - ddof)
        convert(out[0], xp.asarray(xp.sqrt(found) if root else found).reshape(out[0].shape))
        convert(out[1], xp.asarray(mean).reshape(out[1].shape))

    def formula(
        a: Any, *, axis: Axes | None, dtype: str | None, ddof: int, keepdims: bool
    ) -> tuple[Any, Any]:
        axes = all_axes(name, len(a.shape), axis)
        count = math.prod(a.shape[i] for i in axes)
        mean = sum_(a, axes) / float(max(1, count))
        squares = sum_(SQUARE(a - spread(mean, a.shape, axes)), axes)
        # With a divisor of 0, the gradient is NaN.
        found = squares * (1.0 / (count - ddof) if count != ddof else math.inf)
        shape = reduced_shape(a.shape, axes, keepdims)
        return reshape(flat_power(found, 0.5) if root else found, shape), reshape(mean, shape)

    rule = composite_gradient(formula)

    def gradient(g: Any, a: Any, **attrs: Any) -> tuple[Any, ...]:
        own = dtype_of(a)
        if any(h is not None and not is_floating(dtype_of(h)) for h in g) or not is_floating(own):
            return (None,)
        return _in_wide(rule, g, a, **attrs)

    return register(
        Operator(
            name,
            infer,
            kernel,
            gradient,
            doc=(
                f"{doc} along axis, all axes by default, over count - ddof elements.\n\n"
                "The hidden output is the mean. For integers both are integers, unless dtype is\n"
                "set.\n\n"
                "Shapes: a any, output a's without the axes in axis, or with size 1 there\n"
                "(keepdims)."
            ),
            inputs=("a",),
            schema=Schema(
                axis=AXIS, dtype=reduction_dtypes(), ddof=integer(0), keepdims=boolean(False)
            ),
            outputs=2,
            visible=1,
            output_names=("std" if root else "var", "mean"),
        )
    )


STD = _moment("_npi_std", "Standard deviation", root=True)
VAR = _moment("_npi_var", "Variance", root=False)


def _weight_axes(a: Shape, weights: Shape, axis: Axes | None) -> tuple[Axes, Shape]:
    """Return the axes to reduce, and the shape in which the weights broadcast to ``a``."""
    axes = all_axes("_npi_average", len(a), axis)
    if weights == a:
        return axes, a
    if axis is None or len(axis) != 1 or len(weights) != 1:
        raise OperatorError(
            f"_npi_average: expected weights of shape {a}, or one axis and weights of one axis, "
            f"got weights {weights} and axis {axis}"
        )
    own = normalize_axis("_npi_average", axis[0], len(a))
    if weights[0] != a[own]:
        raise OperatorError(
            f"_npi_average: expected {a[own]} weights for axis {own} of {a}, got {weights[0]}"
        )
    return axes, tuple(a[own] if i == own else 1 for i in range(len(a)))


def _scale_shape(a: Spec, weights: Spec | None, axes: Axes) -> Shape:
    """Return the shape of the weights' sum: () for a single number."""
    return reduced_shape(a.shape, axes, keepdims=False) if weights and weights == a else ()


def _average_infer(
    a: Spec,
    weights: Spec | None = None,
    *,
    axis: Axes | None,
    returned: bool,
    weighted: bool,
) -> tuple[Spec, ...]:
    refuse_bool("_npi_average", a)
    axes = all_axes("_npi_average", len(a.shape), axis)
    if weights is not None:
        if weights.dtype != a.dtype:
            raise OperatorError(
                f"_npi_average: expected weights of dtype {a.dtype.name}, got {weights.dtype.name}"
            )
        _weight_axes(a.shape, weights.shape, axis)
    shape = reduced_shape(a.shape, axes, keepdims=False)
    return Spec(shape, a.dtype), Spec(_scale_shape(a, weights, axes), a.dtype)


def _average_kernel(
    xp: ModuleType,
    out: Any,
    a: Any,
    weights: Any = None,
    *,
    axis: Axes | None,
    returned: bool,
    weighted: bool,
) -> None:
    axes = all_axes("_npi_average", a.ndim, axis)
    real = widen(a) if is_floating(a.dtype) else a.astype(FLOAT64)
    if weights is None:
        scale = real.dtype.type(math.prod(a.shape[i] for i in axes))
    else:
        _, shape = _weight_axes(a.shape, weights.shape, axis)
        factors = weights.astype(real.dtype).reshape(shape)
        real = real * factors
        scale = xp.add.reduce(factors, axis=axes)
        if factors.shape != a.shape:
            scale = scale.reshape(())
    convert(out[0], xp.asarray(xp.add.reduce(real, axis=axes) / scale))
    convert(out[1], xp.asarray(scale).reshape(out[1].shape))


def _in_wide(
    rule: Callable[..., Sequence[Any]], g: Any, a: V, *rest: V, **attrs: Any
) -> tuple[Any, ...]:
    """Return the gradients of inputs of one dtype, computed in float32 for 16-bit floats."""
    own = dtype_of(a)
    wide = accumulator(own)
    heads = tuple(h if h is None else cast(h, wide) for h in g)
    found = rule(heads, *[cast(x, wide) for x in (a, *rest)], **attrs)
    return tuple(None if x is None else cast(x, own) for x in found)


def _average(
    a: Any,
    weights: Any = None,
    *,
    axis: Axes | None,
    returned: bool,
    weighted: bool,
) -> Any:
    axes = all_axes("_npi_average", len(a.shape), axis)
    if weights is None:
        return (sum_(a, axes) / float(max(1, math.prod(a.shape[i] for i in axes))),)
    _, shape = _weight_axes(a.shape, weights.shape, axis)
    factors = reshape(weights, shape)
    scale = sum_(factors, axes)
    if shape != a.shape:
        scale = reshape(scale, ())
    return sum_(a * factors, axes) / scale, scale


_average_rule = composite_gradient(_average)


def _average_gradient(g: Any, a: V, *weights: V, **attrs: Any) -> tuple[Any, ...]:
    if not is_floating(dtype_of(a)):
        return (None,) * (1 + len(weights))
    if not weights and g[0] is None:
        return (None,)
    return _in_wide(_average_rule, g if weights else g[:1], a, *weights, **attrs)


def _average_inputs(attrs: Attrs) -> tuple[str, ...]:
    return ("a", "weights") if attrs["weighted"] else ("a",)


def _average_visible(attrs: Attrs) -> int:
    return 2 if attrs["returned"] else 1


AVERAGE = register(
    Operator(
        "_npi_average",
        _average_infer,
        _average_kernel,
        _average_gradient,
        doc=(
            "Average along axis, all axes by default, weighted by weights.\n\n"
            "weights have the shape of a, or are a vector along axis. With returned the sum of\n"
            "the weights is the second output; without weighted there are no weights.\n\n"
            "Shapes: a any, outputs a's without the axes in axis."
        ),
        inputs=("a", "weights"),
        active_inputs=_average_inputs,
        schema=Schema(axis=AXIS, returned=boolean(False), weighted=boolean(True)),
        outputs=2,
        visible=_average_visible,
    )
)
