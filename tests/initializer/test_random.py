import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError
from gluonish.core.random_state import seed
from gluonish.initializer import InitDesc, Initializer, Normal, Orthogonal, Uniform


def drawn(init: Initializer, shape: tuple[int, ...], dtype: str = "float32") -> np.ndarray:
    arr = nd.zeros(shape, dtype=dtype)
    init(InitDesc("x_weight"), arr)
    return arr.asnumpy()


def test_uniform_fills_its_range() -> None:
    seed(1)
    values = drawn(Uniform(0.5), (100, 200))
    assert -0.5 <= values.min() < -0.499
    assert 0.499 < values.max() <= 0.5
    assert abs(values.mean()) < 0.01
    assert values.var() == pytest.approx(1 / 12, rel=0.03)


def test_normal_has_its_moments() -> None:
    seed(1)
    values = drawn(Normal(0.5), (100, 200))
    assert abs(values.mean()) < 0.02
    assert values.std() == pytest.approx(0.5, rel=0.03)
    assert (np.abs(values) < 0.5).mean() == pytest.approx(0.6827, abs=0.02)


def test_defaults_are_mxnets() -> None:
    seed(1)
    assert 0.069 < np.abs(drawn(Uniform(), (100, 100))).max() <= 0.07
    assert drawn(Normal(), (100, 100)).std() == pytest.approx(0.01, rel=0.05)


@pytest.mark.parametrize("init", [Uniform(), Normal(), Orthogonal()])
def test_seed_repeats_the_values(init: Initializer) -> None:
    seed(5)
    first = drawn(init, (4, 5))
    second = drawn(init, (4, 5))
    seed(5)
    assert np.array_equal(drawn(init, (4, 5)), first)
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_dtype_of_the_array_is_kept(dtype: str) -> None:
    values = drawn(Normal(1.0), (50, 50), dtype)
    assert values.dtype == dtype
    assert values.std() == pytest.approx(1, rel=0.1)


@pytest.mark.parametrize("rand_type", ["uniform", "normal"])
@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (2, 3, 2), (5,)])
def test_orthogonal_rows_or_columns(rand_type: str, shape: tuple[int, ...]) -> None:
    seed(2)
    matrix = drawn(Orthogonal(2.0, rand_type), shape).reshape(shape[0], -1)
    if matrix.shape[0] > matrix.shape[1]:
        matrix = matrix.T
    np.testing.assert_allclose(matrix @ matrix.T, 4 * np.eye(len(matrix)), atol=1e-5)


def test_unknown_rand_type_is_refused() -> None:
    with pytest.raises(ArgumentError, match="got 'q'"):
        drawn(Orthogonal(rand_type="q"), (2, 3))
