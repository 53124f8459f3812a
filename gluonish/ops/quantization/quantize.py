"""_contrib_quantize, _contrib_quantize_v2 and _contrib_quantize_asym: float32 to 8-bit.

_contrib_dequantize (8-bit to float32) and _contrib_requantize (int32 to 8-bit).
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, INT8, INT32, UINT8
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, choice
from gluonish.core.spec import PartialSpec, Spec
from gluonish.ops.facts import ShapeFacts
from gluonish.ops.quantization.ranges import (
    CALIBRATION,
    RANGE,
    STEPS,
    WIDE_STEPS,
    byte_dtype,
    calibrated,
    check_quantized,
    check_ranges,
    complete_ranges,
    divisor,
    fill_range,
    fill_rounded,
    magnitude,
    range_of,
)
from gluonish.ops.quantization.scales import INT8_QUANTIZE, INT8_RANGE
from gluonish.ops.registry import Attrs, Operator, apply, register


def _check_float(name: str, data: Spec) -> None:
    if data.dtype != FLOAT32:
        raise OperatorError(f"{name}: expected float32 data, got {data.dtype.name}")


def _infer(data: Spec, min_range: Spec, max_range: Spec, *, out_type: str) -> tuple[Spec, ...]:
    _check_float("_contrib_quantize", data)
    check_ranges("_contrib_quantize", min_range, max_range)
    return Spec(data.shape, np.dtype(out_type)), RANGE, RANGE


def _kernel(
    xp: ModuleType, out: Any, data: Any, min_range: Any, max_range: Any, *, out_type: str
) -> None:
    _fill(xp, out, data, min_range, max_range, STEPS)


def _fill(xp: ModuleType, out: Any, data: Any, low: Any, high: Any, steps: Any) -> None:
    quantized = out[0]
    limit = magnitude(xp, low, high)
    scale = np.float32(steps[quantized.dtype]) / divisor(xp, limit)
    fill_rounded(xp, quantized, data * scale)
    if quantized.dtype == INT8:
        fill_range(xp, out[1:], -limit, limit)
    else:
        fill_range(xp, out[1:], low, high)


QUANTIZE = register(
    Operator(
        "_contrib_quantize",
        _infer,
        _kernel,
        None,
        doc=(
            "Convert data to int8 or uint8, and return the represented range.\n\n"
            "min_range and max_range hold the range. For int8 it is made symmetric; uint8 has no\n"
            "negative numbers.\n\n"
            "Shapes: data any, min_range and max_range (1,), outputs that of data, (1,) and\n"
            "(1,)."
        ),
        inputs=("data", "min_range", "max_range"),
        schema=Schema(out_type=choice("int8", "uint8", default="uint8")),
        outputs=3,
        shapes=ShapeFacts(complete=complete_ranges(FLOAT32)),
    )
)


def _v2_infer(data: Spec, *, out_type: str, **attrs: Any) -> tuple[Spec, ...]:
    name = "_contrib_quantize_v2"
    found = calibrated(name, attrs)
    if data.dtype in (INT8, UINT8):
        if found is None:
            raise OperatorError(
                f"{name}: expected min_calib_range and max_calib_range for {data.dtype.name} "
                "data, got none"
            )
        return data, RANGE, RANGE
    _check_float(name, data)
    return Spec(data.shape, byte_dtype(out_type, found)), RANGE, RANGE


def _v2_kernel(
    xp: ModuleType,
    out: Any,
    data: Any,
    *,
    out_type: str,
    min_calib_range: float | None,
    max_calib_range: float | None,
) -> None:
    if data.dtype in (INT8, UINT8):
        out[0][...] = data
        fill_range(xp, out[1:], min_calib_range, max_calib_range)
        return
    _fill(xp, out, data, *range_of(data, min_calib_range, max_calib_range), WIDE_STEPS)


def _v2_expand(inputs: Sequence[Any], attrs: Attrs) -> list[Any]:
    """Expand to operators that take the range of calibrated data from the attributes."""
    (data,) = inputs
    found = calibrated("_contrib_quantize_v2", attrs)
    # Arrays of eager calls, and data without calibration, use the operator itself.
    if found is None or np.dtype(data.dtype) != FLOAT32 or not hasattr(data, "node"):
        return list(apply(QUANTIZE_V2, inputs, attrs))
    low, high = found
    out_type = byte_dtype(attrs["out_type"], found).name
    if out_type == "int8":  # symmetric range
        low, high = -max(abs(low), abs(high)), max(abs(low), abs(high))
    ends = {"low": low, "high": high, "out_type": out_type}
    *ends_of, scale = type(data).__apply__(INT8_RANGE, (), ends)
    return [apply(INT8_QUANTIZE, (data, scale), {"out_type": out_type}), *ends_of]


QUANTIZE_V2 = register(
    Operator(
        "_contrib_quantize_v2",
        _v2_infer,
        _v2_kernel,
        None,
        doc=(
            "Convert data to int8 or uint8, and return the represented range.\n\n"
            "The range is min_calib_range to max_calib_range, or without them the range of\n"
            "data. With out_type auto the result is uint8 if min_calib_range is not below 0,\n"
            "else int8. 8-bit data is returned unchanged.\n\n"
            "Shapes: data any, outputs that of data, (1,) and (1,)."
        ),
        schema=Schema(out_type=choice("auto", "int8", "uint8", default="int8"), **CALIBRATION),
        outputs=3,
        shapes=ShapeFacts(complete=complete_ranges(None), expand=_v2_expand),
    )
)


def _asym_infer(data: Spec, **attrs: Any) -> tuple[Spec, ...]:
    _check_float("_contrib_quantize_asym", data)
    calibrated("_contrib_quantize_asym", attrs)
    return Spec(data.shape, UINT8), RANGE, RANGE


def _asym_kernel(
    xp: ModuleType,
    out: Any,
    data: Any,
    *,
    min_calib_range: float | None,
    max_calib_range: float | None,
) -> None:
    low, high = min_calib_range, max_calib_range
    if low is None:
        low, high = (data.min(), data.max()) if data.size else (0.0, 0.0)
    width = xp.asarray(high, dtype=FLOAT32) - xp.asarray(low, dtype=FLOAT32)
    scale = xp.where(width > 0, np.float32(255) / xp.where(width > 0, width, 1), np.float32(1))
    scale = scale.astype(FLOAT32)
    shift = np.float32(255) - xp.asarray(high, dtype=FLOAT32) * scale
    fill_rounded(xp, out[0], data * scale + shift)
    fill_range(xp, out[1:], scale, shift)


QUANTIZE_ASYM = register(
    Operator(
        "_contrib_quantize_asym",
        _asym_infer,
        _asym_kernel,
        None,
        doc=(
            "Convert data to uint8 as data * scale + shift, and return scale and shift.\n\n"
            "The range is min_calib_range to max_calib_range, or without them the range of\n"
            "data.\n\n"
            "Shapes: data any, outputs that of data, (1,) and (1,)."
        ),
        schema=Schema(**CALIBRATION),
        outputs=3,
        output_names=("output", "scale", "shift"),
        shapes=ShapeFacts(complete=complete_ranges(FLOAT32)),
    )
)


def _infer_dequantize(
    data: Spec, min_range: Spec, max_range: Spec, *, out_type: str
) -> tuple[Spec]:
    check_quantized("_contrib_dequantize", data)
    check_ranges("_contrib_dequantize", min_range, max_range)
    return (Spec(data.shape, FLOAT32),)


def _kernel_dequantize(
    xp: ModuleType, out: Any, data: Any, min_range: Any, max_range: Any, *, out_type: str
) -> None:
    step = magnitude(xp, min_range, max_range) / np.float32(WIDE_STEPS[data.dtype])
    xp.multiply(data, step, out=out, dtype=FLOAT32)


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], _attrs: Attrs) -> None:
    inputs[1:] = [PartialSpec(spec.shape, spec.dtype or FLOAT32) for spec in inputs[1:]]
    outputs[0] = PartialSpec(outputs[0].shape, FLOAT32)


DEQUANTIZE = register(
    Operator(
        "_contrib_dequantize",
        _infer_dequantize,
        _kernel_dequantize,
        None,
        doc=(
            "Convert int8 or uint8 data with a range to float32.\n\n"
            "Shapes: data any, min_range and max_range (1,), output that of data."
        ),
        inputs=("data", "min_range", "max_range"),
        schema=Schema(out_type=choice("float32", default="float32")),
        shapes=ShapeFacts(complete=_complete),
    )
)

_NAME = "_contrib_requantize"


def _requantize_infer(
    data: Spec, min_range: Spec, max_range: Spec, *, out_type: str, **attrs: Any
) -> tuple[Spec, ...]:
    if data.dtype != INT32:
        raise OperatorError(f"{_NAME}: expected int32 data, got {data.dtype.name}")
    check_ranges(_NAME, min_range, max_range)
    found = calibrated(_NAME, attrs)
    return Spec(data.shape, byte_dtype(out_type, found)), RANGE, RANGE


def _requantize_kernel(
    xp: ModuleType,
    out: Any,
    data: Any,
    min_range: Any,
    max_range: Any,
    *,
    out_type: str,
    min_calib_range: float | None,
    max_calib_range: float | None,
) -> None:
    quantized = out[0]
    real = data * (magnitude(xp, min_range, max_range).astype(xp.float64) / STEPS[INT32])
    limit = magnitude(xp, *range_of(real, min_calib_range, max_calib_range))
    fill_rounded(xp, quantized, real * (STEPS[quantized.dtype] / divisor(xp, limit)))
    if quantized.dtype == INT8:
        fill_range(xp, out[1:], -limit, limit)
    else:
        fill_range(xp, out[1:], 0.0, limit)


REQUANTIZE = register(
    Operator(
        _NAME,
        _requantize_infer,
        _requantize_kernel,
        None,
        doc=(
            "Convert int32 data to int8 or uint8, and return the new range.\n\n"
            "The new range is min_calib_range to max_calib_range, or without them the range of\n"
            "the data. With out_type auto the result is uint8 if min_calib_range is not below\n"
            "0, else int8.\n\n"
            "Shapes: data any, min_range and max_range (1,), outputs that of data, (1,) and\n"
            "(1,)."
        ),
        inputs=("data", "min_range", "max_range"),
        schema=Schema(
            out_type=choice("auto", "int8", "uint8", default="int8"),
            **CALIBRATION,
        ),
        outputs=3,
        shapes=ShapeFacts(complete=complete_ranges(INT32)),
    )
)
