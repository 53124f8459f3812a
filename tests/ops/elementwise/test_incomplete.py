"""Incomplete gamma and beta functions against SciPy, by tests/golden/make_probability.py."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish.numpy as mnp
from gluonish import autograd
from gluonish.core.errors import OperatorError
from gluonish.numpy.calls import call

with np.load(Path(__file__).parents[2] / "golden" / "probability.npz") as _file:
    GAMMA, BETA, SLOPES = (_file[key] for key in ("gammainc", "betainc", "gamma slope"))


def arrays(*values: Any) -> list[Any]:
    return [mnp.array(np.asarray(value, np.float64)) for value in values]


def test_gammainc() -> None:
    a, x, expected = GAMMA
    got = call("_gammainc", arrays(a, x)).asnumpy()
    np.testing.assert_allclose(got, expected, rtol=2e-12)


def test_gammaincinv() -> None:
    a, x, p = GAMMA
    kept = x > 1e-30  # below, rounding of p moves x more
    got = call("_gammaincinv", arrays(a[kept], p[kept])).asnumpy()
    np.testing.assert_allclose(got, x[kept], rtol=2e-10)


def test_betainc() -> None:
    a, b, x, expected = BETA
    got = call("_betainc", arrays(a, b, x)).asnumpy()
    np.testing.assert_allclose(got, expected, rtol=1e-10)


def test_betaincinv() -> None:
    a, b, x, p = BETA
    kept = (x > 1e-30) & (x < 1 - 1e-6)
    got = call("_betaincinv", arrays(a[kept], b[kept], p[kept])).asnumpy()
    np.testing.assert_allclose(got, x[kept], rtol=1e-8)


def test_derivative_of_gamma_samples() -> None:
    a, x, expected = SLOPES
    got = call("_gamma_sample_slope", arrays(a, x)).asnumpy()
    np.testing.assert_allclose(got, expected, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "inputs"),
    [
        ("_gammainc", ([0.4, 3.0, 40.0], [0.2, 4.0, 39.0])),
        ("_gammaincinv", ([0.4, 3.0, 40.0], [0.2, 0.9, 0.4])),
        ("_betainc", ([0.4, 3.0, 40.0], [2.0, 0.7, 30.0], [0.2, 0.9, 0.6])),
        ("_betaincinv", ([0.4, 3.0, 40.0], [2.0, 0.7, 30.0], [0.2, 0.9, 0.6])),
    ],
)
def test_gradients(name: str, inputs: tuple[list[float], ...]) -> None:
    values = arrays(*inputs)
    for value in values:
        value.attach_grad()
    with autograd.record():
        result = call(name, values)
    result.backward()
    for i, value in enumerate(values):
        plain = value.asnumpy()
        step = 1e-4 * plain
        total = np.zeros(3)
        for k, weight in ((-2, 1), (-1, -8), (1, 8), (2, -1)):
            moved = [*values]
            moved[i] = mnp.array(plain + k * step)
            total += weight * call(name, moved).asnumpy()
        np.testing.assert_allclose(value.grad.asnumpy(), total / (12 * step), rtol=1e-7)


def test_ends_of_the_domain() -> None:
    one = [1.0, 1.0, 1.0, 1.0]
    ends = [0.0, np.inf, -1.0, np.nan]
    np.testing.assert_array_equal(call("_gammainc", arrays(one, ends)).asnumpy(), [0, 1, 0, np.nan])
    chances = [0.0, 1.0, -0.5, np.nan]
    got = call("_gammaincinv", arrays(one, chances)).asnumpy()
    np.testing.assert_array_equal(got, [0, np.inf, np.nan, np.nan])
    got = call("_betainc", arrays(one, one, [0.0, 1.0, 2.0, np.nan])).asnumpy()
    np.testing.assert_array_equal(got, [0, 1, 1, np.nan])
    got = call("_betaincinv", arrays(one, one, chances)).asnumpy()
    np.testing.assert_array_equal(got, [0, 1, np.nan, np.nan])
    assert np.isnan(call("_gammainc", arrays([-1.0], [1.0])).asnumpy()).all()
    assert call("_gammainc", arrays(np.zeros((0, 3)), np.zeros(3))).shape == (0, 3)


def test_arrays_broadcast_and_have_one_floating_dtype() -> None:
    a, x = arrays([[1.0], [2.0]], [0.5, 1.0, 2.0])
    assert call("_gammainc", (a, x)).shape == (2, 3)
    single = call("_gammainc", (a.astype("float32"), x.astype("float32")))
    assert single.dtype == "float32"
    np.testing.assert_allclose(single.asnumpy()[0], 1 - np.exp([-0.5, -1, -2]), rtol=1e-6)
    with pytest.raises(OperatorError, match="_gammainc: expected floating arrays of one dtype"):
        call("_gammainc", (a, x.astype("float32")))
