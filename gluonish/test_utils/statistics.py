"""Checks that random numbers follow a distribution: mean, variance and frequencies."""

import contextlib
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError
from gluonish.core.loading import load
from gluonish.test_utils.comparison import on_host

Generator = Callable[[int], Any]
Buckets = Sequence[Any]

# Programs that import all names use scipy.stats under this name; the checks do not need SciPy.
ss: Any = None
with contextlib.suppress(ImportError):
    ss = load("scipy.stats")

_SIGMAS = 3.0
_TERMS = 10_000
_PRECISION = 1e-15


def mean_check(generator: Generator, mu: float, sigma: float, nsamples: int = 1000000) -> bool:
    """Return whether the mean of samples is within three standard errors of the expected mean.

    Args:
        generator: Function that takes a number of samples and returns an array of them.
        mu: Mean of the distribution.
        sigma: Standard deviation of the distribution.
        nsamples: Number of samples to draw.
    """
    mean = float(np.mean(_samples(generator, nsamples)))
    return abs(mean - mu) < _SIGMAS * sigma / math.sqrt(nsamples)


def var_check(generator: Generator, sigma: float, nsamples: int = 1000000) -> bool:
    """Return whether the variance of normal samples is within three standard errors.

    Args:
        generator: Function that takes a number of samples and returns an array of them.
        sigma: Standard deviation of the distribution.
        nsamples: Number of samples to draw, at least 2.
    """
    variance = float(np.var(_samples(generator, nsamples), ddof=1))
    error = math.sqrt(2.0 / (nsamples - 1)) * sigma**2
    return abs(variance - sigma**2) < _SIGMAS * error


def _samples(generator: Generator, count: int) -> np.ndarray[Any, Any]:
    return on_host(generator(count)).reshape(-1).astype(np.float64)


def chi_square_check(
    generator: Generator, buckets: Buckets, probs: Sequence[float], nsamples: int = 1000000
) -> tuple[float, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Compare the frequencies of samples in buckets with the expected ones, by a chi-square test.

    Args:
        generator: Function that takes a number of samples and returns an array of them.
        buckets: Consecutive tuples ``(low, high)``, with high excluded; or values, for a discrete
            distribution. Samples outside all buckets are ignored.
        probs: Probability of each bucket.
        nsamples: Number of samples to draw.

    Returns:
        The p-value; the observed frequencies; and the expected frequencies.

    Raises:
        ArgumentError: There are fewer than two buckets, the number of probabilities differs, or the
            buckets are not in order.

    References:
        K. Pearson, On the criterion that a given system of deviations ..., 1900.
    """
    _check_buckets(buckets, probs)
    samples = _samples(generator, nsamples)
    if isinstance(buckets[0], list | tuple):
        observed = np.array([np.sum((samples >= low) & (samples < high)) for low, high in buckets])
    else:
        observed = np.array([np.sum(samples == value) for value in buckets])
    expected = nsamples * np.asarray(probs, np.float64)
    statistic = float(np.sum((observed - expected) ** 2 / expected))
    return _chi_square_tail(statistic, len(buckets) - 1), observed, expected


def _check_buckets(buckets: Buckets, probs: Sequence[float]) -> None:
    if len(buckets) < 2 or len(probs) != len(buckets):
        raise ArgumentError(
            "chi_square_check: expected two buckets or more, and as many probs, got "
            f"{len(buckets)} and {len(probs)}"
        )
    if min(probs) <= 0 or abs(sum(probs) - 1) > 1e-3:
        raise ArgumentError(
            f"chi_square_check: expected positive probs with sum 1, got sum {sum(probs)}"
        )
    if isinstance(buckets[0], list | tuple):
        edges = [edge for bucket in buckets for edge in bucket]
        if any(a > b for a, b in itertools.pairwise(edges)):
            raise ArgumentError(
                f"chi_square_check: expected buckets (low, high) in order, got {list(buckets)}"
            )


def _chi_square_tail(statistic: float, freedom: int) -> float:
    """Return the probability that a chi-square variable exceeds a value: Q(freedom / 2, value / 2).

    References:
        W. Press et al., Numerical Recipes, section 6.2: the series for small values, the continued
        fraction of Lentz for large ones.
    """
    a, x = freedom / 2, statistic / 2
    if x <= 0:
        return 1.0
    scale = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        for n in range(1, _TERMS):
            term *= x / (a + n)
            total += term
            if term < total * _PRECISION:
                break
        return max(0.0, 1 - scale * total)
    return min(1.0, scale * _continued_fraction(a, x))


def _continued_fraction(a: float, x: float) -> float:
    b = x + 1 - a
    c, d = 1e300, 1 / b
    value = d
    for n in range(1, _TERMS):
        factor = -n * (n - a)
        b += 2
        d = 1 / (factor * d + b)
        c = b + factor / c
        value *= c * d
        if abs(c * d - 1) < _PRECISION:
            break
    return value


def gen_buckets_probs_with_ppf(
    ppf: Callable[[float], float], nbuckets: int
) -> tuple[list[tuple[float, float]], list[float]]:
    """Return buckets of equal probability, and their probabilities, for `chi_square_check`.

    Args:
        ppf: The inverse of the cumulative distribution function.
        nbuckets: Number of buckets, at least 1.

    Raises:
        ArgumentError: ``nbuckets`` is below 1.
    """
    if nbuckets < 1:
        raise ArgumentError(
            f"gen_buckets_probs_with_ppf: expected at least 1 bucket, got {nbuckets}"
        )
    bounds = [ppf(i / nbuckets) for i in range(nbuckets + 1)]
    return list(itertools.pairwise(bounds)), [1 / nbuckets] * nbuckets


def verify_generator(
    generator: Generator,
    buckets: Buckets,
    probs: Sequence[float],
    nsamples: int = 1000000,
    nrepeat: int = 5,
    success_rate: float = 0.2,
    alpha: float = 0.05,
) -> list[float]:
    """Check that samples follow a distribution, by several chi-square tests.

    Args:
        generator: Function that takes a number of samples and returns an array of them.
        buckets: As in `chi_square_check`.
        probs: Probability of each bucket.
        nsamples: Number of samples per test.
        nrepeat: Number of tests.
        success_rate: Fraction of tests that must succeed, in [0, 1].
        alpha: Significance level: a test succeeds if its p-value is above ``alpha``.

    Returns:
        The p-value of each test.

    Raises:
        AssertionError: Too few tests succeed.
        ArgumentError: As for `chi_square_check`.
    """
    results = [chi_square_check(generator, buckets, probs, nsamples) for _ in range(nrepeat)]
    found = [p for p, _, _ in results]
    succeeded = sum(p > alpha for p in found)
    if succeeded < nrepeat * success_rate:
        _, observed, expected = results[-1]
        raise AssertionError(
            f"verify_generator: expected {nrepeat * success_rate:g} of {nrepeat} tests above "
            f"{alpha}, got {succeeded}: {found}\n buckets: {list(buckets)}\n"
            f" observed: {observed.tolist()}\n expected: {expected.tolist()}"
        )
    return found
