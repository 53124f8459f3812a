"""How kernels treat 16-bit sums, and numbers that meet arrays of whole numbers."""

import math
from typing import Any

import numpy as np
import pytest

from gluonish import autograd, nd
from gluonish.core.dtype import BFLOAT16, FLOAT16
from gluonish.core.errors import OperatorError
from gluonish.ops.support.precision import in_dtype
from tests.checking.values import run_operator

BYTES = np.zeros((1, 1, 2, 2), np.uint8)
PADDING = {"mode": "constant", "pad_width": (0, 0, 0, 0, 1, 0, 0, 0), "constant_value": -1}


@pytest.mark.parametrize("dtype", [FLOAT16, BFLOAT16])
def test_gradient_of_a_broadcast_is_summed_in_float32(dtype: np.dtype[Any]) -> None:
    # Sums kept in 16 bits stop at 2048 and 256, where 1 is half a unit of the last place.
    total = run_operator("_sum_to_shape", np.ones((8192, 3), dtype), shape=(1, 3))
    assert total.astype(np.float32).tolist() == [[8192] * 3]


@pytest.mark.parametrize(
    ("dtype", "number", "expected"),
    [
        ("uint8", 300, 44),
        ("uint8", -1, 255),
        ("int8", -2.9, -2),
        ("int64", 2**53 + 1, 2**53 + 1),
        ("int32", 2.0**70, 0),
        ("bool", 2, True),
        ("float16", 0.1, np.float16(0.1)),
    ],
)
def test_number_takes_the_dtype_of_the_array(dtype: str, number: float, expected: Any) -> None:
    found = in_dtype(np.dtype(dtype), number)
    assert (found, found.dtype) == (expected, dtype)


@pytest.mark.parametrize("number", [math.inf, math.nan])
def test_whole_numbers_refuse_what_is_not_finite(number: float) -> None:
    with pytest.raises(OperatorError, match="expected a finite number for int32 data"):
        in_dtype(np.dtype(np.int32), number)


@pytest.mark.parametrize(
    ("name", "arrays", "attrs", "expected"),
    [
        ("_full", [], {"shape": (1,), "dtype": "uint8", "value": 300}, [44]),
        ("one_hot", [np.zeros(1)], {"depth": 2, "dtype": "uint8", "on_value": 300}, [[44, 0]]),
        ("_slice_assign_scalar", [BYTES[0, 0, 0]], {"scalar": -1, "begin": 1, "end": 2}, [0, 255]),
        (
            "SequenceMask",
            [BYTES[0, 0], np.array([1, 2])],
            {"use_sequence_length": True, "value": -1},
            [[0, 0], [255, 0]],
        ),
        ("Pad", [BYTES], PADDING, [[[[255, 255], [0, 0], [0, 0]]]]),
        ("_plus_scalar", [BYTES[0, 0, 0]], {"scalar": -1}, [255, 255]),
    ],
)
def test_number_beyond_the_range_of_bytes_wraps_around(
    name: str, arrays: list[Any], attrs: dict[str, Any], expected: list[Any]
) -> None:
    assert run_operator(name, *arrays, **attrs).tolist() == expected


@pytest.mark.parametrize(
    ("dtype", "low", "high", "expected"),
    [
        ("uint8", -5, 300, [0, 7, 200]),
        ("int32", 1.9, math.inf, [1, 7, 200]),
        ("int64", -math.inf, 2.0**70, [0, 7, 200]),
        ("uint8", 8, 100, [8, 8, 100]),
    ],
)
def test_clip_of_whole_numbers_takes_bounds_beyond_their_range(
    dtype: str, low: float, high: float, expected: list[int]
) -> None:
    found = run_operator("clip", np.array([0, 7, 200], dtype), a_min=low, a_max=high)
    assert found.tolist() == expected


def test_gradient_of_a_division_by_what_has_no_square() -> None:
    a, b = nd.array([300], dtype="float16"), nd.array([600], dtype="float16")
    b.attach_grad()
    with autograd.record():
        quotient = a / b
    quotient.backward()
    assert b.grad.asscalar() == pytest.approx(-300 / 600**2, rel=2e-3)
