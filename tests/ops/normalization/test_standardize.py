import numpy as np
import pytest

from gluonish.ops.normalization.layer_norm import standardize, standardize_back

X = np.random.default_rng(3).standard_normal((2, 5, 3)) * 4 + 100


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_mean_is_0_and_variance_is_1(axis: int) -> None:
    found, mean, std = standardize(np, X, axis, 0.0)
    np.testing.assert_allclose(found.mean(axis), 0, atol=1e-12)
    np.testing.assert_allclose(found.var(axis), 1)
    np.testing.assert_allclose(found * std + mean, X)


def test_gradient_is_that_of_a_small_step() -> None:
    rng = np.random.default_rng(4)
    head, step = rng.standard_normal((2, *X.shape))
    standardized, _, std = standardize(np, X, 1, 0.1)
    gradient = standardize_back(np, head, standardized, std, 1)
    after, before = (standardize(np, X + sign * 1e-5 * step, 1, 0.1)[0] for sign in (1, -1))
    slope = (head * (after - before)).sum() / 2e-5
    assert (gradient * step).sum() == pytest.approx(slope, rel=1e-6)


def test_no_elements_give_no_warning_and_no_values() -> None:
    found, mean, std = standardize(np, np.zeros((3, 0), np.float32), 1, 1e-5)
    assert (found.shape, mean.shape, std.shape) == ((3, 0), (3, 1), (3, 1))
