"""_contrib_dequantize (8-bit to float32) and _contrib_requantize (int32 to 8-bit)."""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, INT8, INT32
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
from gluonish.ops.registry import Attrs, Operator, register


def _infer(data: Spec, min_range: Spec, max_range: Spec, *, out_type: str) -> tuple[Spec]:
    check_quantized("_contrib_dequantize", data)
    check_ranges("_contrib_dequantize", min_range, max_range)
    return (Spec(data.shape, FLOAT32),)


def _kernel(
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
        _infer,
        _kernel,
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
