import operator
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gluonish import ndarray as nd
from gluonish.core.errors import ArgumentTypeError

BINARY = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.mod,
    operator.pow,
    operator.eq,
    operator.ne,
    operator.gt,
    operator.ge,
    operator.lt,
    operator.le,
]


@pytest.mark.parametrize("apply", BINARY)
@pytest.mark.parametrize("scalar", [2, 2.5, True, np.float32(2.5), np.float64(2.5), np.int64(2)])
def test_numbers_go_on_either_side(apply: Callable[[Any, Any], Any], scalar: Any) -> None:
    values = np.array([1, 2, 2.5, 7], np.float32)
    x = nd.array(values)
    for found, expected in (
        (apply(x, scalar), apply(values, np.float32(scalar))),
        (apply(scalar, x), apply(np.float32(scalar), values)),
    ):
        assert type(found) is nd.NDArray
        assert found.dtype == np.float32
        np.testing.assert_allclose(found.asnumpy(), expected.astype(np.float32), rtol=1e-6)


@pytest.mark.parametrize("apply", BINARY)
def test_arrays_broadcast(apply: Callable[[Any, Any], Any]) -> None:
    a = np.array([[1.0], [2.0]], np.float32)
    b = np.array([[1.0, 2.0, 3.0]], np.float32)
    found = apply(nd.array(a), nd.array(b))
    np.testing.assert_allclose(found.asnumpy(), apply(a, b).astype(np.float32), rtol=1e-6)


# What MXNet 1.9.1 gives for x = [7, -7] of int32: scalars are cut to the array's type.
@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda x: x / 2, [3, -3]),
        (lambda x: x / 2.5, [3, -3]),
        (lambda x: x * 2.7, [14, -14]),
        (lambda x: x + 0.5, [7, -7]),
        (lambda x: x % 3, [1, 2]),
        (lambda x: x**2, [49, 49]),
        (lambda x: x > 2.5, [1, 0]),
        (lambda x: 50 / x, [7, -7]),
        (lambda x: x / nd.array([2, 2], dtype="int32"), [3, -3]),
        (lambda x: x == nd.array([7, 7], dtype="int32"), [1, 0]),
        (lambda x: -x, [-7, 7]),
        (lambda x: abs(x), [7, 7]),
    ],
)
def test_integer_arithmetic_stays_integer(call: Callable[[Any], Any], expected: list[int]) -> None:
    found = call(nd.array([7, -7], dtype="int32"))
    assert (found.dtype, found.tolist()) == (np.int32, expected)


def test_small_integers_wrap_around() -> None:
    x = nd.array([1], dtype="uint8")
    assert [(x - 2).item(), (x * 300).item()] == [255, 44]


def test_remainder_has_the_sign_of_the_divisor_and_none_for_zero() -> None:
    x = nd.array([5, -5])
    assert (x % 3).tolist() == [2, 1]
    assert (x % -3).tolist() == [-1, -2]
    assert (x % 0).tolist() == [0, 0]


def test_comparison_with_none_is_a_plain_answer() -> None:
    x = nd.ones(2)
    assert (x == None) is False  # noqa: E711
    assert (x != None) is True  # noqa: E711


def test_bfloat16_number_is_a_number() -> None:
    assert (nd.ones(2) + ml_dtypes.bfloat16(2)).tolist() == [3, 3]


@pytest.mark.parametrize("other", [None, "a", [1, 2], 1j, np.complex64(1)])
def test_operand_of_another_kind_is_refused(other: Any) -> None:
    advice = "did the function" if other is None else r"mx\.nd\.array.* convert"
    message = rf"broadcast_add: expected an array or a number, got .*; {advice}"
    x = nd.ones(2)
    with pytest.raises(ArgumentTypeError, match=message):
        x + other
    with pytest.raises(ArgumentTypeError, match=message):
        other + x
