"""What whole numbers of quantized arrays mean, and how they are made.

A quantized array goes with a range, two arrays of one float32: an int8 array's outermost numbers
stand for plus and minus the larger size of both ends, those of uint8 for 0 and the upper end. MXNet
counts 127 and 255 steps to them in some operators, 127.5 and 255.5 in others; so do we.
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
    """Check quantized arrays.

    Raises:
        OperatorError: One is neither int8 nor uint8.
    """
    for spec in specs:
        if spec.dtype not in (INT8, UINT8):
            raise OperatorError(f"{name}: expected int8 or uint8 data, got {spec.dtype.name}")


def check_ranges(name: str, *specs: Spec) -> None:
    """Check the ends of ranges.

    Raises:
        OperatorError: One is not a single floating number.
    """
    for spec in specs:
        if spec.size != 1 or not is_floating(spec.dtype):
            raise OperatorError(f"{name}: expected ranges of one floating number, got {spec}")


def calibrated(name: str, attrs: Attrs) -> tuple[float, float] | None:
    """Return the range that the attributes name, None without one.

    Raises:
        OperatorError: Its lower end lies above its upper end, or one of them is missing.
    """
    low, high = attrs["min_calib_range"], attrs["max_calib_range"]
    if low is None and high is None:
        return None
    if low is None or high is None or not low <= high:
        raise OperatorError(
            f"{name}: expected min_calib_range and max_calib_range, the first not above the "
            f"second, got {low} and {high}"
        )
    return low, high


def byte_dtype(out_type: str, calibration: tuple[float, float] | None) -> np.dtype[Any]:
    """Return the dtype that an ``out_type`` names; auto: uint8 for a range not below 0."""
    if out_type == "auto":
        return UINT8 if calibration is not None and calibration[0] >= 0 else INT8
    return np.dtype(out_type)


def range_of(real: Any, low: float | None, high: float | None) -> tuple[Any, Any]:
    """Return a calibrated range, or where there is none that of some numbers."""
    if low is not None:
        return low, high
    return (real.min(), real.max()) if real.size else (0.0, 0.0)


def largest(xp: ModuleType, low: Any, high: Any) -> Any:
    """Return the larger size of a range's ends, a float32 of no axes."""
    ends = [xp.abs(xp.asarray(end, dtype=FLOAT32)).reshape(-1)[0] for end in (low, high)]
    return xp.maximum(*ends)


def divisor(xp: ModuleType, limit: Any) -> Any:
    """Return the size of a range to divide by: 1 where it is 0."""
    return xp.where(limit > 0, limit, np.float32(1))


def put(xp: ModuleType, out: Any, values: Any) -> None:
    """Fill ``out`` with the nearest whole numbers of its dtype; halves go to even, NaN to 0."""
    limits = np.iinfo(out.dtype)
    found = xp.clip(xp.rint(xp.nan_to_num(values)), limits.min, limits.max)
    out[...] = found.astype(out.dtype)


def put_range(xp: ModuleType, outputs: Sequence[Any], low: Any, high: Any) -> None:
    """Fill two arrays with the ends of a range."""
    for out, end in zip(outputs, (low, high), strict=True):
        out[...] = xp.asarray(end, dtype=FLOAT32).reshape(-1)[:1]


def put_product_range(
    xp: ModuleType, outputs: Sequence[Any], *factors: tuple[np.dtype[Any], Any, Any]
) -> None:
    """Fill two arrays with the range of int32 sums of products.

    Args:
        outputs: The ends.
        *factors: Dtype and range of each factor.
    """
    limit = xp.asarray(STEPS[INT32], dtype=FLOAT32)
    for dtype, low, high in factors:
        limit = limit * (largest(xp, low, high) / np.float32(STEPS[dtype]))
    put_range(xp, outputs, -limit, limit)


def complete_ranges(
    *dtypes: np.dtype[Any] | None,
) -> Callable[[list[PartialSpec], list[PartialSpec], Attrs], None]:
    """Return the rule that fills in dtypes: of the inputs as given, of ranges float32.

    Args:
        *dtypes: Of the first inputs, None for those that may have several; the others are ranges.
    """

    def complete(inputs: list[PartialSpec], outputs: list[PartialSpec], _attrs: Attrs) -> None:
        for i, spec in enumerate(inputs):
            wanted = dtypes[i] if i < len(dtypes) else FLOAT32
            if spec.dtype is None and wanted is not None:
                inputs[i] = PartialSpec(spec.shape, wanted)
        for i in range(1, len(outputs)):
            outputs[i] = PartialSpec(*RANGE)

    return complete
