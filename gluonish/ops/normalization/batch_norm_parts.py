"""BatchNorm split into sums over the batch and elementwise arithmetic.

A plan splits BatchNorm to read memory as few times as possible: its normalization is elementwise,
and fused with its consumers; its gradient is two kernels that include the gradient of a following
``relu`` or ``clip``. These operators appear in planned graphs only, and have no gradients.
"""

from types import ModuleType
from typing import Any

from gluonish.core.schema import Schema, boolean, numbers
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution
from gluonish.ops.nn.activation import ACTIVATION_BACKWARD
from gluonish.ops.normalization.batch_norm import (
    BATCH_NORM,
    BATCH_NORM_BACKWARD,
    chosen_statistics,
    mutates_moving_at,
)
from gluonish.ops.registry import Attrs, Operator, register
from gluonish.ops.support.precision import total, widen

# Bounds of the output between which the gradient passes: no bounds, a lower bound, or both.
Bounds = tuple[float, ...]


def _statistics(
    xp: ModuleType,
    outputs: tuple[Any, Any, Any],
    data: Any,
    gamma: Any,
    moving_mean: Any,
    moving_var: Any,
    bias: Any = None,
    *,
    eps: float,
    fix_gamma: bool,
    **attrs: Any,
) -> None:
    mean, variance = chosen_statistics(xp, data, moving_mean, moving_var, attrs)
    if bias is not None and data.size:
        add_bias(moving_mean, bias, attrs["momentum"])
    finish_statistics(xp, outputs, mean, variance, gamma, eps=eps, fix_gamma=fix_gamma)


def add_bias(moving_mean: Any, bias: Any, momentum: float) -> None:
    """Add to a moving mean, after its update, what a bias adds to the mean of the data."""
    moving_mean += bias.astype(moving_mean.dtype) * moving_mean.dtype.type(1 - momentum)


def finish_statistics(
    xp: ModuleType,
    outputs: tuple[Any, Any, Any],
    mean: Any,
    variance: Any,
    gamma: Any,
    *,
    eps: float,
    fix_gamma: bool,
) -> None:
    """Fill the outputs of `BATCH_NORM_STATISTICS` from mean and biased variance."""
    out_mean, inverse_std, scale = outputs
    out_mean[...] = mean
    inverse_std[...] = 1 / xp.sqrt(variance + variance.dtype.type(eps))
    scale[...] = inverse_std if fix_gamma else inverse_std * gamma


def _channel_shape(data: Any) -> tuple[int, ...]:
    return (-1, *(1,) * (data.ndim - 2))


def _masked(
    xp: ModuleType, grad: Any, data: Any, mean: Any, scale: Any, beta: Any, bounds: Bounds
) -> Any:
    """Return the widened gradient, 0 where a following relu or clip stops it."""
    grad = widen(grad)
    if not bounds:
        return grad
    shape = _channel_shape(data)
    normalized = (widen(data) - mean.reshape(shape)) * scale.reshape(shape) + beta.reshape(shape)
    if len(bounds) == 1:
        return grad * (normalized > bounds[0])
    return grad * ~((normalized < bounds[0]) | (normalized > bounds[1]))


def _sums(
    xp: ModuleType,
    outputs: tuple[Any, ...],
    grad: Any,
    data: Any,
    mean: Any,
    inverse_std: Any,
    scale: Any,
    beta: Any,
    *,
    bounds: Bounds,
    fix_gamma: bool,
    use_global_stats: bool,
) -> None:
    grad = _masked(xp, grad, data, mean, scale, beta, bounds)
    axes = (0, *range(2, data.ndim))
    shape = _channel_shape(data)
    d_beta = total(xp, grad, axes).astype(grad.dtype, copy=False)
    product = grad * ((widen(data) - mean.reshape(shape)) * inverse_std.reshape(shape))
    projection = total(xp, product, axes).astype(grad.dtype, copy=False)
    flags = {"fix_gamma": fix_gamma, "use_global_stats": use_global_stats}
    finish_sums(outputs, data, d_beta, projection, inverse_std, scale, **flags)


def _residual_sums(
    xp: ModuleType,
    outputs: tuple[Any, ...],
    left: Any,
    right: Any,
    relu: Any,
    data: Any,
    mean: Any,
    inverse_std: Any,
    scale: Any,
    **flags: Any,
) -> None:
    grad, *rest = outputs
    ACTIVATION_BACKWARD.kernel(xp, grad, left + right, relu, act_type="relu")
    _sums(
        *(xp, tuple(rest), grad, data, mean, inverse_std, scale, mean),
        bounds=(),
        **flags,
    )


def finish_sums(
    outputs: tuple[Any, ...],
    data: Any,
    d_beta: Any,
    projection: Any,
    inverse_std: Any,
    scale: Any,
    *,
    fix_gamma: bool,
    use_global_stats: bool,
) -> None:
    """Fill the outputs of `BATCH_NORM_SUMS` from the sums of grad and of grad times normalized."""
    out_gamma, out_beta, slope, offset = outputs
    out_beta[...] = d_beta
    out_gamma[...] = 0 if fix_gamma else projection
    if use_global_stats:
        slope[...] = offset[...] = 0
        return
    share = scale * scale.dtype.type(-data.shape[1] / max(1, data.size))
    slope[...] = share * projection * inverse_std
    offset[...] = share * d_beta


def _data_gradient(
    xp: ModuleType,
    out: Any,
    grad: Any,
    data: Any,
    mean: Any,
    scale: Any,
    beta: Any,
    slope: Any,
    offset: Any,
    *,
    bounds: Bounds,
) -> None:
    shape = _channel_shape(data)
    grad = _masked(xp, grad, data, mean, scale, beta, bounds)
    rest = (widen(data) - mean.reshape(shape)) * slope.reshape(shape) + offset.reshape(shape)
    xp.add(grad * scale.reshape(shape), rest, out=out, casting="same_kind")


_FORWARD = BATCH_NORM.schema.attributes
_BACKWARD = BATCH_NORM_BACKWARD.schema.attributes
_FLAGS = {name: _BACKWARD[name] for name in ("fix_gamma", "use_global_stats")}


def _inputs_of_statistics(attrs: Attrs) -> tuple[str, ...]:
    names = ("data", "gamma", "moving_mean", "moving_var")
    return (*names, "bias") if attrs.get("has_bias", False) else names


BATCH_NORM_STATISTICS = register(
    Operator(
        "_batch_norm_statistics",
        lambda data, gamma, *_, **__: (gamma, gamma, gamma),
        _statistics,
        None,
        doc=(
            "Mean, inverse standard deviation, and scale of each channel (axis 1) of data, with\n"
            "which BatchNorm normalizes: (data - mean) * scale + beta. It updates the moving\n"
            "statistics as BatchNorm of data + bias does; with has_bias it is in training only."
        ),
        inputs=("data", "gamma", "moving_mean", "moving_var", "bias"),
        active_inputs=_inputs_of_statistics,
        schema=Schema(
            has_bias=boolean(False),
            **{name: _FORWARD[name] for name in ("eps", "momentum", "fix_gamma")},
            use_global_stats=boolean(False),
        ),
        outputs=3,
        output_names=("mean", "var", "scale"),
        execution=Execution(mutates=mutates_moving_at(2, 3), train_dependent=True, heavy=True),
    )
)


def _infer_sums(grad: Spec, data: Spec, mean: Spec, *_: Spec, **__: object) -> tuple[Spec, ...]:
    return (mean,) * 4


BATCH_NORM_SUMS = register(
    Operator(
        "_batch_norm_sums",
        _infer_sums,
        _sums,
        None,
        doc=(
            "Gradients of BatchNorm's gamma and beta, and the terms of the gradient of data.\n\n"
            "The gradient of data is grad * scale + (data - mean) * slope + offset. bounds:\n"
            "grad is that of the output of relu after BatchNorm, (0,), or of clip after it, the\n"
            "two bounds."
        ),
        inputs=("grad", "data", "mean", "var", "scale", "beta"),
        schema=Schema(bounds=numbers(()), **_FLAGS),
        outputs=4,
        output_names=("gamma", "beta", "slope", "offset"),
        execution=Execution(heavy=True),
    )
)


def _infer_residual_sums(
    left: Spec, right: Spec, relu: Spec, data: Spec, mean: Spec, *_: Spec, **__: object
) -> tuple[Spec, ...]:
    return (left, *(mean,) * 4)


BATCH_NORM_RESIDUAL_SUMS = register(
    Operator(
        "_batch_norm_residual_sums",
        _infer_residual_sums,
        _residual_sums,
        None,
        doc=(
            "_batch_norm_sums of a BatchNorm that is added to something before a relu.\n\n"
            "relu is that function's output, left and right are added to its gradient; grad is\n"
            "the gradient of the sum before it, hence of BatchNorm's output."
        ),
        inputs=("left", "right", "relu", "data", "mean", "var", "scale"),
        schema=Schema(**_FLAGS),
        outputs=5,
        output_names=("grad", "gamma", "beta", "slope", "offset"),
        execution=Execution(heavy=True, overwrites=lambda attrs: 0),
    )
)

BATCH_NORM_DATA_GRADIENT = register(
    Operator(
        "_batch_norm_data_gradient",
        lambda grad, data, *_, **__: (data,),
        _data_gradient,
        None,
        doc="The gradient of BatchNorm's data from the outputs of _batch_norm_sums.",
        inputs=("grad", "data", "mean", "scale", "beta", "slope", "offset"),
        schema=Schema(bounds=numbers(())),
        execution=Execution(heavy=True),
    )
)
