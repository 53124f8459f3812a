"""Every distribution against SciPy; tests/golden/make_probability.py wrote the results."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
import gluonish.numpy as mnp
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.gluon import HybridBlock
from gluonish.gluon import probability as mgp
from tests.gluon.probability.golden import (
    GOLDEN,
    KEYWORDS,
    NAMES,
    PROBABILITIES,
    arrays,
    made,
    values,
)

TOLERANCE = {"float64": 1e-10, "float32": 1e-5}
METHODS = ("log_prob", "cdf", "icdf", "entropy", "mean", "variance")
RESULTS = [key for key in GOLDEN if key.split()[-1] in METHODS]
# SciPy sums a few terms of a series, or has an infinite mean where there is none.
DIFFERENT = {"StudentT mean": np.array([0, np.nan, -1.5, 3, 0, 10])}
# Their distribution functions have no closed inverse; their entropies are infinite sums.
WITHOUT = {
    f"{name} {method}"
    for name in ("Poisson", "Binomial", "NegativeBinomial")
    for method in ("icdf", "entropy")
}


def result(name: str, method: str, distribution: Any, dtype: str) -> Any:
    if method in ("mean", "variance"):
        return getattr(distribution, method)
    if method == "entropy":
        return distribution.entropy()
    if method == "icdf":
        return distribution.icdf(mnp.array(np.array(PROBABILITIES, dtype)))
    return getattr(distribution, method)(values(name, dtype))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("key", sorted(set(RESULTS) - WITHOUT))
def test_result_is_scipys(key: str, dtype: str) -> None:
    name, method = key.split()
    expected = DIFFERENT.get(key, GOLDEN[key])
    got = result(name, method, made(name, arrays(name, dtype)), dtype)
    assert got.dtype == dtype
    scale = np.maximum(np.abs(np.where(np.isfinite(expected), expected, 1)), 1)
    np.testing.assert_allclose(
        got.asnumpy() / scale, expected / scale, rtol=0, atol=TOLERANCE[dtype]
    )


@pytest.mark.parametrize("key", sorted(WITHOUT))
def test_missing_result_is_refused_by_name(key: str) -> None:
    name, method = key.split()
    with pytest.raises(NotSupportedError, match=f"^{name}: expected a distribution with {method}"):
        result(name, method, made(name, arrays(name)), "float64")


@pytest.mark.parametrize("name", NAMES)
def test_one_case_without_batch_axes_is_the_same(name: str) -> None:
    params = {key: value[0] for key, value in arrays(name).items()}
    got = made(name, params).log_prob(values(name)[0])
    assert got.shape == ()
    np.testing.assert_allclose(float(got), GOLDEN[f"{name} log_prob"][0], rtol=1e-9)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in KEYWORDS])
def test_batch_broadcasts_with_values(name: str) -> None:
    params = {key: mnp.expand_dims(value, 0) for key, value in arrays(name).items()}
    each = mnp.expand_dims(values(name), 1)
    table = made(name, params).log_prob(each).asnumpy()
    count = len(GOLDEN[f"{name} log_prob"])
    assert table.shape == (count, count)
    np.testing.assert_allclose(np.diag(table), GOLDEN[f"{name} log_prob"], rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_broadcast_to_repeats_parameters(name: str) -> None:
    wide = made(name, arrays(name)).broadcast_to((2, len(GOLDEN[f"{name} log_prob"])))
    expected = np.stack([GOLDEN[f"{name} log_prob"]] * 2)
    got = wide.log_prob(mnp.stack([values(name)] * 2)).asnumpy()
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-10)
    assert wide.sample().shape[:2] == expected.shape


@pytest.mark.parametrize("name", NAMES)
def test_hybridized_results_are_the_eager_ones(name: str) -> None:
    keys = {f"{name} {method}": method for method in METHODS}
    methods = [method for key, method in keys.items() if key in GOLDEN and key not in WITHOUT]
    names = list(arrays(name))

    class Run(HybridBlock):
        def forward(self, *params: Any) -> Any:
            distribution = made(name, dict(zip(names, params, strict=True)))
            return [result(name, method, distribution, "float64") for method in methods]

    block = Run()
    eager = block(*arrays(name).values())
    block.hybridize()
    for got, expected in zip(block(*arrays(name).values()), eager, strict=True):
        np.testing.assert_allclose(got.asnumpy(), expected.asnumpy(), rtol=1e-12, atol=1e-13)


def test_numbers_are_parameters() -> None:
    standard = mgp.Normal(0, 1)
    assert standard.sample().shape == ()
    assert standard.sample_n(3).shape == (3,)
    assert float(standard.log_prob(1.0)) == pytest.approx(-1.4189385, abs=1e-6)
    assert float(standard.entropy()) == pytest.approx(1.4189385332, abs=1e-9)
    assert mgp.Gamma(2.0).sample((4, 5)).shape == (4, 5)
    assert float(mgp.Binomial(4, 0.25).mean) == 1.0


def test_logit_and_prob_are_two_views() -> None:
    logit = mnp.array([-3.0, 0.0, 30.0], dtype="float64")
    for made_of in (mgp.Bernoulli, mgp.Geometric):
        given = made_of(logit=logit)
        prob = 1 / (1 + np.exp(-logit.asnumpy()))
        np.testing.assert_allclose(given.prob.asnumpy(), prob, rtol=1e-12)
    # 1 - prob is 0 in float32, its logarithm is not infinite.
    certain = mgp.Bernoulli(logit=mnp.array([30.0]))
    assert float(certain.log_prob(0)) == pytest.approx(-30)
    assert float(mgp.Bernoulli(prob=0.25).logit) == pytest.approx(np.log(1 / 3))


def test_logits_of_events_are_normalized() -> None:
    logit = np.log([0.2, 0.5, 0.3]) + 7
    for kind in (mgp.Categorical, mgp.OneHotCategorical, mgp.Multinomial):
        given = kind(3, logit=mnp.array(logit))
        np.testing.assert_allclose(given.prob.asnumpy(), [0.2, 0.5, 0.3], rtol=1e-12)
    got = mgp.Categorical(3, logit=mnp.array(logit)).log_prob(mnp.array([0, 1, 2]))
    np.testing.assert_allclose(got.asnumpy(), np.log([0.2, 0.5, 0.3]), rtol=1e-12)


def test_support_is_enumerated() -> None:
    prob = mnp.array([[0.2, 0.8], [0.5, 0.5]])
    assert mgp.Categorical(2, prob).enumerate_support().tolist() == [[0, 0], [1, 1]]
    hot = mgp.OneHotCategorical(2, prob).enumerate_support()
    assert hot.tolist() == [[[1, 0], [1, 0]], [[0, 1], [0, 1]]]
    with pytest.raises(NotSupportedError, match="Normal: expected a distribution with enumerate"):
        mgp.Normal().enumerate_support()


def test_precision_and_root_define_the_same_normal() -> None:
    cov = np.array([[2.0, 0.3], [0.3, 1.0]])
    loc = mnp.array(np.zeros(2))
    value = mnp.array(np.array([0.4, -1.0]))
    expected = float(mgp.MultivariateNormal(loc, cov).log_prob(value))
    by_precision = mgp.MultivariateNormal(loc, precision=np.linalg.inv(cov))
    by_root = mgp.MultivariateNormal(loc, scale_tril=np.linalg.cholesky(cov))
    for given in (by_precision, by_root):
        assert float(given.log_prob(value)) == pytest.approx(expected, rel=1e-12)
        np.testing.assert_allclose(given.cov.asnumpy(), cov, rtol=1e-12)
        np.testing.assert_allclose(given.precision.asnumpy(), np.linalg.inv(cov), rtol=1e-12)
        np.testing.assert_allclose(given.variance.asnumpy(), [2, 1], rtol=1e-12)


def test_independent_sums_over_its_event() -> None:
    base = mgp.Normal(mnp.zeros((2, 3)), mnp.ones((2, 3)))
    whole = mgp.Independent(base, 1)
    assert whole.event_dim == 1
    assert whole.sample_n(5).shape == (5, 2, 3)
    value = mnp.ones((2, 3))
    np.testing.assert_allclose(
        whole.log_prob(value).asnumpy(), base.log_prob(value).asnumpy().sum(-1), rtol=1e-6
    )
    assert mgp.Independent(base, 2).entropy().shape == ()
    assert whole.broadcast_to((4, 2)).sample().shape == (4, 2, 3)


def test_relaxed_densities_integrate_to_one() -> None:
    points = (np.arange(20000) + 0.5) / 20000
    relaxed = mgp.RelaxedBernoulli(mnp.array(0.7), logit=mnp.array(0.4))
    assert relaxed.pdf(mnp.array(points)).asnumpy().mean() == pytest.approx(1, abs=2e-3)
    pairs = mnp.array(np.stack([points, 1 - points], -1))
    events = mgp.RelaxedOneHotCategorical(0.7, 2, prob=mnp.array([0.3, 0.7]))
    assert events.pdf(pairs).asnumpy().mean() == pytest.approx(1, abs=2e-3)


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("Normal: expected scale > 0, got -1.0", lambda: mgp.Normal(0.0, -1.0, True)),
        (
            "Normal: expected scale > 0, got -2.0",
            lambda: mgp.Normal(mnp.zeros(2), mnp.array([1.0, -2]), True),
        ),
        (
            "Bernoulli: expected prob >= 0 and <= 1, got 1.5",
            lambda: mgp.Bernoulli(1.5, validate_args=True),
        ),
        (
            "Categorical: expected prob of numbers >= 0 that sum to 1 along the last axis, got "
            r"\[0.5, 0.75\]",
            lambda: mgp.Categorical(2, mnp.array([0.5, 0.75]), validate_args=True),
        ),
        (
            "Exponential: expected value > 0, got -1.0",
            lambda: mgp.Exponential(1.0, True).log_prob(-1.0),
        ),
        (
            "Pareto: expected value > 2.0, got 1.0",
            lambda: mgp.Pareto(1.0, 2.0, True).cdf(1.0),
        ),
        ("Bernoulli: expected exactly one of prob, logit, got none", mgp.Bernoulli),
        (
            "Bernoulli: expected exactly one of prob, logit, got prob and logit",
            lambda: mgp.Bernoulli(0.5, 0.5),
        ),
        (
            "MultivariateNormal: expected exactly one of cov, precision, scale_tril, got none",
            lambda: mgp.MultivariateNormal(mnp.zeros(2)),
        ),
        (
            r"Categorical: expected prob with 3 events on the last axis, got \(2,\)",
            lambda: mgp.Categorical(3, mnp.ones(2)),
        ),
        ("Categorical: expected num_events of at least 1, got -1", lambda: mgp.Categorical(-1)),
        (
            r"Normal.sample: expected a size that the batch shape \(2,\) broadcasts to, got \(3,\)",
            lambda: mgp.Normal(mnp.zeros(2)).sample((3,)),
        ),
        ("set_default_validate_args: expected", lambda: mgp.Normal.set_default_validate_args("a")),
    ],
)
def test_wrong_values_are_refused(message: str, call: Any) -> None:
    with pytest.raises(ArgumentError, match=f"^{message}"):
        call()


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("Normal: expected loc to be a number or an array, got str", lambda: mgp.Normal("a")),
        ("Dirichlet: expected alpha to be an array, got 2.0", lambda: mgp.Dirichlet(2.0)),
        (
            "Categorical: expected num_events to be an int, got str",
            lambda: mgp.Categorical("a", mnp.ones(2)),
        ),
    ],
)
def test_wrong_types_are_refused(message: str, call: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=f"^{message}$"):
        call()


def test_parameters_that_do_not_broadcast_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"Normal: expected shapes that broadcast.*\(2,\) and \(3,"
    ):
        mgp.Normal(mnp.zeros(2), mnp.ones(3))


def test_default_of_validation_is_set() -> None:
    assert mgp.Normal(0.0, -1.0).scale == -1.0
    mgp.Distribution.set_default_validate_args(True)
    try:
        with pytest.raises(ArgumentError, match="Normal: expected scale > 0"):
            mgp.Normal(0.0, -1.0)
        assert mgp.Normal(0.0, -1.0, validate_args=False).scale == -1.0
    finally:
        mgp.Distribution.set_default_validate_args(False)


def test_validation_in_a_graph_runs_with_the_graph() -> None:
    class Density(HybridBlock):
        def forward(self, scale: Any) -> Any:
            return mgp.Normal(0.0, scale, validate_args=True).log_prob(0.0)

    block = Density()
    block.hybridize()
    assert float(block(mnp.array(1.0))) == pytest.approx(-0.9189385)
    with pytest.raises(ValueError, match="Normal: expected scale > 0"):
        block(mnp.array(-1.0)).wait_to_read()


def test_own_distribution_needs_only_its_methods() -> None:
    class Point(mgp.Distribution):
        arg_constraints = {"at": mgp.constraint.Real()}  # noqa: RUF012

        def __init__(self, at: Any) -> None:
            self.at = at
            super().__init__(event_dim=0)

        def log_prob(self, value: Any) -> Any:
            return mnp.where(value == self.at, 0.0, -np.inf)

    point = Point(mnp.array([1.0, 2.0]))
    assert point.pdf(mnp.array([1.0, 1.0])).tolist() == [1, 0]
    with pytest.raises(NotImplementedError, match="Point: expected a distribution with sample"):
        point.sample()


def test_all_is_public_under_both_names() -> None:
    assert mx.gluon.probability is mgp
    for name in mgp.__all__:
        assert hasattr(mgp, name)
    assert mgp.distributions.Normal is mgp.Normal
    assert repr(mgp.Normal(mnp.zeros(2), 1.0)) == "Normal(loc=(2,), scale=1.0)"
