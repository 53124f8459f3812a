"""Every function of np.random draws from its distribution, by its moments and quantiles.

The numbers are those of scipy.stats 1.7.3.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gluonish as mx
from gluonish import numpy as np

COUNT = 20000
LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)
# By function: a call with a size, and mean, variance and quantiles at LEVELS.
Expected = tuple[float, float, tuple[float, ...]]
CONTINUOUS: dict[str, tuple[Callable[[Any], Any], Expected]] = {
    "beta": (
        lambda size: np.random.beta(2.0, 3.0, size),
        (0.40000, 0.04000, (0.14256, 0.24302, 0.38573, 0.54368, 0.67954)),
    ),
    "chisquare": (
        lambda size: np.random.chisquare(5.0, size),
        (5.00000, 10.00000, (1.61031, 2.67460, 4.35146, 6.62568, 9.23636)),
    ),
    "exponential": (
        lambda size: np.random.exponential(2.0, size),
        (2.00000, 4.00000, (0.21072, 0.57536, 1.38629, 2.77259, 4.60517)),
    ),
    "f": (
        lambda size: np.random.f(4.0, 12.0, size),
        (1.20000, 1.26000, (0.25670, 0.48017, 0.88848, 1.55035, 2.48010)),
    ),
    "gamma": (
        lambda size: np.random.gamma(2.5, 2.0, size),
        (5.00000, 10.00000, (1.61031, 2.67460, 4.35146, 6.62568, 9.23636)),
    ),
    "gumbel": (
        lambda size: np.random.gumbel(1.0, 2.0, size),
        (2.15443, 6.57974, (-0.66806, 0.34673, 1.73303, 3.49180, 5.50073)),
    ),
    "laplace": (
        lambda size: np.random.laplace(1.0, 2.0, size),
        (1.00000, 8.00000, (-2.21888, -0.38629, 1.00000, 2.38629, 4.21888)),
    ),
    "logistic": (
        lambda size: np.random.logistic(1.0, 2.0, size),
        (1.00000, 13.15947, (-3.39445, -1.19722, 1.00000, 3.19722, 5.39445)),
    ),
    "lognormal": (
        lambda size: np.random.lognormal(0.5, 0.4, size),
        (1.78604, 0.55349, (0.98746, 1.25886, 1.64872, 2.15933, 2.75281)),
    ),
    "normal": (
        lambda size: np.random.normal(1.0, 2.0, size),
        (1.00000, 4.00000, (-1.56310, -0.34898, 1.00000, 2.34898, 3.56310)),
    ),
    "pareto": (
        lambda size: np.random.pareto(6.0, size),
        (0.20000, 0.06000, (0.01772, 0.04912, 0.12246, 0.25992, 0.46780)),
    ),
    "power": (
        lambda size: np.random.power(3.0, size),
        (0.75000, 0.03750, (0.46416, 0.62996, 0.79370, 0.90856, 0.96549)),
    ),
    "rand": (
        lambda size: np.random.rand(size),
        (0.50000, 0.08333, (0.10000, 0.25000, 0.50000, 0.75000, 0.90000)),
    ),
    "randn": (
        lambda size: np.random.randn(size),
        (0.00000, 1.00000, (-1.28155, -0.67449, 0.00000, 0.67449, 1.28155)),
    ),
    "rayleigh": (
        lambda size: np.random.rayleigh(2.0, size),
        (2.50663, 1.71681, (0.91809, 1.51706, 2.35482, 3.33022, 4.29193)),
    ),
    "uniform": (
        lambda size: np.random.uniform(-1.0, 3.0, size),
        (1.00000, 1.33333, (-0.60000, 0.00000, 1.00000, 2.00000, 2.60000)),
    ),
    "weibull": (
        lambda size: np.random.weibull(1.5, size),
        (0.90275, 0.37569, (0.22308, 0.43579, 0.78322, 1.24328, 1.74372)),
    ),
}
# Functions with a test of their own below.
OTHERS = {"choice", "multinomial", "multivariate_normal", "randint", "seed", "shuffle"}


@pytest.fixture(autouse=True)
def _seeded() -> None:
    mx.random.seed(11)


def test_every_function_is_drawn_from() -> None:
    assert set(np.random.__all__) == set(CONTINUOUS) | OTHERS


@pytest.mark.parametrize("name", CONTINUOUS)
def test_samples_have_the_distribution_and_its_moments(name: str) -> None:
    draw, (mean, variance, quantiles) = CONTINUOUS[name]
    values = draw(COUNT).asnumpy().astype("float64")
    assert values.shape == (COUNT,)
    # Means and shares are normal; five standard errors.
    assert abs(values.mean() - mean) < 5 * math.sqrt(variance / COUNT)
    assert abs(values.var() / variance - 1) < 0.2
    for level, quantile in zip(LEVELS, quantiles, strict=True):
        error = math.sqrt(level * (1 - level) / COUNT)
        assert abs((values < quantile).mean() - level) < 5 * error, level


@pytest.mark.parametrize("name", CONTINUOUS)
@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (2, 3)])
def test_samples_have_any_shape(name: str, shape: tuple[int, ...]) -> None:
    takes_sizes = name in ("rand", "randn")
    found = getattr(np.random, name)(*shape) if takes_sizes else CONTINUOUS[name][0](shape)
    assert (found.shape, found.dtype) == (shape, numpy.float32)


def test_randint_draws_each_number_as_often() -> None:
    found = np.random.randint(-2, 3, COUNT)
    counts = numpy.bincount(found.asnumpy() + 2)
    assert found.dtype == numpy.int64
    numpy.testing.assert_allclose(counts, COUNT / 5, atol=5 * math.sqrt(COUNT * 0.16))


def test_choice_draws_in_proportion() -> None:
    shares = numpy.array([0.1, 0.2, 0.7])
    found = np.random.choice(np.array([5, 6, 7], dtype="int32"), COUNT, p=np.array(shares))
    counts = numpy.bincount(found.asnumpy())[5:]
    numpy.testing.assert_allclose(counts, shares * COUNT, atol=5 * math.sqrt(COUNT / 4))
    assert sorted(np.random.choice(6, 6, replace=False).tolist()) == list(range(6))


def test_multinomial_counts_have_the_binomial_moments() -> None:
    shares = numpy.array([0.2, 0.3, 0.5])
    found = np.random.multinomial(10, shares.tolist(), COUNT).asnumpy()
    assert (found.sum(1) == 10).all()
    numpy.testing.assert_allclose(found.mean(0), 10 * shares, rtol=0.02)
    numpy.testing.assert_allclose(found.var(0), 10 * shares * (1 - shares), rtol=0.05)


def test_multivariate_normal_has_its_covariance() -> None:
    spread = numpy.array([[2.0, 0.6], [0.6, 1.0]], "float32")
    found = np.random.multivariate_normal(np.array([1.0, -1.0]), np.array(spread), COUNT).asnumpy()
    numpy.testing.assert_allclose(found.mean(0), [1, -1], atol=0.05)
    numpy.testing.assert_allclose(numpy.cov(found.T), spread, atol=0.07)


def test_seed_repeats_and_shuffle_permutes() -> None:
    drawn = []
    for _ in range(2):
        np.random.seed(5)
        x = np.arange(50)
        np.random.shuffle(x)
        drawn.append(x.tolist())
    assert drawn[0] == drawn[1]
    assert drawn[0] != sorted(drawn[0])
    assert sorted(drawn[0]) == list(range(50))


def test_gradients_of_gamma_are_those_of_its_mean() -> None:
    shape, scale = np.array([0.5, 2.0, 6.0]), np.array([1.0, 3.0, 0.5])
    shape.attach_grad()
    scale.attach_grad()
    with mx.autograd.record():
        y = np.random.gamma(shape, scale, size=(COUNT, 3)).mean(axis=0)
    y.backward()  # the mean is shape * scale
    numpy.testing.assert_allclose(shape.grad.asnumpy(), scale.asnumpy(), rtol=0.05)
    numpy.testing.assert_allclose(scale.grad.asnumpy(), shape.asnumpy(), rtol=0.05)


@pytest.mark.parametrize("hybridized", [False, True])
def test_gradient_of_beta_is_that_of_its_mean(hybridized: bool) -> None:
    class Mean(mx.gluon.HybridBlock):
        def forward(self, a: Any) -> Any:
            return np.random.beta(a, 1.0, size=(COUNT, 2)).mean(axis=0)

    a = np.array([1.0, 3.0])
    a.attach_grad()
    block = Mean()
    block.hybridize(hybridized)
    with mx.util.np_shape(), mx.util.np_array(), mx.autograd.record():
        y = block(a)
    y.backward()  # the mean is a / (a + 1)
    numpy.testing.assert_allclose(a.grad.asnumpy(), [1 / 4, 1 / 16], rtol=0.05)
