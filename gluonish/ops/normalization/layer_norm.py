"""LayerNorm: normalize each sample along one axis.

References:
    J. Ba, J. Kiros, G. Hinton, Layer Normalization, 2016.

`standardize` and its gradients are shared by LayerNorm and GroupNorm.

The kernels of both reshape the data so that one axis holds the elements to normalize together.
"""

from collections.abc import Callable
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


def standardize(xp: ModuleType, x: Any, axis: int, eps: float) -> tuple[Any, Any, Any]:
    """Return ``(x - mean) / std``, the mean and ``std = sqrt(variance + eps)``.

    ``x`` is float32 or float64; the statistics have size 1 along the axis.
    """
    count = x.dtype.type(max(1, x.shape[axis]))
    mean = xp.add.reduce(x, axis=axis, keepdims=True) / count
    standardized = x - mean
    variance = xp.add.reduce(xp.square(standardized), axis=axis, keepdims=True) / count
    std = xp.sqrt(variance + x.dtype.type(eps))
    standardized /= std
    return standardized, mean, std


def standardize_back(xp: ModuleType, grad: Any, standardized: Any, std: Any, axis: int) -> Any:
    """Return the gradient of `standardize`'s ``x``; overwrites ``standardized``."""
    count = grad.dtype.type(max(1, grad.shape[axis]))
    standardized *= xp.add.reduce(grad * standardized, axis=axis, keepdims=True) / count
    standardized += xp.add.reduce(grad, axis=axis, keepdims=True) / count
    result = grad - standardized
    result /= std
    return result


def pull_back(x: Any, grad: Any, average: Callable[[Any], Any], eps: float) -> tuple[Any, Any]:
    """Compute `standardize` and `standardize_back` with operators.

    Statistics are recomputed, since they depend on the data.

    Args:
        x: The data.
        grad: Gradient of the standardized data.
        average: Returns the mean along the axis, with size 1 there.
        eps: Added to the variance.

    Returns:
        The standardized data, and the gradient of the data.
    """
    centred = x - average(x)
    inverse = RSQRT(average(centred * centred) + eps)
    standardized = centred * inverse
    inner = grad - average(grad) - standardized * average(grad * standardized)
    return standardized, inner * inverse


_INPUTS = ("data", "gamma", "beta")


def _stat_shape(shape: Shape, axis: int) -> Shape:
    """Return the shape of a statistic: the data's, with 1 at the axis."""
    axis = normalize_axis("LayerNorm", axis, len(shape))
    return (*shape[:axis], 1, *shape[axis + 1 :])


def _along(shape: Shape, axis: int) -> Shape:
    """Return the shape in which gamma and beta broadcast to the data."""
    axis %= len(shape)
    return tuple(n if i == axis else 1 for i, n in enumerate(shape))


def _infer(
    data: Spec, gamma: Spec, beta: Spec, *, axis: int, **_: object
) -> tuple[Spec, Spec, Spec]:
    if not is_floating(data.dtype):
        raise OperatorError(f"LayerNorm: expected floating data, got {data.dtype.name}")
    # Parameters may be wider than half-precision data; statistics have the parameters' dtype.
    wide = gamma.dtype if gamma.dtype == accumulator(data.dtype) else data.dtype
    statistic = Spec(_stat_shape(data.shape, axis), wide)
    expected = Spec((data.shape[axis],), wide)
    for name, spec in (("gamma", gamma), ("beta", beta)):
        if spec != expected:
            raise parameter_error("LayerNorm", name, expected, spec, data, axis)
    return data, statistic, statistic


def _kernel(
    xp: ModuleType,
    outputs: tuple[Any, Any, Any],
    data: Any,
    gamma: Any,
    beta: Any,
    *,
    axis: int,
    eps: float,
    **_: object,
) -> None:
    out, out_mean, out_std = outputs
    shape = _along(data.shape, axis)
    normalized, mean, std = standardize(xp, widen(data), axis, eps)
    normalized *= widen(gamma).reshape(shape)
    normalized += widen(beta).reshape(shape)
    out[...], out_mean[...], out_std[...] = normalized, mean, std


def _backward_kernel(
    xp: ModuleType,
    outputs: tuple[Any, Any, Any],
    grad: Any,
    data: Any,
    gamma: Any,
    mean: Any,
    std: Any,
    *,
    axis: int,
    **_: object,
) -> None:
    d_data, d_gamma, d_beta = outputs
    others = tuple(i for i in range(data.ndim) if i != axis % data.ndim)
    grad, std = widen(grad), widen(std)
    normalized = widen(data) - widen(mean)
    normalized /= std
    d_gamma[...] = total(xp, grad * normalized, others)
    d_beta[...] = total(xp, grad, others)
    scaled = grad * widen(gamma).reshape(_along(data.shape, axis))
    d_data[...] = standardize_back(xp, scaled, normalized, std, axis)


def _backward(
    grad: Any, data: Any, gamma: Any, _mean: Any, _std: Any, **attrs: Any
) -> tuple[Any, Any, Any]:
    """Compute `_backward_kernel`'s result with operators."""
    axis = attrs["axis"] % len(data.shape)
    stat_shape, along = _stat_shape(data.shape, axis), _along(data.shape, axis)
    share = 1 / max(1, data.shape[axis])
    others = tuple(i for i in range(len(data.shape)) if i != axis)

    def average(x: Any) -> Any:
        return reshape(sum_(x, axis=(axis,)), stat_shape) * share

    narrow, wide = data.dtype, gamma.dtype
    if narrow != wide:
        grad, data = cast(grad, wide), cast(data, wide)
    scaled = grad * reshape(gamma, along)
    normalized, d_data = pull_back(data, scaled, average, attrs["eps"])
    if narrow != wide:
        d_data = cast(d_data, narrow)
    flat = (data.shape[axis],)
    d_gamma = reshape(sum_(grad * normalized, axis=others), flat) if others else grad * normalized
    return d_data, d_gamma, sum_(grad, axis=others) if others else grad * 1.0


def _gradient(g: tuple[V | None, ...], *values: V, **attrs: Any) -> Any:
    data, gamma, _, _, mean, std = values
    if g[0] is None:
        return (None, None, None)
    plain = {"axis": attrs["axis"], "eps": attrs["eps"]}
    return tuple(apply(LAYER_NORM_BACKWARD, (g[0], data, gamma, mean, std), plain))


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    shape = merge_shapes(inputs[0].shape, outputs[0].shape, "LayerNorm output")
    dtype = merge_dtypes(inputs[0].dtype, outputs[0].dtype, "LayerNorm")
    wide = None
    for spec in (*inputs[1:], *outputs[1:]):
        wide = merge_dtypes(wide, spec.dtype, "LayerNorm")
    if dtype is None and wide != FLOAT32:  # float32 may accompany half-precision data
        dtype = wide
    wide = dtype if wide is None else wide
    inputs[0] = outputs[0] = PartialSpec(shape, dtype)
    units = (
        UNKNOWN if shape is None else shape[normalize_axis("LayerNorm", attrs["axis"], len(shape))]
    )
    for i in (1, 2):
        known = merge_shapes((units,), inputs[i].shape, f"LayerNorm {_INPUTS[i]}")
        inputs[i] = PartialSpec(known, wide)
    for i in range(1, len(outputs)):
        outputs[i] = PartialSpec(None if shape is None else _stat_shape(shape, attrs["axis"]), wide)


LAYER_NORM = register(
    Operator(
        "LayerNorm",
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "(data - mean) / sqrt(variance + eps) * gamma + beta, with statistics along axis.\n\n"
            "output_mean_var also returns the mean and the standard deviation sqrt(variance +\n"
            "eps), with size 1 at axis; no gradient flows through these two.\n\n"
            "Shapes: data any, gamma and beta (size of axis,), in float32 or the dtype of data,\n"
            "output that of data."
        ),
        inputs=_INPUTS,
        schema=Schema(axis=integer(-1), eps=number(1e-5), output_mean_var=boolean(False)),
        aliases=("_npx_layer_norm",),
        outputs=3,
        visible=lambda attrs: 3 if attrs["output_mean_var"] else 1,
        output_names=("output", "mean", "std"),
        shapes=ShapeFacts(complete=_complete),
        execution=Execution(heavy=True),
    )
)

LAYER_NORM_BACKWARD = register(
    Operator(
        "_layer_norm_backward",
        lambda grad, data, gamma, mean, std, **_: (data, gamma, gamma),
        _backward_kernel,
        composite_gradient(_backward),
        doc="Gradients of LayerNorm's data, gamma and beta.",
        inputs=("grad", "data", "gamma", "mean", "std"),
        schema=Schema(axis=integer(-1), eps=number(1e-5)),
        outputs=3,
        output_names=("data", "gamma", "beta"),
        execution=Execution(heavy=True),
    )
)
