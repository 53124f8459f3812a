"""Samples: their distribution, shapes, seeds and gradients."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gluonish as mx
import gluonish.numpy as mnp
from gluonish import autograd
from gluonish.gluon import HybridBlock
from gluonish.gluon import probability as mgp
from tests.gluon.probability.golden import GOLDEN, KEYWORDS, NAMES, arrays, made, values

COUNT = 5_000
DISCRETE = {
    *("Poisson", "Geometric", "Bernoulli", "Binomial", "NegativeBinomial"),
    *("Categorical", "OneHotCategorical", "Multinomial"),
}
CONTINUOUS = [name for name in NAMES if f"{name} icdf" in GOLDEN and name not in DISCRETE]
SMOOTH = [name for name in NAMES if name not in DISCRETE]
# A variance is measured where the fourth moment exists, and is not of a few rare samples.
HEAVY = {"Pareto", "StudentT", "FisherSnedecor", "Weibull"}
# By rejection: a sample of a seed jumps where one more number is rejected.
REJECTED = {"Gamma", "Chi2", "Beta", "Dirichlet", "StudentT", "FisherSnedecor"}


@pytest.mark.parametrize("name", [name for name in NAMES if f"{name} mean" in GOLDEN])
def test_moments(name: str) -> None:
    mx.random.seed(11)
    drawn = made(name, arrays(name, "float32")).sample_n(COUNT)
    assert drawn.dtype == "float32"
    mean, variance = GOLDEN[f"{name} mean"], GOLDEN[f"{name} variance"]
    assert drawn.shape == (COUNT, *mean.shape)
    got = drawn.asnumpy().astype(np.float64)
    known = np.isfinite(mean) & np.isfinite(variance)
    deviations = (got.mean(0) - mean)[known] / np.sqrt(variance[known] / COUNT)
    assert np.all(np.abs(deviations) < 4.5)
    if name not in HEAVY:
        drawn, mean, variance = got[:, known], mean[known], variance[known]
        fourth = ((drawn - mean) ** 4).mean(0)
        error = np.sqrt(np.maximum(fourth - variance**2, 0) / COUNT) + 20 * variance / COUNT
        assert np.all(np.abs(drawn.var(0) - variance) < 5 * error)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_kolmogorov_smirnov(name: str) -> None:
    mx.random.seed(14)
    distribution = made(name, arrays(name, "float32"))
    below = np.sort(distribution.cdf(distribution.sample_n(COUNT)).asnumpy(), axis=0)
    steps = np.arange(COUNT + 1)[:, None] / COUNT
    distance = np.maximum(np.abs(below - steps[1:]), np.abs(below - steps[:-1])).max(0)
    assert np.all(distance * np.sqrt(COUNT) < 1.95)  # one of a thousand draws is further


@pytest.mark.parametrize("name", ["Poisson", "Binomial", "NegativeBinomial", "Geometric"])
def test_frequencies_of_counts(name: str) -> None:
    mx.random.seed(13)
    distribution = made(name, arrays(name, "float32"))
    drawn = distribution.sample_n(COUNT).asnumpy()
    for k in range(4):
        chance = distribution.pdf(float(k)).asnumpy()
        error = np.sqrt(chance * (1 - chance) / COUNT) + 1e-6
        assert np.all(np.abs((drawn == k).mean(0) - chance) < 4.5 * error)


@pytest.mark.parametrize("name", NAMES)
def test_shapes_of_samples(name: str) -> None:
    params = arrays(name, "float32")
    distribution = made(name, params)
    event = GOLDEN[f"{name} mean"].shape[1:] if f"{name} mean" in GOLDEN else ()
    count = len(GOLDEN[f"{name} log_prob"])
    assert distribution.sample().shape == (count, *event)
    assert distribution.sample((2, count)).shape == (2, count, *event)
    assert distribution.sample_n().shape == (count, *event)
    assert distribution.sample_n((2, 3)).shape == (2, 3, count, *event)
    assert distribution.sample_n(0).shape == (0, count, *event)
    one = made(name, {key: value[0] for key, value in params.items()})
    assert one.sample().shape == event
    assert one.sample(4).shape == (4, *event)


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_repeats_samples_also_in_a_graph(name: str) -> None:
    params = arrays(name, "float32")
    names = list(params)

    class Draw(HybridBlock):
        def forward(self, *given: Any) -> Any:
            return made(name, dict(zip(names, given, strict=True))).sample()

    def drawn(draw: Callable[..., Any]) -> Any:
        mx.random.seed(5)
        return draw(*params.values()).asnumpy()

    block = Draw()
    eager = drawn(block)
    np.testing.assert_array_equal(drawn(block), eager)
    block.hybridize()
    np.testing.assert_allclose(drawn(block), eager, rtol=1e-5, atol=1e-6)
    later = [block(*params.values()).asnumpy() for _ in range(8)]  # six coins may fall the same
    assert not all(np.array_equal(values, eager) for values in later)


def gradients(name: str, function: Callable[..., Any], params: dict[str, Any]) -> dict[str, Any]:
    """Return the gradient of the sum of a function of a distribution by its parameters."""
    for value in params.values():
        value.attach_grad()
    with autograd.record():
        total = function(made(name, params)).sum()
    total.backward()
    return {key: value.grad.asnumpy() for key, value in params.items()}


def differences(name: str, function: Callable[..., Any], params: dict[str, Any]) -> dict[str, Any]:
    """Return the same by central differences of fourth order, of all cases at once."""
    found = {}
    for key, value in params.items():
        plain = value.asnumpy()
        step = 1e-4 * np.maximum(np.abs(plain), 0.1)
        total = np.zeros_like(plain)
        for index in np.ndindex(plain.shape[1:]):
            here = (slice(None), *index)
            for k, weight in ((-2, 1), (-1, -8), (1, 8), (2, -1)):
                moved = plain.copy()
                moved[here] += k * step[here]
                results = function(made(name, {**params, key: mnp.array(moved)})).asnumpy()
                total[here] += weight * results.reshape(len(plain), -1).sum(1)
        found[key] = total / (12 * step)
    return found


@pytest.mark.parametrize("name", [name for name in SMOOTH if name not in REJECTED])
def test_gradient_of_samples(name: str) -> None:
    def draw(distribution: Any) -> Any:
        mx.random.seed(6)
        return distribution.sample()

    params = arrays(name)
    assert made(name, params).has_grad
    found = gradients(name, draw, params)
    for key, expected in differences(name, draw, params).items():
        got = found[key]
        if key == "cov":  # a derivative by a symmetric matrix
            got, expected = (x + np.swapaxes(x, -1, -2) for x in (got, expected))
            continue
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-7)


def test_gradient_of_gamma_samples_is_that_of_quantiles() -> None:
    """Of the sample z with P(a, z) = u, at the same u, whatever z came from."""
    mx.random.seed(7)
    shape = mnp.array(np.array([0.1, 0.5, 1.0, 2.0, 30.0, 1000.0]))
    shape.attach_grad()
    with autograd.record():
        drawn = mgp.Gamma(shape, 2.0).sample()
    drawn.backward()
    chance = mgp.Gamma(shape, 2.0).cdf(drawn)
    step = 1e-4 * shape
    above = mgp.Gamma(shape + step, 2.0).icdf(chance)
    below = mgp.Gamma(shape - step, 2.0).icdf(chance)
    np.testing.assert_allclose(
        shape.grad.asnumpy(), ((above - below) / (2 * step)).asnumpy(), rtol=1e-5
    )


@pytest.mark.parametrize("name", sorted(REJECTED))
def test_gradient_of_the_mean_of_samples(name: str) -> None:
    """The mean of pathwise gradients is the gradient of the mean."""
    cases: dict[str, Any] = {
        "Gamma": {"shape": [2.5], "scale": [1.5]},
        "Chi2": {"df": [3.0]},
        "Beta": {"alpha": [1.5], "beta": [0.8]},
        "Dirichlet": {"alpha": [[1.5, 0.7, 2.0]]},
        "StudentT": {"df": [9.0], "loc": [0.5], "scale": [1.5]},
        "FisherSnedecor": {"df1": [4.0], "df2": [12.0]},
    }
    params = {key: mnp.array(value, dtype="float64") for key, value in cases[name].items()}
    weights = mnp.array(np.array([1.0, -2.0, 0.5])) if name == "Dirichlet" else 1.0
    mx.random.seed(8)
    count = 20_000
    power = 2 if name == "StudentT" else 1  # the mean of t does not depend on df

    def moment(distribution: Any) -> Any:
        if power == 2:
            return distribution.variance + distribution.mean**2
        return distribution.mean * weights

    found = gradients(name, lambda d: (d.sample_n(count) ** power * weights).sum() / count, params)
    for key, expected in differences(name, moment, params).items():
        np.testing.assert_allclose(found[key], expected, rtol=0.1, atol=0.03)


@pytest.mark.parametrize("name", NAMES)
def test_gradient_of_log_prob(name: str) -> None:
    params = arrays(name)
    at = values(name)
    inside = np.isfinite(GOLDEN[f"{name} log_prob"])
    weights = mnp.array(inside.astype(np.float64))

    def density(distribution: Any) -> Any:
        logs = distribution.log_prob(at)
        return mnp.where(weights > 0, logs, mnp.zeros_like(logs))

    if name in ("Uniform", "Pareto"):  # jumps where a bound passes a value: no case does
        assert inside.any()
    found = gradients(name, density, params)
    for key, expected in differences(name, density, params).items():
        got = found[key]
        assert np.isfinite(got).all()
        if key == "cov":
            got, expected = (x + np.swapaxes(x, -1, -2) for x in (got, expected))
            continue
        if key == "n":  # the trials of a binomial distribution are integers
            continue
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", [name for name in SMOOTH if f"{name} cdf" in GOLDEN])
def test_gradient_of_cdf_and_icdf(name: str) -> None:
    params = arrays(name)
    at = values(name)
    inside = (GOLDEN[f"{name} cdf"] > 0) & (GOLDEN[f"{name} cdf"] < 1)
    weights = mnp.array(inside.astype(np.float64))
    chances = mnp.array(np.array([0.3, 0.6, 0.9, 0.2, 0.75, 0.4]))
    for function in (lambda d: d.cdf(at) * weights, lambda d: mnp.log1p(d.icdf(chances) ** 2)):
        found = gradients(name, function, params)
        for key, expected in differences(name, function, params).items():
            np.testing.assert_allclose(found[key], expected, rtol=2e-5, atol=1e-7)


def test_relaxed_samples_and_their_gradients() -> None:
    for kind, keywords in ((mgp.RelaxedBernoulli, {}), (mgp.RelaxedOneHotCategorical, 3)):
        logit = mnp.array(np.array([0.4, -0.3, 1.0]))

        def draw(given: Any, kind: Any = kind, keywords: Any = keywords) -> Any:
            mx.random.seed(9)
            extra = (keywords,) if keywords else ()
            return kind(0.6, *extra, logit=given).sample()

        logit.attach_grad()
        with autograd.record():
            total = (draw(logit) * mnp.array(np.array([1.0, 2.0, -1.0]))).sum()
        total.backward()
        step = 1e-6
        for i in range(3):
            moved = [logit.asnumpy().copy() for _ in range(2)]
            moved[0][i] += step
            moved[1][i] -= step
            sums = [(draw(mnp.array(m)).asnumpy() * [1, 2, -1]).sum() for m in moved]
            assert logit.grad.asnumpy()[i] == pytest.approx((sums[0] - sums[1]) / 2e-6, rel=1e-6)
    assert KEYWORDS["Categorical"]["num_events"] == 3


def test_extreme_parameters_give_finite_samples() -> None:
    mx.random.seed(10)
    for drawn in (
        mgp.Gamma(mnp.array([1e-2, 1e6]), 1.0).sample_n(1000),
        mgp.Beta(mnp.array([0.02, 1e5]), mnp.array([0.02, 1e5])).sample_n(1000),
        mgp.Dirichlet(mnp.array([0.02, 0.02, 1e4])).sample_n(1000),
        mgp.Gumbel(mnp.zeros(3), mnp.ones(3)).sample_n(1000),
    ):
        assert np.isfinite(drawn.asnumpy()).all()
