"""Quantized operators on several arrays: sum, product, concatenation."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, FLOAT64, INT8, INT32, UINT8
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer
from gluonish.core.spec import PartialSpec, Spec
from gluonish.ops.facts import ShapeFacts
from gluonish.ops.quantization.range_preserving import infer_as
from gluonish.ops.quantization.ranges import (
    CALIBRATION,
    OUTPUT_NAMES,
    RANGE,
    STEPS,
    WIDE_STEPS,
    calibrated,
    check_quantized,
    check_ranges,
    complete_ranges,
    divisor,
    fill_product_range,
    fill_range,
    fill_rounded,
    magnitude,
)
from gluonish.ops.registry import Attrs, Operator, register
from gluonish.ops.shape.concat import CONCAT

_PAIR = ("lhs", "rhs", "lhs_min", "lhs_max", "rhs_min", "rhs_max")


def _check_pair(name: str, lhs: Spec, rhs: Spec, ranges: Sequence[Spec]) -> None:
    check_quantized(name, lhs, rhs)
    check_ranges(name, *ranges)
    if lhs.shape != rhs.shape:
        raise OperatorError(
            f"{name}: expected arrays of equal shape, got {lhs.shape} and {rhs.shape}"
        )


def _real(xp: ModuleType, data: Any, low: Any, high: Any) -> Any:
    """Dequantize an array to float64."""
    return data * (magnitude(xp, low, high).astype(FLOAT64) / WIDE_STEPS[data.dtype])


def _add_infer(lhs: Spec, rhs: Spec, *ranges: Spec, **attrs: Any) -> tuple[Spec, ...]:
    name = "_contrib_quantized_elemwise_add"
    _check_pair(name, lhs, rhs, ranges)
    dtype: np.dtype[Any] = INT32
    if calibrated(name, attrs) is not None:
        dtype = UINT8 if lhs.dtype == rhs.dtype == UINT8 else INT8
    return Spec(lhs.shape, dtype), RANGE, RANGE


def _add_kernel(
    xp: ModuleType,
    out: Any,
    lhs: Any,
    rhs: Any,
    lhs_min: Any,
    lhs_max: Any,
    rhs_min: Any,
    rhs_max: Any,
    *,
    min_calib_range: float | None,
    max_calib_range: float | None,
) -> None:
    total = _real(xp, lhs, lhs_min, lhs_max) + _real(xp, rhs, rhs_min, rhs_max)
    if min_calib_range is None:
        limit = magnitude(xp, lhs_min, lhs_max) + magnitude(xp, rhs_min, rhs_max)
        fill_range(xp, out[1:], -limit, limit)
    else:
        limit = magnitude(xp, min_calib_range, max_calib_range)
        fill_range(xp, out[1:], min_calib_range, max_calib_range)
    steps = WIDE_STEPS[out[0].dtype]
    fill_rounded(xp, out[0], total * (steps / divisor(xp, limit).astype(FLOAT64)))


QUANTIZED_ELEMWISE_ADD = register(
    Operator(
        "_contrib_quantized_elemwise_add",
        _add_infer,
        _add_kernel,
        None,
        doc=(
            "Add two quantized arrays, as int32 with a range that holds all sums.\n\n"
            "With min_calib_range and max_calib_range the result is 8-bit in that range.\n\n"
            "Shapes: lhs and rhs the same, minima and maxima (1,), outputs that of lhs, (1,)\n"
            "and (1,)."
        ),
        inputs=_PAIR,
        schema=Schema(**CALIBRATION),
        outputs=3,
        output_names=OUTPUT_NAMES,
        shapes=ShapeFacts(complete=complete_ranges(None, None)),
    )
)


def _mul_infer(
    lhs: Spec, rhs: Spec, *ranges: Spec, enable_float_output: bool, **attrs: Any
) -> tuple[Spec, ...]:
    name = "_contrib_quantized_elemwise_mul"
    _check_pair(name, lhs, rhs, ranges)
    found = calibrated(name, attrs)
    if enable_float_output:
        return (Spec(lhs.shape, FLOAT32),)
    return Spec(lhs.shape, INT32 if found is None else INT8), RANGE, RANGE


def _mul_kernel(
    xp: ModuleType,
    out: Any,
    lhs: Any,
    rhs: Any,
    lhs_min: Any,
    lhs_max: Any,
    rhs_min: Any,
    rhs_max: Any,
    *,
    min_calib_range: float | None,
    max_calib_range: float | None,
    enable_float_output: bool,
) -> None:
    product = lhs.astype(np.int32) * rhs.astype(np.int32)
    step = magnitude(xp, lhs_min, lhs_max).astype(FLOAT64) / STEPS[lhs.dtype]
    step = step * (magnitude(xp, rhs_min, rhs_max) / STEPS[rhs.dtype])
    if enable_float_output:
        out[0][...] = product * step
    elif min_calib_range is None:
        out[0][...] = product
        factors = ((lhs.dtype, lhs_min, lhs_max), (rhs.dtype, rhs_min, rhs_max))
        fill_product_range(xp, out[1:], *factors)
    else:
        limit = magnitude(xp, min_calib_range, max_calib_range)
        fill_rounded(xp, out[0], product * (step * STEPS[INT8] / divisor(xp, limit)))
        fill_range(xp, out[1:], min_calib_range, max_calib_range)


def _mul_outputs(attrs: Attrs) -> int:
    return 1 if attrs["enable_float_output"] else 3


QUANTIZED_ELEMWISE_MUL = register(
    Operator(
        "_contrib_quantized_elemwise_mul",
        _mul_infer,
        _mul_kernel,
        None,
        doc=(
            "Multiply two quantized arrays, as int32 with its range.\n\n"
            "With min_calib_range and max_calib_range the result is int8 in that range; with\n"
            "enable_float_output it is float32, without a range.\n\n"
            "Shapes: lhs and rhs the same, minima and maxima (1,), outputs that of lhs, (1,)\n"
            "and (1,)."
        ),
        inputs=_PAIR,
        schema=Schema(**CALIBRATION, enable_float_output=boolean(False)),
        outputs=_mul_outputs,
        output_names=OUTPUT_NAMES,
        shapes=ShapeFacts(complete=complete_ranges(None, None)),
    )
)

_CONCAT = "_contrib_quantized_concat"


def _concat_infer(*arrays: Spec, num_args: int, dim: int) -> tuple[Spec, ...]:
    count = num_args
    if count < 1 or len(arrays) != 3 * count:
        raise OperatorError(
            f"{_CONCAT}: expected num_args arrays, then a minimum and a maximum for each, "
            f"got {len(arrays)} for num_args {num_args}"
        )
    check_quantized(_CONCAT, *arrays[:count])
    check_ranges(_CONCAT, *arrays[count:])
    joined = infer_as(_CONCAT, CONCAT, *arrays[:count], num_args=count, dim=dim)
    signed = any(spec.dtype == INT8 for spec in arrays[:count])
    return Spec(joined.shape, INT8 if signed else UINT8), RANGE, RANGE


def _concat_kernel(xp: ModuleType, out: Any, *arrays: Any, num_args: int, dim: int) -> None:
    count = num_args
    data, lows, highs = arrays[:count], arrays[count::2], arrays[count + 1 :: 2]
    low = xp.stack([x.reshape(-1)[0] for x in lows]).min()
    high = xp.stack([x.reshape(-1)[0] for x in highs]).max()
    limit = magnitude(xp, low, high)
    steps = STEPS[out[0].dtype]
    start = [slice(None)] * out[0].ndim
    position = 0
    for x, x_low, x_high in zip(data, lows, highs, strict=True):
        start[dim] = slice(position, position + x.shape[dim])
        position += x.shape[dim]
        step = magnitude(xp, x_low, x_high) / np.float32(STEPS[x.dtype])
        scaled = x * (step * (np.float32(steps) / divisor(xp, limit)))
        fill_rounded(xp, out[0][tuple(start)], scaled)
    fill_range(xp, out[1:], low, high)


def _concat_complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    complete_ranges(*(None,) * (len(inputs) // 3))(inputs, outputs, attrs)


class _RangedOperator(Operator):
    """Operator on any number of quantized arrays, each with a range as two further inputs."""

    __slots__ = ()
    per_arg = 3


QUANTIZED_CONCAT = register(
    _RangedOperator(
        _CONCAT,
        _concat_infer,
        _concat_kernel,
        None,
        doc=(
            "Join quantized arrays along axis dim, in a range that contains all input ranges.\n\n"
            "The inputs are the arrays, then a minimum and a maximum for each. The result is\n"
            "uint8 if all arrays are, else int8.\n\n"
            "Shapes: arrays (..., n_i, ...) with n_i along dim, minima and maxima (1,), outputs\n"
            "(..., sum of n_i, ...), (1,) and (1,)."
        ),
        schema=Schema(num_args=integer(low=1), dim=integer(1)),
        outputs=3,
        output_names=OUTPUT_NAMES,
        variadic="num_args",
        shapes=ShapeFacts(complete=_concat_complete),
    )
)
