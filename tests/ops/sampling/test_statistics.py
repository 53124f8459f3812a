"""Samplers draw from the distributions that they are named after."""

import math
from typing import Any

import numpy as np
import pytest

from gluonish import nd
from tests.checking.values import run_operator

N = 20_000
# Beyond this a sample of N numbers lies from its distribution once in ten thousand draws.
KOLMOGOROV = 2.2 / N**0.5
EULER = 0.5772156649


def moments_fit(sample: Any, mean: float, deviation: float) -> bool:
    """Whether a sample's moments are those of a distribution."""
    near = abs(sample.mean() - mean) < 5 * deviation / sample.size**0.5
    return bool(near and abs(sample.std() / deviation - 1) < 0.06)


def distance(sample: Any, distribution: Any) -> float:
    """Return the largest distance of a sample's distribution function from another."""
    ordered = np.sort(sample.astype(np.float64))
    steps = np.arange(1, ordered.size + 1) / ordered.size
    return float(np.abs(distribution(ordered) - steps).max())


def zipfian(**attrs: Any) -> Any:
    """Return samples and numbers of tries."""
    return [y.asnumpy() for y in nd._sample_unique_zipfian(**attrs)]  # type: ignore[attr-defined]


def draw(word: str, *parameters: float) -> Any:
    """Return N numbers for arrays of parameters."""
    arrays = [np.array([p], np.float32) for p in parameters]
    return run_operator(f"_sample_{word}", *arrays, shape=(N,))[0]


@pytest.mark.parametrize(
    ("word", "parameters", "mean", "deviation"),
    [
        ("uniform", (-1, 3), 1, 4 / 12**0.5),
        ("normal", (2, 3), 2, 3),
        ("exponential", (4,), 0.25, 0.25),
        ("gamma", (3, 2), 6, 12**0.5),
        ("gamma", (0.3, 2), 0.6, 1.2**0.5),
        ("poisson", (0.7,), 0.7, 0.7**0.5),
        ("poisson", (9.9,), 9.9, 9.9**0.5),
        ("poisson", (10,), 10, 10**0.5),
        ("poisson", (2000,), 2000, 2000**0.5),
        ("negative_binomial", (4, 0.3), 28 / 3, (2.8 / 0.09) ** 0.5),
        ("generalized_negative_binomial", (5, 0.4), 5, (5 + 0.4 * 25) ** 0.5),
        ("generalized_negative_binomial", (5, 0), 5, 5**0.5),
    ],
)
def test_moments_are_those_of_the_distribution(
    word: str, parameters: tuple[float, ...], mean: float, deviation: float
) -> None:
    assert moments_fit(draw(word, *parameters), mean, deviation)


@pytest.mark.parametrize("lam", [3.0, 25.0])
def test_poisson_has_the_right_distribution(lam: float) -> None:
    shares = np.array([math.exp(k * math.log(lam) - lam - math.lgamma(k + 1)) for k in range(80)])
    found = np.bincount(draw("poisson", lam).astype(int), minlength=80) / N
    assert np.abs(np.cumsum(found) - np.cumsum(shares)).max() < KOLMOGOROV


@pytest.mark.parametrize(("n", "p"), [(20, 0.3), (200, 0.4), (300, 0.9), (5, 1.0), (9, 0.0)])
def test_counts_of_two_classes_are_binomial(n: int, p: float) -> None:
    counts = run_operator("_npi_multinomial", n=n, pvals=(p, 1 - p), size=(N,))
    assert (counts.sum(axis=1) == n).all()
    k = np.arange(n + 1)
    choices = [math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) for i in k]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.array(choices) + np.where(k > 0, k * np.log(p), 0)
        shares = np.exp(logs + np.where(k < n, (n - k) * np.log1p(-p), 0))
    found = np.bincount(counts[:, 0], minlength=n + 1) / N
    assert np.abs(np.cumsum(found) - np.cumsum(shares)).max() < KOLMOGOROV


@pytest.mark.parametrize(
    ("word", "attrs", "distribution"),
    [
        ("uniform", {"low": 1.0, "high": 3.0}, lambda x: (x - 1) / 2),
        ("exponential", {"scale": 2.0}, lambda x: -np.expm1(-x / 2)),
        ("gumbel", {"loc": 1.0, "scale": 2.0}, lambda x: np.exp(-np.exp(-(x - 1) / 2))),
        ("logistic", {"loc": 1.0, "scale": 2.0}, lambda x: 1 / (1 + np.exp(-(x - 1) / 2))),
        ("rayleigh", {"scale": 2.0}, lambda x: -np.expm1(-x * x / 8)),
        ("pareto", {"a": 3.0}, lambda x: 1 - (1 + x) ** -3.0),
        ("weibull", {"a": 3.0}, lambda x: -np.expm1(-(x**3))),
        ("powerd", {"a": 3.0}, lambda x: x**3),
        ("gamma", {"shape": 1.0, "scale": 2.0}, lambda x: -np.expm1(-x / 2)),
    ],
)
def test_numpy_samplers_have_the_right_distribution(
    word: str, attrs: dict[str, float], distribution: Any
) -> None:
    sample = run_operator(f"_npi_{word}", **attrs, size=(N,))
    sample = sample[0] if isinstance(sample, list | tuple) else sample
    assert distance(sample, distribution) < KOLMOGOROV


def test_bernoulli_is_one_as_often_as_it_should() -> None:
    assert moments_fit(
        run_operator(
            "_npi_bernoulli", prob=0.3, logit=None, is_logit=False, size=(N,), dtype="float64"
        ),
        0.3,
        0.21**0.5,
    )
    logits = np.array([0.0, math.log(4.0)], np.float32)
    sample = run_operator(
        "_npi_bernoulli", logits, prob=None, logit=None, is_logit=True, size=(N, 2)
    )
    np.testing.assert_allclose(sample.mean(axis=0), [0.5, 0.8], atol=0.02)


def test_choice_without_replacement_takes_none_twice_and_heavy_ones_first() -> None:
    weights = np.array([0.0, 1.0, 1.0, 1e6], np.float32)
    attrs = {"a": 4, "replace": False, "weighted": True, "size": (3,)}
    found = run_operator("_npi_choice", weights, **attrs)
    assert sorted(found.tolist()) == [1, 2, 3]
    assert found[0] == 3


def test_choice_with_weights_takes_in_proportion() -> None:
    weights = np.array([0.1, 0.0, 0.3, 0.6])
    found = run_operator("_npi_choice", weights, a=4, weighted=True, size=(N,))
    np.testing.assert_allclose(np.bincount(found, minlength=4) / N, weights, atol=0.02)


def test_zipfian_rows_hold_different_numbers_and_more_small_ones() -> None:
    samples, tries = zipfian(range_max=1000, shape=(50, 40))
    assert all(len(set(row)) == 40 for row in samples.tolist())
    assert samples.min() >= 0
    assert samples.max() < 1000
    assert (samples < 31).mean() > 0.3  # half of what is drawn, before repetitions are left out
    assert (tries > 40).all()


def test_all_numbers_of_a_zipfian_range_come_in_the_end() -> None:
    samples, _ = zipfian(range_max=30, shape=(1, 30))
    assert sorted(samples[0].tolist()) == list(range(30))
