"""Facts of MXNet 1.9.1, found by running it."""

import math
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from tests.checking.values import run_operator

HALVES = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5], np.float32)
INT = np.array([-7, 7, 0, 3], np.int32)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("round", [-3, -2, -1, 1, 2, 3]),
        ("rint", [-3, -2, -1, 0, 1, 2]),
        ("fix", [-2, -1, 0, 0, 1, 2]),
        ("trunc", [-2, -1, 0, 0, 1, 2]),
        ("floor", [-3, -2, -1, 0, 1, 2]),
        ("ceil", [-2, -1, 0, 1, 2, 3]),
    ],
)
def test_halves_are_rounded_as_mxnet_does(name: str, expected: list[float]) -> None:
    assert run_operator(name, HALVES).tolist() == expected


def test_just_below_a_half_is_rounded_down() -> None:
    x = np.array([np.nextafter(np.float32(0.5), np.float32(0))], np.float32)
    assert run_operator("round", x).tolist() == [0]


@pytest.mark.parametrize("name", ["round", "rint", "floor"])
def test_rounding_keeps_what_is_not_finite(name: str) -> None:
    result = run_operator(name, np.array([np.inf, -np.inf, np.nan], np.float32))
    np.testing.assert_array_equal(result, [np.inf, -np.inf, np.nan])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("exp", [0, 1096, 1, 20]),
        ("sigmoid", [0, 0, 0, 0]),
        ("relu", [0, 7, 0, 3]),
        ("abs", [7, 7, 0, 3]),
        ("square", [49, 49, 0, 9]),
        ("floor", [-7, 7, 0, 3]),
        ("round", [-7, 7, 0, 3]),
        ("sign", [-1, 1, 0, 1]),
        ("logical_not", [0, 0, 1, 0]),
        ("negative", [7, -7, 0, -3]),
    ],
)
def test_integers_stay_integers(name: str, expected: list[int]) -> None:
    result = run_operator(name, INT)
    assert result.dtype == np.int32
    assert result.tolist() == expected


def test_sign_of_nan_is_zero() -> None:
    assert run_operator("sign", np.array([-2, 0, np.nan, 3], np.float32)).tolist() == [-1, 0, 0, 1]


def test_sigmoid_of_large_numbers_is_finite() -> None:
    x = np.array([-1e4, 1e4], np.float32)
    assert run_operator("sigmoid", x).tolist() == [0, 1]


def test_log_sigmoid_of_large_numbers_is_the_number() -> None:
    assert run_operator("log_sigmoid", np.array([-1e4], np.float32)).tolist() == [-1e4]


def special(name: str, *values: float) -> Any:
    return run_operator(name, np.array(values))


def test_gamma_at_its_poles_is_what_mxnet_gives() -> None:
    result = special("gamma", -2, -1.5, 0, 200, -0.0)
    np.testing.assert_allclose(
        result, [math.nan, 2.3632718012073544, math.inf, math.inf, -math.inf]
    )


def test_gammaln_at_its_poles_is_infinite() -> None:
    result = special("gammaln", -2, -1.5, 0, 200)
    np.testing.assert_allclose(result, [math.inf, 0.8600470153764812, math.inf, 857.9336698258575])


def test_erf_agrees_with_the_c_library_to_round_off() -> None:
    x = np.concatenate([np.linspace(-7, 7, 9001), [1.0, -1.0, 0.0, 6.0, np.inf, -np.inf]])
    expected = [math.erf(v) for v in x]
    np.testing.assert_allclose(run_operator("erf", x), expected, rtol=1e-14)


def test_erf_of_nan_is_nan() -> None:
    assert np.isnan(special("erf", math.nan)).all()


def test_erfinv_inverts_erf_and_keeps_the_digits_of_the_tail() -> None:
    x = np.concatenate([np.linspace(-5.5, 5.5, 501), [1e-12]])
    y = np.array([math.erf(v) for v in x])
    found = run_operator("erfinv", y)
    np.testing.assert_allclose([math.erf(v) for v in found], y, rtol=1e-14)
    tail = 1 - 2.0 ** -np.arange(3, 50)
    complements = [math.erfc(v) for v in run_operator("erfinv", tail)]
    np.testing.assert_allclose(complements, 1 - tail, rtol=1e-13)


def test_erfinv_is_infinite_at_one_and_nan_beyond() -> None:
    np.testing.assert_array_equal(
        special("erfinv", -1, 0, 1, 1.5), [-math.inf, 0, math.inf, math.nan]
    )


def test_digamma_is_there_as_in_mxnet_2() -> None:
    x = mx.nd.array([1.0])
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.digamma(x)
    y.backward()
    np.testing.assert_allclose(y.asnumpy(), [-0.5772156649015329], rtol=1e-6)
    np.testing.assert_allclose(x.grad.asnumpy(), [math.pi**2 / 6], rtol=1e-5)
    assert mx.npx.digamma(mx.np.array([2.0])).item() == pytest.approx(0.42278433509846713)
    assert mx.sym.digamma(mx.sym.var("x")).list_arguments() == ["x"]


def test_digamma_and_trigamma_have_their_known_values() -> None:
    euler = 0.5772156649015329
    np.testing.assert_allclose(
        special("digamma", 0.5, 1, 2, -0.5, 30),
        [
            -euler - 2 * math.log(2),
            -euler,
            1 - euler,
            0.03648997397857652,
            3.3844381326855627,
        ],
        rtol=1e-13,
    )
    np.testing.assert_allclose(
        special("_trigamma", 0.5, 1, -0.5),
        [math.pi**2 / 2, math.pi**2 / 6, math.pi**2 / 2 + 4],
        rtol=1e-14,
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sigmoid_keeps_the_digits_of_small_results(dtype: Any) -> None:
    x = np.array([-80, -20, -5, 0, 5, 200], dtype)
    expected = 1 / (1 + np.exp(-x.astype(np.float64)))
    np.testing.assert_allclose(run_operator("sigmoid", x), expected, rtol=1e-6)


def test_sigmoid_is_0_where_the_exponential_overflows() -> None:
    assert run_operator("sigmoid", np.array([-200], np.float32)).tolist() == [0]
