"""GroupNorm and InstanceNorm: normalize each sample over groups of channels or single channels.

Both split a sample into rows: InstanceNorm has one row per channel, GroupNorm one per group of
consecutive channels. Their gamma and beta have one entry per row; those of GroupNorm may have one
per channel instead, as in MXNet 2.0 and in the paper.

References:
    Y. Wu, K. He, Group Normalization, 2018.
    D. Ulyanov, A. Vedaldi, V. Lempitsky, Instance Normalization: The Missing Ingredient for Fast
        Stylization, 2016.
"""

import math
from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.core.schema import Schema, boolean, integer, number
from gluonish.core.spec import UNKNOWN, PartialSpec, Shape, Spec, merge_dtypes, merge_shapes
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.normalization.layer_norm import pull_back, standardize, standardize_back
from gluonish.ops.reductions.reduction import sum_
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.precision import total, widen
from gluonish.ops.support.shape_rules import parameter_error

_INPUTS = ("data", "gamma", "beta")


def _rows(shape: Shape, count: int) -> Shape:
    """Return the shape (samples, rows, elements of a row)."""
    return shape[0], count, math.prod(shape[1:]) // max(1, count)


def _check(name: str, data: Spec, parameters: tuple[Spec, ...], rows: int) -> None:
    """Check data, and that gamma and beta have an entry for each row of a sample."""
    if not is_floating(data.dtype) or len(data.shape) < 3:
        raise OperatorError(f"{name}: expected floating data of at least 3 axes, got {data}")
    expected = Spec((rows,), data.dtype)
    for word, spec in zip(_INPUTS[1:], parameters, strict=True):
        if spec != expected:
            if rows == data.shape[1]:
                raise parameter_error(name, word, expected, spec, data, 1)
            raise OperatorError(f"{name}: expected {word} {expected} for data {data}, got {spec}")


def _channels(shape: Shape) -> int:
    """Return the extent of axis 1, `UNKNOWN` if there is no such axis."""
    return shape[1] if len(shape) > 1 else UNKNOWN


def _infer_group(data: Spec, *parameters: Spec, num_groups: int, **_: object) -> tuple[Spec, ...]:
    of_channels = parameters[0].shape == (_channels(data.shape),)
    _check("GroupNorm", data, parameters, data.shape[1] if of_channels else num_groups)
    if data.shape[1] % num_groups:
        raise OperatorError(
            f"GroupNorm: expected channels that num_groups={num_groups} divides, got data {data}"
        )
    statistic = Spec((data.shape[0], num_groups), data.dtype)
    return data, statistic, statistic


def _infer_instance(data: Spec, *parameters: Spec, **_: object) -> tuple[Spec, ...]:
    channels = _channels(data.shape)
    _check("InstanceNorm", data, parameters, channels)
    statistic = Spec((data.shape[0], channels), data.dtype)
    return data, statistic, statistic


def _kernel(
    xp: ModuleType,
    outputs: tuple[Any, Any, Any],
    data: Any,
    gamma: Any,
    beta: Any,
    *,
    eps: float,
    **_: object,
) -> None:
    out, out_mean, out_std = outputs
    rows = widen(data).reshape(_rows(data.shape, out_mean.shape[1]))
    normalized, mean, std = standardize(xp, rows, 2, eps)
    scaled = normalized.reshape(_rows(data.shape, len(gamma)))
    scaled *= widen(gamma)[:, None]
    scaled += widen(beta)[:, None]
    out[...] = scaled.reshape(out.shape)
    out_mean[...], out_std[...] = mean[..., 0], std[..., 0]


def _backward_kernel(
    xp: ModuleType,
    outputs: tuple[Any, Any, Any],
    grad: Any,
    data: Any,
    gamma: Any,
    mean: Any,
    std: Any,
    **_: object,
) -> None:
    d_data, d_gamma, d_beta = outputs
    parts, shape = _rows(data.shape, len(gamma)), _rows(data.shape, mean.shape[1])
    rows, std = widen(grad).reshape(parts), widen(std)[..., None]
    normalized = widen(data).reshape(shape) - widen(mean)[..., None]
    normalized /= std
    d_gamma[...] = total(xp, rows * normalized.reshape(parts), (0, 2))
    d_beta[...] = total(xp, rows, (0, 2))
    scaled = (rows * widen(gamma)[:, None]).reshape(shape)
    d_data[...] = standardize_back(xp, scaled, normalized, std, 2).reshape(d_data.shape)


def _backward(
    grad: Any, data: Any, gamma: Any, mean: Any, _std: Any, *, eps: float
) -> tuple[Any, Any, Any]:
    """Compute `_backward_kernel`'s result with operators."""
    parts, shape = _rows(data.shape, gamma.shape[0]), _rows(data.shape, mean.shape[1])
    share = 1 / max(1, shape[2])

    def average(x: Any) -> Any:
        return reshape(sum_(x, axis=(2,)), (*shape[:2], 1)) * share

    rows, values = reshape(grad, parts), reshape(data, shape)
    scaled = reshape(rows * reshape(gamma, (1, parts[1], 1)), shape)
    normalized, d_rows = pull_back(values, scaled, average, eps)
    d_data, normalized = reshape(d_rows, data.shape), reshape(normalized, parts)
    return d_data, sum_(rows * normalized, axis=(0, 2)), sum_(rows, axis=(0, 2))


def _gradient(g: tuple[V | None, ...], *values: V, **attrs: Any) -> Any:
    data, gamma, _, _, mean, std = values
    if g[0] is None:
        return (None, None, None)
    return tuple(apply(GROUP_NORM_BACKWARD, (g[0], data, gamma, mean, std), {"eps": attrs["eps"]}))


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    shape = merge_shapes(inputs[0].shape, outputs[0].shape, "normalized output")
    dtype = None
    for spec in (*inputs, *outputs):
        dtype = merge_dtypes(dtype, spec.dtype, "normalization")
    inputs[0] = outputs[0] = PartialSpec(shape, dtype)
    channels = UNKNOWN if shape is None else _channels(shape)
    rows = attrs.get("num_groups", channels)
    for i in (1, 2):
        known = inputs[i].shape
        of_channels = follows_mxnet2() if known is None else known in ((channels,), (UNKNOWN,))
        size = channels if of_channels else rows
        inputs[i] = PartialSpec(merge_shapes((size,), known, _INPUTS[i]), dtype)
    for i in range(1, len(outputs)):
        outputs[i] = PartialSpec(None if shape is None else (shape[0], rows), dtype)


GROUP_NORM = register(
    Operator(
        "GroupNorm",
        _infer_group,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "(data - mean) / sqrt(variance + eps) * gamma + beta, with statistics of each\n"
            "sample and group of channels.\n\n"
            "num_groups divides C. output_mean_var also returns the mean and the standard\n"
            "deviation sqrt(variance + eps), each (N, num_groups); no gradient flows through\n"
            "these two.\n\n"
            "Shapes: data (N, C, ...) of at least 3 axes, gamma and beta (num_groups,) or (C,),\n"
            "output that of data."
        ),
        inputs=_INPUTS,
        schema=Schema(
            num_groups=integer(1, low=1), eps=number(1e-5), output_mean_var=boolean(False)
        ),
        outputs=3,
        visible=lambda attrs: 3 if attrs["output_mean_var"] else 1,
        output_names=("output", "mean", "std"),
        shapes=ShapeFacts(complete=_complete),
        execution=Execution(heavy=True),
    )
)

INSTANCE_NORM = register(
    Operator(
        "InstanceNorm",
        _infer_instance,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "(data - mean) / sqrt(variance + eps) * gamma + beta, with statistics of each\n"
            "sample and channel.\n\n"
            "Shapes: data (N, C, ...) of at least 3 axes, gamma and beta (C,), output that of\n"
            "data."
        ),
        inputs=_INPUTS,
        schema=Schema(eps=number(1e-3)),
        outputs=3,
        visible=1,
        output_names=("output", "mean", "std"),
        shapes=ShapeFacts(complete=_complete),
        execution=Execution(heavy=True),
    )
)

GROUP_NORM_BACKWARD = register(
    Operator(
        "_group_norm_backward",
        lambda grad, data, gamma, mean, std, **_: (data, gamma, gamma),
        _backward_kernel,
        composite_gradient(_backward),
        doc="Gradients of data, gamma and beta of GroupNorm and InstanceNorm.",
        inputs=("grad", "data", "gamma", "mean", "std"),
        schema=Schema(eps=number(1e-5)),
        outputs=3,
        output_names=("data", "gamma", "beta"),
        execution=Execution(heavy=True),
    )
)
