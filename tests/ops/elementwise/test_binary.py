"""Facts of MXNet 1.9.1, found by running it."""

import operator
from typing import Any

import numpy as np
import pytest

import gluonish.ops.elementwise.binary
from gluonish.core.errors import OperatorError
from gluonish.ops.elementwise.binary import GREATER, MAXIMUM, POWER
from tests.checking.values import ArrayValue, run_operator

INT = np.array([-7, 7, -7, 7, 0, 3], dtype=np.int32)
OTHER = np.array([2, -2, -2, 2, 5, 4], dtype=np.int32)
BYTES = np.array([0, 1, 2, 255], dtype=np.uint8)


def scalar(name: str, x: Any, value: float) -> list[Any]:
    result = run_operator(name, x, scalar=value)
    assert result.dtype == x.dtype
    return result.tolist()


def test_numbers_make_integers_of_truth_values() -> None:
    result = run_operator("_minus_scalar", np.array([True, False]), scalar=1.5)
    assert (result.dtype, result.tolist()) == (np.int64, [0, -1])


def test_two_arrays_of_truth_values_are_refused() -> None:
    flags = np.array([True, False])
    with pytest.raises(OperatorError, match=r"elemwise_sub: expected numbers, got bool\(2,\)"):
        run_operator("elemwise_sub", flags, flags)


def test_integer_division_is_cut_toward_zero() -> None:
    assert run_operator("elemwise_div", INT, OTHER).tolist() == [-3, -3, 3, 3, 0, 0]


def test_integer_division_by_zero_gives_zero() -> None:
    assert run_operator("broadcast_div", INT, np.zeros(1, np.int32)).tolist() == [0] * 6


def test_modulo_has_the_sign_of_the_divisor() -> None:
    assert run_operator("broadcast_mod", INT, OTHER).tolist() == [1, -1, -1, 1, 0, 3]
    floats = np.array([-7, 7, -7.5, 7], np.float32)
    divisors = np.array([2, -2, -2, 2], np.float32)
    assert run_operator("_mod", floats, divisors).tolist() == [1, -1, -1.5, 1]


@pytest.mark.parametrize("x", [INT, INT.astype(np.float32)])
def test_modulo_zero_is_zero(x: Any) -> None:
    assert scalar("_mod_scalar", x, 0) == [0] * 6
    assert run_operator("_mod", x, np.zeros_like(x)).tolist() == [0] * 6


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("_div_scalar", 2.7, [-3, 3, -3, 3, 0, 1]),
        ("_plus_scalar", 2.7, [-5, 9, -5, 9, 2, 5]),
        ("_minus_scalar", 2.7, [-9, 5, -9, 5, -2, 1]),
        ("_mul_scalar", -1.5, [7, -7, 7, -7, 0, -3]),
        ("_rminus_scalar", 2.7, [9, -5, 9, -5, 2, -1]),
        ("_maximum_scalar", 1.7, [1, 7, 1, 7, 1, 3]),
        ("_power_scalar", 0.5, [1, 1, 1, 1, 1, 1]),
        ("_power_scalar", 2, [49, 49, 49, 49, 0, 9]),
        ("_rpower_scalar", 2, [0, 128, 0, 128, 1, 8]),
        ("_equal_scalar", 3.9, [0, 0, 0, 0, 0, 1]),
        ("_lesser_scalar", 3.5, [1, 0, 1, 0, 1, 0]),
    ],
)
def test_scalar_is_cut_to_the_integers_of_the_array(
    name: str, value: float, expected: list[int]
) -> None:
    assert scalar(name, INT, value) == expected


@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, 2**62 + 1, 2**63 - 1, -(2**63)])
@pytest.mark.parametrize(
    ("name", "exact"),
    [
        ("_equal_scalar", operator.eq),
        ("_not_equal_scalar", operator.ne),
        ("_greater_scalar", operator.gt),
        ("_greater_equal_scalar", operator.ge),
        ("_lesser_scalar", operator.lt),
        ("_lesser_equal_scalar", operator.le),
        ("_maximum_scalar", max),
        ("_minimum_scalar", min),
        ("_mod_scalar", operator.mod),
    ],
)
def test_whole_number_that_no_float_equals_keeps_all_its_digits(
    name: str, exact: Any, value: int
) -> None:
    around = [n for n in range(value - 2, value + 3) if -(2**63) <= n < 2**63]
    found = run_operator(name, np.array(around), scalar=value)
    assert found.tolist() == [exact(n, value) for n in around]


def test_whole_numbers_add_and_subtract_with_all_their_digits() -> None:
    value, data = 2**53 + 1, np.array([1, -3, 2**53 + 1])
    assert run_operator("_plus_scalar", data, scalar=value).tolist() == [
        value + 1,
        value - 3,
        2 * value,
    ]
    assert run_operator("_rminus_scalar", data, scalar=value).tolist() == [value - 1, value + 3, 0]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32"])
@pytest.mark.parametrize("value", [300, -300, 2**40, -(2**40), 2**60 + 1, 2**64, -(2**70)])
def test_numbers_beyond_the_range_of_integers_compare_as_what_they_are(
    dtype: str, value: int
) -> None:
    data = np.array([0, 1, 44, 127], dtype)
    for name in ("equal", "not_equal", "greater", "lesser", "greater_equal", "lesser_equal"):
        exact = [getattr(np, name.replace("lesser", "less"))(int(x), value) for x in data]
        assert scalar(f"_{name}_scalar", data, value) == exact, name


def test_large_whole_powers_keep_all_their_digits() -> None:
    base = np.array([3, -3, 2**30 + 1, 2])
    assert run_operator("_power_scalar", base, scalar=2).tolist() == [9, 9, (2**30 + 1) ** 2, 4]
    powers = run_operator("_rpower_scalar", np.array([35, 39, -1, 0]), scalar=3)
    assert powers.tolist() == [3**35, 3**39, 0, 1]


def test_scalar_wraps_around_in_unsigned_integers() -> None:
    assert scalar("_plus_scalar", BYTES, 300) == [44, 45, 46, 43]
    assert scalar("_minus_scalar", BYTES, 1) == [255, 0, 1, 254]
    assert scalar("_mul_scalar", BYTES, -1) == [0, 255, 254, 1]


def test_integer_power_is_computed_in_floating_point_and_cut() -> None:
    assert run_operator("_power", INT, OTHER).tolist() == [49, 0, 0, 49, 0, 81]


def test_integer_hypotenuse_is_cut() -> None:
    assert run_operator("_hypot", INT, OTHER).tolist() == [7, 7, 7, 7, 5, 5]


def test_comparison_gives_zeros_and_ones_in_the_dtype_of_the_arrays() -> None:
    result = run_operator("broadcast_greater", INT, OTHER)
    assert result.dtype == np.int32
    assert result.tolist() == [0, 1, 0, 1, 0, 0]


def test_different_dtypes_are_refused() -> None:
    with pytest.raises(OperatorError, match="equal dtype, got int32 and float32"):
        run_operator("broadcast_add", INT, INT.astype(np.float32))


def test_shapes_that_do_not_broadcast_are_refused() -> None:
    with pytest.raises(OperatorError, match="shapes that broadcast"):
        run_operator("broadcast_add", INT, OTHER[:4])


def test_row_puts_a_number_on_either_side() -> None:
    x = ArrayValue(np.array([1.0, 2.0, 3.0], np.float32))
    assert GREATER(x, 2).array.tolist() == [0, 0, 1]
    assert GREATER(2, x).array.tolist() == [1, 0, 0]
    assert POWER(2, x).array.tolist() == [2, 4, 8]


def gradients(row: Any, a: list[float], b: list[float]) -> list[list[float]]:
    x, y = (ArrayValue(np.array(v, np.float32)) for v in (a, b))
    g = ArrayValue(np.ones(len(a), np.float32))
    return [entry().array.tolist() for entry in row.broadcast.gradient(g, x, y)]


def test_left_operand_of_a_maximum_gets_the_gradient_of_a_tie() -> None:
    assert gradients(MAXIMUM, [0, 1, 2], [1, 1, 1]) == [[0, 1, 1], [1, 0, 0]]


def test_a_power_of_zero_is_flat_in_its_exponent_from_0_up() -> None:
    x = ArrayValue(np.array([-1.0, 0.0, 1.0], np.float32))
    (gradient,) = POWER.rscalar.gradient(x * 0 + 1, x, scalar=0.0, is_int=True)  # type: ignore[misc]
    np.testing.assert_array_equal(gradient.array, [-np.inf, 0, 0])


def test_comparisons_let_a_recording_pass_without_gradient() -> None:
    operator = gluonish.ops.elementwise.binary.EQUAL.broadcast
    assert operator.gradient is not None
    assert operator.gradient(None, 1, 2) == (None, None)
