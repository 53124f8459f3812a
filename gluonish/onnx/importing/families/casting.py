"""Conversions between element types, including narrow ones."""

from typing import Any

import ml_dtypes
import numpy as np

from gluonish.core.dtype import BOOL, FLOAT32, is_floating
from gluonish.onnx.importing.arrays import array_of, dtype_of, host, plain
from gluonish.onnx.importing.elements import Element, Narrow, element, element_of, narrowed
from gluonish.onnx.importing.nodes import Call, Rule

_LARGEST: Any = ml_dtypes.finfo  # the package has no annotations


def to_element(call: Call, number: int) -> Element:
    """Return the element type whose ONNX number an attribute contains."""
    return element(number, call.node.where)


def converted(value: Any, kind: Element, *, saturate: bool = True) -> Any:
    """Return a value in another element type.

    Args:
        value: An array or a `Narrow`.
        kind: The new element type.
        saturate: Whether numbers above the maximum of a float8 type become the maximum; otherwise
            they become infinite or NaN.
    """
    array = plain(value)
    if not kind.is_narrow:
        return array if dtype_of(array) == kind.dtype else array.astype(kind.dtype)
    numbers = _narrow_numbers(host(array), kind, saturate=saturate)
    return Narrow(array_of(numbers.astype(kind.dtype)), kind)


def _narrow_numbers(numbers: Any, kind: Element, *, saturate: bool) -> Any:
    """Round numbers to a narrow type."""
    if kind.name.startswith(("INT", "UINT")):
        return _wrapped(numbers, kind)
    wide = numbers.astype(FLOAT32)
    if kind.name == "FLOAT8E8M0":
        return wide.astype(kind.stored)
    found = wide.astype(kind.stored)
    if not saturate:
        return found
    top = float(_LARGEST(kind.stored).max)
    with np.errstate(invalid="ignore"):
        clipped = np.clip(wide, -top, top)
    return np.where(np.isnan(wide), wide, clipped).astype(kind.stored)


def _wrapped(numbers: Any, kind: Element) -> Any:
    """Truncate integers to their lowest bits, as casts between integers do."""
    if is_floating(numbers.dtype):
        numbers = np.trunc(numbers.astype(np.float64))
    codes = numbers.astype(np.int64) & ((1 << kind.bits) - 1)
    if kind.name.startswith("UINT"):
        return codes
    top = 1 << (kind.bits - 1)
    return (codes ^ top) - top


def _cast(call: Call, x: Any) -> Any:
    kind = to_element(call, _target(call))
    if kind.dtype == BOOL:
        return plain(x) != 0
    if kind.name == "FLOAT8E8M0":
        return _to_exponent(call, x, kind)
    return converted(x, kind, saturate=bool(call.attr("saturate", 1)))


def _target(call: Call) -> int:
    """Return the ONNX number of the target type, which is a name in opset 1."""
    to = call.attr("to")
    if isinstance(to, str):
        named = {"FLOAT": 1, "INT32": 6, "INT64": 7, "BOOL": 9, "FLOAT16": 10, "DOUBLE": 11}
        return named.get(to.upper(), 0)
    return int(to)


def _to_exponent(call: Call, x: Any, kind: Element) -> Any:
    """Round to powers of two, by the node's rounding mode."""
    mode = call.attr("round_mode", "up")
    numbers = np.abs(host(x).astype(np.float32))
    mantissa, exponent = np.frexp(numbers)
    down = exponent - 1
    power = {
        "up": np.where(mantissa == 0.5, down, down + 1),
        "down": down,
        "nearest": np.where(mantissa >= 0.75, down + 1, down),
    }[mode]
    limited = np.clip(power, -127, 127)
    found = np.ldexp(np.float32(1), np.where(numbers == 0, -127, limited))
    bad = ~np.isfinite(numbers)
    if not call.attr("saturate", 1):
        bad |= power > 127
    else:
        found = np.where(np.isinf(numbers), np.ldexp(np.float32(1), 127), found)
        bad = np.isnan(numbers)
    return Narrow(array_of(np.where(bad, np.nan, found).astype(np.float32)), kind)


def _cast_like(call: Call, x: Any, like: Any) -> Any:
    kind = element_of(like)
    if kind.dtype == BOOL:
        return plain(x) != 0
    if kind.name == "FLOAT8E8M0":
        return _to_exponent(call, x, kind)
    return converted(x, kind, saturate=bool(call.attr("saturate", 1)))


def _bit_cast(call: Call, x: Any) -> Any:
    """Reinterpret the bits as another type of the same width."""
    kind, own = to_element(call, call.attr("to")), element_of(x)
    if kind.bits != own.bits:
        call.wrong(f"expected types of as many bits, got {own.name} and {kind.name}")
    stored = host(x).astype(own.stored)
    if kind.bits >= 8:
        return narrowed(array_of(stored.view(kind.stored).astype(kind.dtype)), kind)
    codes = stored.view(np.uint8) & ((1 << kind.bits) - 1)
    if kind.name.startswith("INT"):
        return Narrow(array_of(_wrapped(codes, kind).astype(kind.dtype)), kind)
    numbers = codes.view(kind.stored) if kind.name.startswith("FLOAT") else codes
    return Narrow(array_of(numbers.astype(kind.dtype)), kind)


def _identity(call: Call, x: Any) -> Any:
    return x


RULES: dict[str, Rule] = {
    "Cast": _cast,
    "CastLike": _cast_like,
    "BitCast": _bit_cast,
    "Identity": _identity,
}
