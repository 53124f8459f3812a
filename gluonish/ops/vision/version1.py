"""Convolution_v1, Pooling_v1 and BatchNorm_v1: the first versions of layers, for images only.

These operators use the kernels and gradients of their successors, with few differences: averages
divide by the full window, maxima include the padding, and BatchNorm_v1 outputs the variance.
"""

import math
from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, choice, integer, number, shape
from gluonish.core.spec import PartialSpec, Shape, Spec
from gluonish.ops.elementwise.unary import RSQRT
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.indexing.slice import slice_
from gluonish.ops.nn.convolution import CONVOLUTION
from gluonish.ops.nn.pooling import POOLING
from gluonish.ops.normalization.batch_norm import BATCH_NORM
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.shape.pad import PAD
from gluonish.ops.support.shape_rules import limited
from gluonish.ops.vision.regions import check_rank


def _check_image(name: str, data: Spec, kernel: Shape, attrs: Attrs) -> None:
    check_rank(name, "data", data, "N C H W")
    if len(kernel) != 2:
        raise OperatorError(f"{name}: expected a kernel of 2 axes, got {kernel}")
    # The kernels pad images with zeros, and the last window may extend past the padding.
    edges = attrs["pad"], attrs["stride"], attrs["kernel"]
    reach = [sum(values[i] for values in edges if len(values) == 2) for i in range(2)]
    limited(
        name, (*data.shape[:2], *(n + 2 * r for n, r in zip(data.shape[2:], reach, strict=True)))
    )


def _inferred(name: str, successor: Operator, *specs: Spec, **attrs: Any) -> tuple[Spec, ...]:
    """Return inference by the successor, with the successor's name replaced in errors."""
    try:
        return successor.infer(*specs, **attrs)
    except OperatorError as error:
        raise OperatorError(f"{name}: {str(error).partition(': ')[2]}") from error


def _convolution_infer(data: Spec, *parameters: Spec, **attrs: Any) -> tuple[Spec, ...]:
    _check_image("Convolution_v1", data, attrs["kernel"], attrs)
    return _inferred("Convolution_v1", CONVOLUTION, data, *parameters, **attrs)


def _convolution_gradient(g: V, *inputs: V, **attrs: Any) -> Any:
    assert CONVOLUTION.gradient is not None
    return CONVOLUTION.gradient(g, *inputs, **attrs)


CONVOLUTION_V1 = register(
    Operator(
        "Convolution_v1",
        _convolution_infer,
        CONVOLUTION.kernel,
        _convolution_gradient,
        doc=(
            "Apply the first version of Convolution, for images.\n\n"
            "workspace, cudnn_tune and cudnn_off are accepted and ignored.\n\n"
            "Shapes: data (N, C, H, W), weight (num_filter, C / num_group, *kernel), bias\n"
            "(num_filter,), output (N, num_filter, H', W')."
        ),
        inputs=CONVOLUTION.inputs,
        active_inputs=CONVOLUTION.active_inputs,
        schema=Schema(
            kernel=shape(),
            stride=shape(()),
            dilate=shape(()),
            pad=shape(()),
            num_filter=integer(low=1),
            num_group=integer(1, low=1),
            workspace=integer(1024, low=0),
            no_bias=boolean(False),
            cudnn_tune=choice("off", "limited_workspace", "fastest", None, default=None),
            cudnn_off=boolean(False),
            layout=choice(None, "NCDHW", "NCHW", "NDHWC", "NHWC", default=None),
        ),
        shapes=ShapeFacts(complete=CONVOLUTION.complete),
        execution=Execution(heavy=True),
    )
)


def _pooling_attrs(attrs: Attrs) -> dict[str, Any]:
    """Return Pooling's attributes; averages are computed as sums, divided afterwards."""
    kind = "sum" if attrs["pool_type"] == "avg" else attrs["pool_type"]
    return {**POOLING.schema.defaults, **attrs, "pool_type": kind}


def _pooling_scale(attrs: Attrs, data: Shape) -> float:
    """Return the factor that converts the sums to averages."""
    if attrs["pool_type"] != "avg":
        return 1.0
    return 1 / max(1, math.prod(data[2:] if attrs["global_pool"] else attrs["kernel"]))


def _margin(attrs: Attrs) -> Shape:
    """Return the rows and columns of padding that maxima include."""
    if attrs["pool_type"] != "max" or attrs["global_pool"]:
        return (0, 0)
    return attrs["pad"] or (0, 0)


def _pooling_infer(data: Spec, **attrs: Any) -> tuple[Spec, ...]:
    kernel = (0, 0) if attrs["global_pool"] else attrs["kernel"]
    _check_image("Pooling_v1", data, kernel, attrs)
    if not is_floating(data.dtype):
        raise OperatorError(f"Pooling_v1: expected floating data, got {data.dtype.name}")
    return _inferred("Pooling_v1", POOLING, data, **_pooling_attrs(attrs))


def _pooling_kernel(xp: ModuleType, out: Any, data: Any, **attrs: Any) -> None:
    pooling_attrs, margin = _pooling_attrs(attrs), _margin(attrs)
    if any(margin):
        data = xp.pad(data, ((0, 0), (0, 0), *((n, n) for n in margin)))
        pooling_attrs["pad"] = (0, 0)
    POOLING.kernel(xp, out, data, **pooling_attrs)
    scale = _pooling_scale(attrs, data.shape)
    if scale != 1.0:
        out[...] = out * out.dtype.type(scale)


def _pooling_gradient(g: V, data: V, out: V, **attrs: Any) -> tuple[Any]:
    assert POOLING.gradient is not None
    pooling_attrs, margin = _pooling_attrs(attrs), _margin(attrs)
    if not any(margin):
        scale = _pooling_scale(attrs, data.shape)
        (found,) = POOLING.gradient(g * scale if scale != 1.0 else g, data, out, **pooling_attrs)
        return (found,)
    widths = (0, 0, 0, 0, margin[0], margin[0], margin[1], margin[1])
    padding = {"mode": "constant", "pad_width": widths, "constant_value": 0.0}
    padded = apply(PAD, (data,), padding)
    (found,) = POOLING.gradient(g, padded, out, **{**pooling_attrs, "pad": (0, 0)})
    end = (*data.shape[:2], *(p + n for p, n in zip(margin, data.shape[2:], strict=True)))
    return (slice_(found, (0, 0, *margin), end),)


def _pooling_complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    assert POOLING.complete is not None
    POOLING.complete(inputs, outputs, _pooling_attrs(attrs))


POOLING_V1 = register(
    Operator(
        "Pooling_v1",
        _pooling_infer,
        _pooling_kernel,
        Gradient(_pooling_gradient, uses_output=True),
        doc=(
            "Apply the first version of Pooling, for images: the maximum, mean or sum of each\n"
            "window.\n\n"
            "Means divide by the size of the full window, even where it extends past the\n"
            "padding, and maxima include the zeros of the padding.\n\n"
            "Shapes: data (N, C, H, W), output (N, C, H', W')."
        ),
        schema=Schema(
            kernel=shape(()),
            pool_type=choice("avg", "max", "sum", default="max"),
            global_pool=boolean(False),
            pooling_convention=choice("full", "valid", default="valid"),
            stride=shape(()),
            pad=shape(()),
        ),
        shapes=ShapeFacts(complete=_pooling_complete),
        execution=Execution(heavy=True),
    )
)


def _norm_attrs(attrs: Attrs) -> dict[str, Any]:
    return {**BATCH_NORM.schema.defaults, **attrs}


def _norm_infer(data: Spec, *parameters: Spec, **attrs: Any) -> tuple[Spec, ...]:
    if len(data.shape) not in (2, 4):
        raise OperatorError(f"BatchNorm_v1: expected data (N, C) or (N, C, H, W), got {data.shape}")
    return _inferred("BatchNorm_v1", BATCH_NORM, data, *parameters, **_norm_attrs(attrs))


def _norm_kernel(xp: ModuleType, out: Any, *inputs: Any, **attrs: Any) -> None:
    BATCH_NORM.kernel(xp, out, *inputs, **_norm_attrs(attrs))
    deviation = out[2]
    deviation[...] = 1 / (deviation * deviation) - deviation.dtype.type(attrs["eps"])


def _norm_gradient(g: tuple[V | None, ...], *values: V, **attrs: Any) -> Any:
    assert BATCH_NORM.gradient is not None
    *before, variance = values
    inverse = RSQRT(variance + attrs["eps"])
    return BATCH_NORM.gradient(g, *before, inverse, **_norm_attrs(attrs))


def _norm_complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    assert BATCH_NORM.complete is not None
    BATCH_NORM.complete(inputs, outputs, _norm_attrs(attrs))


BATCH_NORM_V1 = register(
    Operator(
        "BatchNorm_v1",
        _norm_infer,
        _norm_kernel,
        Gradient(_norm_gradient, uses_output=True),
        doc=(
            "Apply the first version of BatchNorm, over axis 1.\n\n"
            "output_mean_var also returns the mean and the variance. Moving statistics are\n"
            "updated in the forward pass.\n\n"
            "Shapes: data (N, C) or (N, C, H, W), the others (C,), output that of data."
        ),
        inputs=BATCH_NORM.inputs,
        schema=Schema(
            eps=number(0.001),
            momentum=number(0.9),
            fix_gamma=boolean(True),
            use_global_stats=boolean(False),
            output_mean_var=boolean(False),
        ),
        outputs=3,
        visible=lambda attrs: 3 if attrs["output_mean_var"] else 1,
        output_names=BATCH_NORM.output_names,
        execution=Execution(mutates=BATCH_NORM.mutates, train_dependent=True, heavy=True),
        shapes=ShapeFacts(complete=_norm_complete),
    )
)
