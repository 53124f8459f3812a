"""BatchNorm: normalize each channel over all other axes, and keep moving statistics.

References:
    S. Ioffe, C. Szegedy, Batch Normalization: Accelerating Deep Network Training by Reducing
        Internal Covariate Shift, 2015.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer, number, optional
from gluonish.core.spec import UNKNOWN, PartialSpec, Shape, Spec, merge_shapes
from gluonish.ops.elementwise.cast import cast
from gluonish.ops.elementwise.unary import RSQRT
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.reductions.reduction import sum_
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.precision import accumulator, total, widen
from gluonish.ops.support.shape_rules import normalize_axis, parameter_error
from gluonish.ops.support.work import remembered

_INPUTS = ("data", "gamma", "beta", "moving_mean", "moving_var")


def infer_normalized(
    operator: str, data: Spec, *parameters: Spec, axis: int
) -> tuple[Spec, Spec, Spec]:
    """Return the specs of output, mean and inverse standard deviation.

    Args:
        *parameters: gamma, beta, moving_mean and moving_var.
        axis: Channel axis.

    Raises:
        OperatorError: The shapes or dtypes do not match each other.
    """
    if not is_floating(data.dtype):
        raise OperatorError(f"{operator}: expected floating data, got {data.dtype.name}")
    channels = data.shape[normalize_axis(operator, axis, len(data.shape))]
    statistic = Spec((channels,), accumulator(data.dtype))
    for name, spec in zip(_INPUTS[1:], parameters, strict=True):
        if spec != statistic:
            raise parameter_error(operator, name, statistic, spec, data, axis)
    return data, statistic, statistic


@remembered
def _infer(data: Spec, *parameters: Spec, axis: int, **_: object) -> tuple[Spec, Spec, Spec]:
    return infer_normalized("BatchNorm", data, *parameters, axis=axis)


def _layout(data: Any, axis: int) -> tuple[tuple[int, ...], Shape]:
    """Return the axes to reduce, and the shape in which a statistic broadcasts to the data."""
    channel = axis % data.ndim
    axes = tuple(i for i in range(data.ndim) if i != channel)
    return axes, tuple(n if i == channel else 1 for i, n in enumerate(data.shape))


def _batch_statistics(xp: ModuleType, data: Any, axis: int) -> tuple[Any, Any]:
    """Return mean and (biased) variance of each channel."""
    axes, shape = _layout(data, axis)
    wide = widen(data)
    count = max(1, data.size // max(1, data.shape[axis]))
    mean = (total(xp, wide, axes) / wide.dtype.type(count)).astype(wide.dtype, copy=False)
    centred = wide - mean.reshape(shape)
    xp.multiply(centred, centred, out=centred)
    variance = total(xp, centred, axes) / wide.dtype.type(count)
    return mean, variance.astype(wide.dtype, copy=False)


def update_moving(moving: Any, new: Any, momentum: float) -> None:
    """Update a moving statistic in place: ``momentum * moving + (1 - momentum) * new``."""
    share = new * moving.dtype.type(1 - momentum)
    if type(moving) is np.ndarray:  # in one call, so that no handler sees intermediate values
        np.add(moving * moving.dtype.type(momentum), share, out=moving, casting="same_kind")
    else:
        moving *= moving.dtype.type(momentum)
        moving += share


def chosen_statistics(
    xp: ModuleType,
    data: Any,
    moving_mean: Any,
    moving_var: Any,
    attrs: Attrs,
    axis: int = 1,
) -> tuple[Any, Any]:
    """Return the mean and variance to normalize with.

    In training these are batch statistics, and the moving statistics are updated in place;
    otherwise, or with ``use_global_stats``, the moving statistics.
    """
    if not attrs["train"] or attrs["use_global_stats"]:
        return moving_mean, moving_var
    mean, variance = _batch_statistics(xp, data, axis)
    if data.size:
        update_moving(moving_mean, mean, attrs["momentum"])
        update_moving(moving_var, variance, attrs["momentum"])
    return mean, variance


def _kernel(
    xp: ModuleType,
    outputs: tuple[Any, Any, Any],
    data: Any,
    gamma: Any,
    beta: Any,
    moving_mean: Any,
    moving_var: Any,
    *,
    eps: float,
    fix_gamma: bool,
    axis: int,
    **attrs: Any,
) -> None:
    out, out_mean, out_inverse_std = outputs
    mean, variance = chosen_statistics(xp, data, moving_mean, moving_var, attrs, axis)
    out_mean[...] = mean
    out_inverse_std[...] = 1 / xp.sqrt(variance + variance.dtype.type(eps))
    scale = out_inverse_std if fix_gamma else out_inverse_std * gamma
    shape = _layout(data, axis)[1]
    if out.dtype == scale.dtype:
        xp.subtract(data, out_mean.reshape(shape), out=out)
        xp.multiply(out, scale.reshape(shape), out=out)
        xp.add(out, beta.reshape(shape), out=out)
    else:
        wide = widen(data) - out_mean.reshape(shape)
        wide *= scale.reshape(shape)
        wide += beta.reshape(shape)
        out[...] = wide


def _backward_kernel(
    xp: ModuleType,
    outputs: tuple[Any, Any, Any],
    grad: Any,
    data: Any,
    gamma: Any,
    mean: Any,
    inverse_std: Any,
    *,
    fix_gamma: bool,
    use_global_stats: bool,
    axis: int,
    **_: object,
) -> None:
    d_data, d_gamma, d_beta = outputs
    axes, shape = _layout(data, axis)
    grad = widen(grad)
    normalized = widen(data) - mean.reshape(shape)
    normalized *= inverse_std.reshape(shape)
    d_beta[...] = total(xp, grad, axes)
    projection = total(xp, grad * normalized, axes).astype(grad.dtype, copy=False)
    d_gamma[...] = 0 if fix_gamma else projection
    scale = (inverse_std if fix_gamma else inverse_std * gamma).reshape(shape)
    if use_global_stats:
        d_data[...] = grad * scale
        return
    share = scale.dtype.type(data.shape[axis] / max(1, data.size))
    normalized *= (projection * share).reshape(shape)
    normalized += (d_beta * share).reshape(shape)
    xp.subtract(grad, normalized, out=normalized)
    normalized *= scale
    d_data[...] = normalized


def _backward(
    grad: Any, data: Any, gamma: Any, mean: Any, inverse_std: Any, **attrs: Any
) -> tuple[Any, Any, Any]:
    """Compute `_backward_kernel`'s result with operators.

    Batch statistics are recomputed, since the second derivative flows through them.
    """
    axis, narrow, wide = attrs["axis"] % len(data.shape), data.dtype, gamma.dtype
    axes = tuple(i for i in range(len(data.shape)) if i != axis)
    shape = tuple(n if i == axis else 1 for i, n in enumerate(data.shape))
    share = shape[axis] / max(1, int(np.prod(data.shape)))
    grad, data = cast(grad, wide), cast(data, wide)
    frozen = attrs["use_global_stats"]

    def average(x: Any) -> Any:
        return reshape(sum_(x, axis=axes), shape) * share

    centre = reshape(mean, shape) if frozen else average(data)
    centred = data - centre
    rescale = (
        reshape(inverse_std, shape) if frozen else RSQRT(average(centred * centred) + attrs["eps"])
    )
    normalized = centred * rescale
    d_beta = sum_(grad, axis=axes)
    projection = sum_(grad * normalized, axis=axes)
    scale = rescale if attrs["fix_gamma"] else rescale * reshape(gamma, shape)
    d_data = grad * scale
    if not frozen:
        means = reshape(d_beta, shape) + normalized * reshape(projection, shape)
        d_data = (grad - means * share) * scale
    return cast(d_data, narrow), projection * 0.0 if attrs["fix_gamma"] else projection, d_beta


def _gradient(g: tuple[V | None, ...], *values: V, train: bool = True, **attrs: Any) -> Any:
    data, gamma = values[:2]
    mean, inverse_std = values[6:]
    if g[0] is None:
        return (None,) * 5
    plain = {name: attrs[name] for name in _BACKWARD_SCHEMA.attributes}
    plain["use_global_stats"] = attrs["use_global_stats"] or not train
    found = apply(BATCH_NORM_BACKWARD, (g[0], data, gamma, mean, inverse_std), plain)
    return (*found, None, None)


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    data, out = inputs[0], outputs[0]
    shape = merge_shapes(data.shape, out.shape, "BatchNorm output")
    dtype = data.dtype or out.dtype
    inputs[0] = outputs[0] = PartialSpec(shape, dtype)
    channels = UNKNOWN
    if shape is not None:
        channels = shape[normalize_axis("BatchNorm", attrs["axis"], len(shape))]
    wide = None if dtype is None else accumulator(dtype)
    for name, specs, i in (
        *((name, inputs, i) for i, name in enumerate(_INPUTS) if i),
        *((name, outputs, i) for i, name in enumerate(_OUTPUTS) if 0 < i < len(outputs)),
    ):
        known = merge_shapes((channels,), specs[i].shape, f"BatchNorm {name}")
        specs[i] = PartialSpec(known, specs[i].dtype or wide)


def mutates_moving_at(*positions: int) -> Callable[[Attrs], tuple[int, ...]]:
    """Return an `Execution.mutates` rule: the moving statistics at ``positions``, if updated.

    Calls that only read the statistics need not wait for each other, and an error does not
    invalidate them. A graph without a mode has no ``train``: there the rule lists auxiliary states.
    """

    def mutates(attrs: Attrs) -> tuple[int, ...]:
        reads_only = "train" in attrs and (not attrs["train"] or attrs["use_global_stats"])
        return () if reads_only else positions

    return mutates


_OUTPUTS = ("output", "mean", "var")

BATCH_NORM = register(
    Operator(
        "BatchNorm",
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "(data - mean) / sqrt(variance + eps) * gamma + beta, with statistics for each\n"
            "index of axis (each channel).\n\n"
            "In training the statistics are those of the batch, and each moving statistic\n"
            "becomes momentum * moving + (1 - momentum) * batch. Otherwise, and with\n"
            "use_global_stats, the moving statistics are used. fix_gamma treats gamma as 1.\n"
            "output_mean_var also returns the mean and the inverse standard deviation.\n"
            "cudnn_off and the calibration ranges are accepted and ignored.\n\n"
            "Shapes: data any, gamma, beta, moving_mean and moving_var (channels,), in float32\n"
            "where data is a 16-bit float, output that of data."
        ),
        inputs=_INPUTS,
        schema=Schema(
            eps=number(0.001),
            momentum=number(0.9),
            fix_gamma=boolean(True),
            use_global_stats=boolean(False),
            output_mean_var=boolean(False),
            axis=integer(1),
            cudnn_off=boolean(False),
            min_calib_range=optional(number()),
            max_calib_range=optional(number()),
        ),
        aliases=("_npx_batch_norm",),
        outputs=3,
        visible=lambda attrs: 3 if attrs["output_mean_var"] else 1,
        output_names=_OUTPUTS,
        execution=Execution(mutates=mutates_moving_at(3, 4), train_dependent=True, heavy=True),
        shapes=ShapeFacts(complete=_complete),
    )
)

_BACKWARD_SCHEMA = Schema(
    eps=number(0.001),
    fix_gamma=boolean(True),
    use_global_stats=boolean(False),
    axis=integer(1),
)

BATCH_NORM_BACKWARD = register(
    Operator(
        "_batch_norm_backward",
        lambda grad, data, gamma, mean, var, **_: (data, gamma, gamma),
        _backward_kernel,
        composite_gradient(_backward),
        doc=(
            "Gradients of BatchNorm's data, gamma and beta. var is the inverse standard\n"
            "deviation that BatchNorm returns; with use_global_stats the statistics do not\n"
            "depend on the data."
        ),
        inputs=("grad", "data", "gamma", "mean", "var"),
        schema=_BACKWARD_SCHEMA,
        outputs=3,
        output_names=("data", "gamma", "beta"),
        execution=Execution(heavy=True),
    )
)
