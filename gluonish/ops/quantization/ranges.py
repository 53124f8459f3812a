"""Conversion between quantized arrays and real numbers.

A quantized array has a range, two arrays of one float32. The extreme values of int8 represent plus
and minus the larger magnitude of both ends, the extreme values of uint8 represent 0 and the upper
end. As in MXNet, some operators count 127 and 255 steps to them, others 127.5 and 255.5.
"""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, INT8, INT32, UINT8, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import number, optional
from gluonish.core.spec import PartialSpec, Spec
from gluonish.ops.registry import Attrs

STEPS = {INT8: 127.0, UINT8: 255.0, INT32: 2147483647.0}
WIDE_STEPS = {INT8: 127.5, UINT8: 255.5, INT32: 2147483647.0}
RANGE = Spec((1,), FLOAT32)


OUTPUT_NAMES = ("output", "min_output", "max_output")
CALIBRATION = {"min_calib_range": optional(number()), "max_calib_range": optional(number())}


def check_quantized(name: str, *specs: Spec) -> None:
    """Raise OperatorError for an array that is neither int8 nor uint8."""
    for spec in specs:
        if spec.dtype not in (INT8, UINT8):
            raise OperatorError(f"{name}: expected int8 or uint8 data, got {spec.dtype.name}")


def check_ranges(name: str, *specs: Spec) -> None:
    """Raise OperatorError for an end of a range that is not a single floating-point number."""
    for spec in specs:
        if spec.size != 1 or not is_floating(spec.dtype):
            raise OperatorError(f"{name}: expected ranges of a single float, got {spec}")


def calibrated(name: str, attrs: Attrs) -> tuple[float, float] | None:
    """Return the calibrated range in the attributes, or None if there is none.

    Raises:
        OperatorError: The lower end is above the upper end, or one of them is missing.
    """
    low, high = attrs["min_calib_range"], attrs["max_calib_range"]
    if low is None and high is None:
        return None
    if low is None or high is None or not low <= high:
        raise OperatorError(
            f"{name}: expected both min_calib_range and max_calib_range in ascending order, got "
            f"{low} and {high}"
        )
    return low, high


def byte_dtype(out_type: str, calibration: tuple[float, float] | None) -> np.dtype[Any]:
    """Return the dtype of an ``out_type``; auto is uint8 for a nonnegative range, else int8."""
    if out_type == "auto":
        return UINT8 if calibration is not None and calibration[0] >= 0 else INT8
    return np.dtype(out_type)


def range_of(real: Any, low: float | None, high: float | None) -> tuple[Any, Any]:
    """Return the calibrated range if there is one, else the range of the numbers."""
    if low is not None:
        return low, high
    return (real.min(), real.max()) if real.size else (0.0, 0.0)


def magnitude(xp: ModuleType, low: Any, high: Any) -> Any:
    """Return the larger magnitude of a range's ends, as a 0-d float32 array."""
    ends = [xp.abs(xp.asarray(end, dtype=FLOAT32)).reshape(-1)[0] for end in (low, high)]
    return xp.maximum(*ends)


def divisor(xp: ModuleType, limit: Any) -> Any:
    """Return ``limit`` as a divisor: 1 where it is 0."""
    return xp.where(limit > 0, limit, np.float32(1))


def fill_rounded(xp: ModuleType, out: Any, values: Any) -> None:
    """Fill ``out`` with values rounded half to even and clipped to its dtype; NaN becomes 0."""
    limits = np.iinfo(out.dtype)
    found = xp.clip(xp.rint(xp.nan_to_num(values)), limits.min, limits.max)
    out[...] = found.astype(out.dtype)


def fill_range(xp: ModuleType, outputs: Sequence[Any], low: Any, high: Any) -> None:
    """Fill two arrays with the ends of a range."""
    for out, end in zip(outputs, (low, high), strict=True):
        out[...] = xp.asarray(end, dtype=FLOAT32).reshape(-1)[:1]


def fill_product_range(
    xp: ModuleType, outputs: Sequence[Any], *factors: tuple[np.dtype[Any], Any, Any]
) -> None:
    """Fill two arrays with the range of int32 sums of products of ``factors`` (dtype, ends)."""
    limit = xp.asarray(STEPS[INT32], dtype=FLOAT32)
    for dtype, low, high in factors:
        limit = limit * (magnitude(xp, low, high) / np.float32(STEPS[dtype]))
    fill_range(xp, outputs, -limit, limit)


def complete_ranges(
    *dtypes: np.dtype[Any] | None,
) -> Callable[[list[PartialSpec], list[PartialSpec], Attrs], None]:
    """Return a rule that completes dtypes: ``dtypes`` for the first inputs, float32 for ranges.

    A dtype of None leaves the input incomplete.
    """

    def complete(inputs: list[PartialSpec], outputs: list[PartialSpec], _attrs: Attrs) -> None:
        for i, spec in enumerate(inputs):
            dtype = dtypes[i] if i < len(dtypes) else FLOAT32
            if spec.dtype is None and dtype is not None:
                inputs[i] = PartialSpec(spec.shape, dtype)
        for i in range(1, len(outputs)):
            outputs[i] = PartialSpec(*RANGE)

    return complete
