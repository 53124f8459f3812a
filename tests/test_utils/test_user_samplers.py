"""A user's test file: random numbers, and a model in half precision."""

import itertools
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.test_utils import (
    assert_almost_equal,
    assert_almost_equal_with_err,
    collapse_sum_like,
    mean_check,
    np_reduce,
    rand_shape_nd,
    retry,
    var_check,
    verify_generator,
)


@retry(3)
def test_normal_samples() -> None:
    mx.random.seed(3)

    def draw(count: int) -> Any:
        return mx.nd.random.normal(1, 2, shape=count).asnumpy()

    assert mean_check(draw, 1, 2, nsamples=20000)
    assert var_check(draw, 2, nsamples=20000)


def test_uniform_samples() -> None:
    mx.random.seed(3)
    edges = np.linspace(-1, 1, 6)
    buckets = list(itertools.pairwise(edges))

    def draw(count: int) -> Any:
        return mx.nd.random.uniform(-1, 1, shape=count)

    verify_generator(draw, buckets, [0.2] * 5, nsamples=5000, nrepeat=3)
    with pytest.raises(AssertionError):
        verify_generator(lambda n: draw(n) ** 3, buckets, [0.2] * 5, nsamples=5000, nrepeat=3)


def test_integer_samples() -> None:
    mx.random.seed(3)
    verify_generator(
        lambda n: mx.nd.random.randint(0, 4, shape=n), [0, 1, 2, 3], [0.25] * 4, 5000, nrepeat=3
    )


def test_half_precision_is_as_good_as_its_tolerance() -> None:
    mx.random.seed(3)
    x = mx.nd.random.normal(shape=(8, 16))
    exact = mx.nd.softmax(x)
    assert_almost_equal(mx.nd.softmax(x.astype("float16")), exact)
    some = exact.asnumpy()
    some[0, 0] += 1
    assert_almost_equal_with_err(exact, some, etol=0.01)
    with pytest.raises(AssertionError):
        assert_almost_equal(exact, some)


def test_reductions_and_broadcasting() -> None:
    shape = rand_shape_nd(3, 4)
    x = mx.nd.random.normal(shape=shape)
    assert_almost_equal(x.sum(axis=(0, 2)), np_reduce(x.asnumpy(), (0, 2), False, np.sum))
    row = mx.nd.ones((1, shape[1], 1))
    row.attach_grad()
    with mx.autograd.record():
        y = mx.nd.broadcast_mul(x, row)
    y.backward()
    assert_almost_equal(row.grad, collapse_sum_like(x, (1, shape[1], 1)))
