"""_int8_weight, _int8_scales, _int8_range and _int8_quantize: operators of 8-bit layers.

A *step* is the real number represented by an integer difference of 1.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, INT8, INT32, UINT8
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, choice, integer, number
from gluonish.core.spec import Spec
from gluonish.ops.quantization.ranges import (
    CALIBRATION,
    RANGE,
    STEPS,
    WIDE_STEPS,
    byte_dtype,
    calibrated,
    divisor,
    fill_range,
    fill_rounded,
    magnitude,
)
from gluonish.ops.registry import Attrs, Operator, register


def _weight_infer(weight: Spec, *, channel_wise: bool) -> tuple[Spec, Spec]:
    if weight.dtype != FLOAT32 or not weight.shape:
        raise OperatorError(f"_int8_weight: expected a float32 weight with channels, got {weight}")
    return Spec(weight.shape, INT8), Spec(weight.shape[:1], FLOAT32)


def _weight_kernel(xp: ModuleType, out: Any, weight: Any, *, channel_wise: bool) -> None:
    quantized, steps = out
    rows = xp.abs(xp.nan_to_num(weight)).reshape(len(weight), -1)
    sizes = rows.max(axis=1) if rows.size else xp.zeros(len(weight), FLOAT32)
    if not channel_wise and sizes.size:
        sizes = xp.broadcast_to(sizes.max(), sizes.shape)
    found = divisor(xp, sizes) / np.float32(STEPS[INT8])
    steps[...] = found
    fill_rounded(xp, quantized, weight / found.reshape(-1, *(1,) * (weight.ndim - 1)))


INT8_WEIGHT = register(
    Operator(
        "_int8_weight",
        _weight_infer,
        _weight_kernel,
        None,
        doc=(
            "Quantize a weight to int8, and return the step of each channel.\n\n"
            "127 represents the largest magnitude in a channel, or without channel_wise in the\n"
            "weight.\n\n"
            "Shapes: weight (channels, ...), outputs that of weight and (channels,)."
        ),
        inputs=("weight",),
        schema=Schema(channel_wise=boolean(True)),
        outputs=2,
        output_names=("output", "steps"),
    )
)

_DTYPE = choice("int8", "uint8")


def _scale_inputs(attrs: Attrs) -> tuple[str, ...]:
    names = ["min_data", "max_data"]
    names += ["min_weight", "max_weight"] if attrs["offline"] else ["steps"]
    if attrs["with_bias"]:
        names += ["bias", "min_bias", "max_bias"] if attrs["offline"] else ["bias"]
    if attrs["with_sum"]:
        names += ["min_sum", "max_sum"]
    return tuple(names)


def _scales_infer(*inputs: Spec, channels: int, **attrs: Any) -> tuple[Spec, ...]:
    calibrated("_int8_scales", attrs)
    vector = Spec((channels,), FLOAT32)
    return vector, vector, RANGE, RANGE, RANGE


def _check_unsigned(low: Any, high: Any) -> None:
    """Raise OperatorError for uint8 data with a negative range that does not round to 0."""
    first, last = (float(end.reshape(-1)[0]) for end in (low, high))
    if first < -abs(last) / (2 * STEPS[UINT8]):
        raise OperatorError(
            f"_sg_mkldnn: expected int8 data for a range below 0, got uint8 data in "
            f"({first:g}, {last:g}); quantize the network with quantized_dtype int8 or auto"
        )


def _scales_kernel(
    xp: ModuleType,
    out: Any,
    *arrays: Any,
    data_type: str,
    sum_type: str,
    out_type: str,
    min_calib_range: float | None,
    max_calib_range: float | None,
    **attrs: Any,
) -> None:
    scale, bias, out_step, low, high = out
    named = dict(zip(_scale_inputs(attrs), arrays, strict=True))
    if xp is np and data_type == "uint8":  # on a GPU reading the range would synchronize
        _check_unsigned(named["min_data"], named["max_data"])

    def step(name: str, steps: float) -> Any:
        return magnitude(xp, named[f"min_{name}"], named[f"max_{name}"]) / np.float32(steps)

    weight = step("weight", STEPS[INT8]) if attrs["offline"] else named["steps"]
    factor = step("data", WIDE_STEPS[np.dtype(data_type)]) * weight
    addend = (
        divisor(xp, step("sum", WIDE_STEPS[np.dtype(sum_type)]))
        if attrs["with_sum"]
        else np.float32(1)
    )
    scale[...] = factor / addend
    bias[...] = 0
    if attrs["with_bias"]:
        real = named["bias"] * step("bias", STEPS[INT8]) if attrs["offline"] else named["bias"]
        bias[...] = real / addend
    if out_type == "float32":
        result_step = np.float32(1)
    elif min_calib_range is None:
        result_step = factor.max() if factor.size else np.float32(0)
        limit = xp.asarray(result_step * np.float32(STEPS[INT32]), dtype=FLOAT32)
        fill_range(xp, (low, high), -limit, limit)
    else:
        fill_range(xp, (low, high), min_calib_range, max_calib_range)
        limit = magnitude(xp, min_calib_range, max_calib_range)
        result_step = divisor(xp, limit) / np.float32(WIDE_STEPS[np.dtype(out_type)])
    if out_type == "float32":
        fill_range(xp, (low, high), 0.0, 0.0)
    out_step[...] = result_step / addend


INT8_SCALES = register(
    Operator(
        "_int8_scales",
        _scales_infer,
        _scales_kernel,
        None,
        doc=(
            "Compute the factors of an 8-bit layer, and the range of its result.\n\n"
            "scale and bias convert its sums to steps of the addend, or without with_sum to\n"
            "real numbers; out_step converts the result to steps of the output. offline means\n"
            "that weight and bias are int8 with ranges. data_type, sum_type and out_type are\n"
            "dtypes; for int32 the range holds all sums.\n\n"
            "Shapes: ranges (1,), steps and bias (channels,), outputs (channels,), (channels,),\n"
            "(1,), (1,) and (1,)."
        ),
        inputs=(
            *("min_data", "max_data", "steps", "min_weight", "max_weight"),
            *("bias", "min_bias", "max_bias", "min_sum", "max_sum"),
        ),
        active_inputs=_scale_inputs,
        schema=Schema(
            channels=integer(low=0),
            data_type=_DTYPE,
            sum_type=choice("int8", "uint8", default="int8"),
            out_type=choice("float32", "int8", "uint8", "int32", default="float32"),
            with_bias=boolean(False),
            with_sum=boolean(False),
            offline=boolean(False),
            **CALIBRATION,
        ),
        outputs=5,
        output_names=("scale", "bias", "out_step", "min_output", "max_output"),
    )
)


def _range_infer(*, low: float, high: float, out_type: str) -> tuple[Spec, Spec, Spec]:
    return RANGE, RANGE, RANGE


def _range_kernel(xp: ModuleType, out: Any, *, low: float, high: float, out_type: str) -> None:
    fill_range(xp, out[:2], low, high)
    steps = WIDE_STEPS[byte_dtype(out_type, (low, high))]
    out[2][...] = np.float32(steps) / divisor(xp, magnitude(xp, low, high))


_OUT_TYPE = choice("auto", "int8", "uint8", default="int8")

INT8_RANGE = register(
    Operator(
        "_int8_range",
        _range_infer,
        _range_kernel,
        None,
        doc=(
            "Return the minimum and maximum of a range, and the factor that converts its numbers\n"
            "to out_type.\n\n"
            "Shapes: outputs (1,), float32."
        ),
        inputs=(),
        schema=Schema(low=number(), high=number(), out_type=_OUT_TYPE),
        outputs=3,
        output_names=("min_output", "max_output", "scale"),
    )
)


def _quantize_infer(data: Spec, scale: Spec, *, out_type: str) -> tuple[Spec]:
    if data.dtype != FLOAT32 or scale != RANGE:
        raise OperatorError(
            f"_int8_quantize: expected float32 data and a scale {RANGE}, got {data} and {scale}"
        )
    return (Spec(data.shape, np.dtype(out_type)),)


def _quantize_kernel(xp: ModuleType, out: Any, data: Any, scale: Any, *, out_type: str) -> None:
    fill_rounded(xp, out, data * scale)


INT8_QUANTIZE = register(
    Operator(
        "_int8_quantize",
        _quantize_infer,
        _quantize_kernel,
        None,
        doc=(
            "Multiply data by scale, round to the nearest integers, and clip to the range of the\n"
            "8-bit dtype.\n\n"
            "Shapes: data any, scale (1,), output that of data."
        ),
        inputs=("data", "scale"),
        schema=Schema(out_type=choice("int8", "uint8", default="int8")),
    )
)
