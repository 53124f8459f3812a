from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import OperatorError
from gluonish.ops.registry import find_operator
from tests.checking.check_operator import check_operator
from tests.checking.values import run_operator

N = 20_000


def draw(name: str, key: tuple[int, int] = (1, 2), **attrs: Any) -> Any:
    op = find_operator(name)
    parsed = op.schema.parse(name, {"shape": (N,), **attrs})
    (spec,) = op.infer(**parsed)
    out = np.empty(spec.shape, spec.dtype)
    op.kernel(np, out, key=key, **parsed)
    return out


@pytest.mark.parametrize(
    ("name", "attrs", "mean", "deviation"),
    [
        ("_random_uniform", {"low": -1.0, "high": 3.0}, 1.0, 4 / 12**0.5),
        ("_random_normal", {"loc": 2.0, "scale": 3.0}, 2.0, 3.0),
        ("_random_exponential", {"lam": 4.0}, 0.25, 0.25),
        ("_random_gamma", {"alpha": 3.0, "beta": 2.0}, 6.0, 12**0.5),
        ("_random_gamma", {"alpha": 0.5, "beta": 2.0}, 1.0, 2**0.5),
        ("_random_randint", {"low": -2, "high": 3}, 0.0, 2**0.5),
    ],
)
def test_moments(name: str, attrs: dict[str, float], mean: float, deviation: float) -> None:
    sample = draw(name, **attrs)
    assert abs(sample.mean() - mean) < 5 * deviation / N**0.5
    assert abs(sample.std() / deviation - 1) < 0.05


def test_randint_reaches_both_ends_and_no_further() -> None:
    assert set(draw("_random_randint", low=-1, high=3).tolist()) == {-1, 0, 1, 2}


@pytest.mark.parametrize("name", ["_random_uniform", "_random_normal", "_random_gamma"])
def test_equal_keys_give_equal_numbers_and_other_keys_others(name: str) -> None:
    assert (draw(name) == draw(name)).all()
    assert (draw(name) != draw(name, key=(1, 3))).any()


def test_parameters_out_of_range_are_refused() -> None:
    with pytest.raises(OperatorError, match="lam above 0, got -1"):
        draw("_random_exponential", lam=-1)
    with pytest.raises(OperatorError, match="low below high, got 3 and 3"):
        draw("_random_randint", low=3, high=3)


def test_without_shape_there_is_one_number() -> None:
    assert run_operator("_random_uniform").shape == (1,)


@pytest.mark.parametrize(
    ("data", "attrs", "expected"),
    [
        ([0, 1, 0], {}, [1]),
        ([0, 1, 0], {"shape": 3}, [1, 1, 1]),
        ([[0, 1, 0], [2, 0, 0]], {}, [1, 0]),
        ([[0, 1, 0], [1, 0, 0]], {"shape": (2, 2)}, [[[1, 1], [1, 1]], [[0, 0], [0, 0]]]),
    ],
)
def test_multinomial_draws_what_is_certain(
    data: list[Any], attrs: dict[str, Any], expected: list[Any]
) -> None:
    result = run_operator("_sample_multinomial", np.array(data, np.float32), **attrs)
    assert result.dtype == np.int32
    assert result.tolist() == expected


def test_multinomial_draws_in_proportion() -> None:
    weights = np.array([1, 2, 5], np.float32)  # need not add up to 1
    sample = run_operator("_sample_multinomial", weights, shape=N)
    np.testing.assert_allclose(np.bincount(sample) / N, weights / 8, atol=0.02)


def test_multinomial_gives_the_logarithm_of_the_probability_with_a_gradient() -> None:
    data = np.array([[0.2, 0.8], [0.5, 0.5]], np.float32)
    samples, logs = run_operator("_sample_multinomial", data, shape=5, get_prob=True)
    np.testing.assert_allclose(logs, np.log(np.take_along_axis(data, samples, 1)), rtol=1e-6)
    # The number of a class has no derivative, so it is not asked for one.
    check_operator("_sample_multinomial", [data], {"shape": 5, "get_prob": True}, half=False)


def test_shuffle_keeps_the_slices() -> None:
    x = np.arange(20, dtype=np.float32).reshape(10, 2)
    result = run_operator("_shuffle", x)
    assert sorted(result[:, 0].tolist()) == x[:, 0].tolist()
    assert (result[:, 1] - result[:, 0] == 1).all()
    assert (result != x).any()


def test_samplers_have_no_gradient() -> None:
    assert find_operator("_shuffle").gradient is None


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [("float16", 0.0, 1.0), ("bfloat16", 0.0, 1.0), ("float32", 100.0, 101.0)],
)
def test_rounding_never_reaches_the_upper_end(dtype: str, low: float, high: float) -> None:
    # Enough of them that some lie nearer to the end than half a step of the dtype.
    sample = draw("_random_uniform", low=low, high=high, dtype=dtype, shape=(400_000,))
    assert sample.min() >= low
    assert sample.max() < high
