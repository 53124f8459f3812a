from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import test_utils
from gluonish.core.errors import ArgumentError
from gluonish.test_utils.statistics import _chi_square_tail

BUCKETS, PROBS = [(0, 0.25), (0.25, 0.5), (0.5, 1)], [0.25, 0.25, 0.5]


def uniform(seed: int) -> Any:
    generator = np.random.default_rng(seed)
    return lambda count: generator.uniform(size=count)


@pytest.mark.parametrize(
    ("statistic", "freedom", "tail"),
    [  # tables of the distribution
        (3.841458820694124, 1, 0.05),
        (5.991464547107979, 2, 0.05),
        (18.307038053275146, 10, 0.05),
        (0.7107230213973239, 4, 0.95),
        (124.34211340400407, 100, 0.05),
        (29.588298445074418, 10, 0.001),
        (0.0, 3, 1.0),
    ],
)
def test_tail_is_that_of_the_tables(statistic: float, freedom: int, tail: float) -> None:
    assert _chi_square_tail(statistic, freedom) == pytest.approx(tail, rel=1e-9)


def test_moments_are_checked() -> None:
    generator = np.random.default_rng(0)

    def draw(count: int) -> Any:
        return generator.normal(1, 2, count)

    assert test_utils.mean_check(draw, 1, 2, nsamples=10000)
    assert not test_utils.mean_check(draw, 1.2, 2, nsamples=10000)
    assert test_utils.var_check(draw, 2, nsamples=10000)
    assert not test_utils.var_check(draw, 2.2, nsamples=10000)


def test_generators_may_give_ndarrays() -> None:
    mx.random.seed(1)
    assert test_utils.mean_check(lambda n: mx.nd.random.normal(1, 2, n), 1, 2, nsamples=10000)


def test_chi_square_counts_buckets() -> None:
    p, observed, expected = test_utils.chi_square_check(uniform(0), BUCKETS, PROBS, 10000)
    assert p > 0.01
    assert observed.sum() == 10000
    assert expected.tolist() == [2500, 2500, 5000]
    wrong, _, _ = test_utils.chi_square_check(uniform(0), BUCKETS, [0.3, 0.2, 0.5], 10000)
    assert wrong < 1e-6


def test_chi_square_counts_values() -> None:
    generator = np.random.default_rng(0)
    p, observed, _ = test_utils.chi_square_check(
        lambda n: generator.integers(0, 3, n), [0, 1, 2], [1 / 3] * 3, 3000
    )
    assert p > 0.01
    assert observed.sum() == 3000


def test_right_generator_is_verified_and_a_wrong_one_fails() -> None:
    found = test_utils.verify_generator(uniform(0), BUCKETS, PROBS, nsamples=2000, nrepeat=4)
    assert len(found) == 4
    assert max(found) > 0.05
    with pytest.raises(AssertionError, match=r"^verify_generator: .*got 0.*\n buckets"):
        test_utils.verify_generator(uniform(0), BUCKETS, [0.3, 0.2, 0.5], nsamples=5000)
    test_utils.verify_generator(uniform(0), BUCKETS, [0.3, 0.2, 0.5], 5000, success_rate=0)
    with pytest.raises(AssertionError):
        test_utils.verify_generator(uniform(0), BUCKETS, PROBS, 2000, alpha=1.0)


@pytest.mark.parametrize(
    ("buckets", "probs", "match"),
    [
        ([], [], "two buckets or more"),
        (BUCKETS, [0.5, 0.5], "as many probs"),
        (BUCKETS, [0.2, 0.2, 0.2], "with sum 1"),
        ([(0.5, 1), (0, 0.5)], [0.5, 0.5], "in order"),
    ],
)
def test_buckets_must_fit(buckets: Any, probs: Any, match: str) -> None:
    with pytest.raises(ArgumentError, match=match):
        test_utils.chi_square_check(uniform(0), buckets, probs, 100)


def test_scipy_is_not_needed() -> None:
    assert test_utils.ss is None


def test_buckets_of_one_probability_each() -> None:
    buckets, probs = test_utils.gen_buckets_probs_with_ppf(lambda x: 2 * x - 1, 4)
    assert buckets == [(-1, -0.5), (-0.5, 0), (0, 0.5), (0.5, 1)]
    assert probs == [0.25] * 4
    mx.random.seed(1)
    generator = lambda count: mx.nd.random.uniform(-1, 1, shape=count)  # noqa: E731
    assert len(test_utils.verify_generator(generator, buckets, probs, 10_000, nrepeat=2)) == 2
    with pytest.raises(ArgumentError, match="at least 1 bucket, got 0"):
        test_utils.gen_buckets_probs_with_ppf(lambda x: x, 0)
