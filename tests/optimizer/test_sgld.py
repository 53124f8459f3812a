"""SGLD: the law of its steps; the random numbers are not MXNet's."""

from typing import Any

import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish.ndarray import array
from gluonish.ndarray.sparse import row_sparse_array
from gluonish.optimizer import SGLD, get_updater

SIZE = 40000


def steps(dtype: str = "float32", **settings: Any) -> np.ndarray:
    nd.random.seed(7)
    weight = array(np.full(SIZE, 2.0), dtype=dtype)
    optimizer = SGLD(learning_rate=0.01, wd=0.5, rescale_grad=0.5, clip_gradient=0.5, **settings)
    get_updater(optimizer)(0, array(np.full(SIZE, 3.0), dtype=dtype), weight)
    return weight.asnumpy().astype(np.float64) - 2.0


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_step_is_a_drift_with_normal_noise(dtype: str) -> None:
    found = steps(dtype, multi_precision=True)
    assert abs(found.mean() + 0.005 * (0.5 + 0.5 * 2)) < 4 * 0.1 / np.sqrt(SIZE)
    assert abs(found.std() - 0.1) < 4 * 0.1 / np.sqrt(2 * SIZE)
    normal = (found - found.mean()) / found.std()
    assert abs((normal**3).mean()) < 4 * np.sqrt(6 / SIZE)
    assert abs((normal**4).mean() - 3) < 4 * np.sqrt(24 / SIZE)


def test_seed_repeats_the_noise_and_each_step_has_its_own() -> None:
    np.testing.assert_array_equal(steps(), steps())
    updater, weight = get_updater(SGLD(learning_rate=1.0)), array(np.zeros(50))
    grad = array(np.zeros(50))
    updater(0, grad, weight)
    first = weight.asnumpy()
    updater(0, grad, weight)
    assert (weight.asnumpy() - first != first).all()


def test_weights_of_a_call_have_noise_of_their_own() -> None:
    weights = [array(np.zeros((5, 5))), array(np.zeros(25))]
    get_updater(SGLD(learning_rate=1.0))([0, 1], [w.copy() for w in weights], weights)
    assert (weights[0].asnumpy().ravel() != weights[1].asnumpy()).all()


def test_samples_have_the_posterior_of_a_gaussian() -> None:
    """The gradient of x * x / 2 belongs to the standard normal law."""
    nd.random.seed(3)
    weight, updater = array(np.zeros(4000)), get_updater(SGLD(learning_rate=0.2))
    for _ in range(60):
        updater(0, weight.copy(), weight)
    assert abs(weight.asnumpy().mean()) < 0.08
    # The discrete walk's variance: lr / (1 - (1 - lr / 2) ** 2).
    assert abs(weight.asnumpy().var() - 0.2 / (1 - 0.9**2)) < 0.1


@pytest.mark.parametrize("stype", ["default", "row_sparse"])
def test_sparse_gradient_moves_the_whole_weight(stype: str) -> None:
    weight = nd.ones((4, 3)).tostype(stype)
    updater = get_updater(SGLD(learning_rate=0.01))
    updater(0, row_sparse_array((np.ones((1, 3), "float32"), [1]), shape=(4, 3)), weight)
    assert (weight.asnumpy() != 1).all()


def test_there_is_no_state() -> None:
    assert SGLD().create_state(0, array([1.0])) is None
