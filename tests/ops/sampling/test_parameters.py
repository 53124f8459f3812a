"""Parameters of samplers: what is refused, and how gradients flow to them."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.errors import OperatorError


def refused(message: str, name: str, *arrays: nd.NDArray, **attrs: object) -> None:
    with pytest.raises(OperatorError, match=message):
        getattr(nd, name)(*arrays, **attrs).asnumpy()


def test_numbers_out_of_range_are_refused() -> None:
    refused("lam of at least 0, got -1", "_random_poisson", lam=-1)
    refused("p above 0 and at most 1, got 0", "_random_negative_binomial", p=0)
    refused("scale of at least 0, got -2", "_npi_gumbel", loc=0, scale=-2)
    refused("prob from 0 to 1, got 2", "_npi_bernoulli", prob=2, logit=None, is_logit=False)
    refused("add up to at most 1", "_npi_multinomial", n=3, pvals=(0.7, 0.7))
    refused("int32 or int64", "_random_randint", low=0, high=3, dtype="float32")


def test_arrays_out_of_range_are_refused() -> None:
    bad = nd.array([1, -1])
    refused("scale of at least 0, got -1", "_npi_normal", bad, loc=0, scale=None)
    refused("a above 0, got -1", "_npi_weibull", bad, a=None)
    refused("weights of at least 0", "_npi_choice", bad, a=2, size=None, weighted=True)
    refused("add up to at most 1", "_npi_multinomial", nd.array([0.9, 0.9]), n=3)


def test_population_that_is_too_small_is_refused() -> None:
    refused("at most the population's 3", "_npi_choice", a=3, size=(4,), replace=False)
    refused("population of at least 1, got 0", "_npi_choice", a=0, size=(4,))
    weights = nd.array([1, 0, 0])
    refused(
        "at least 2 weights above 0",
        "_npi_choice",
        weights,
        a=3,
        size=(2,),
        replace=False,
        weighted=True,
    )


@pytest.mark.parametrize(
    ("word", "names", "slopes"),
    [
        ("normal", ("loc", "scale"), lambda y, a, b: (1, (y - a) / b)),
        ("gumbel", ("loc", "scale"), lambda y, a, b: (1, (y - a) / b)),
        ("logistic", ("loc", "scale"), lambda y, a, b: (1, (y - a) / b)),
        ("exponential", ("scale",), lambda y, a: (y / a,)),
        ("rayleigh", ("scale",), lambda y, a: (y / a,)),
        ("pareto", ("a",), lambda y, a: (-(y + 1) * np.log(y + 1) / a,)),
        ("weibull", ("a",), lambda y, a: (-y * np.log(y) / a,)),
    ],
)
def test_gradient_is_that_of_the_drawn_numbers(
    word: str, names: tuple[str, ...], slopes: Any
) -> None:
    parameters = [nd.array([[1.5], [2.5]]), nd.array([0.5, 1.0, 2.0])][: len(names)]
    for p in parameters:
        p.attach_grad()
    with mx.autograd.record():
        attrs = dict.fromkeys(names)
        y = getattr(nd, f"_npi_{word}")(*parameters, **attrs, size=(4, 2, 3))
    y.backward()
    values = [p.asnumpy() for p in parameters]
    for p, slope in zip(parameters, slopes(y.asnumpy(), *values), strict=True):
        full = np.broadcast_to(slope, y.shape)
        missing = tuple(range(3 - p.ndim)) + tuple(
            3 - p.ndim + i for i, n in enumerate(p.shape) if n == 1
        )
        want = full.sum(axis=missing).reshape(p.shape)
        assert p.grad is not None
        np.testing.assert_allclose(p.grad.asnumpy(), want, rtol=1e-4)


def test_samplers_of_arrays_pass_no_gradient() -> None:
    mu, sigma = nd.array([1, 2]), nd.array([1, 2])
    mu.attach_grad()
    with mx.autograd.record():
        y = nd.sample_normal(mu, sigma, shape=3).sum() + mu.sum()
    y.backward()
    assert mu.grad is not None
    assert mu.grad.asnumpy().tolist() == [1, 1]


def test_hidden_noise_stays_hidden() -> None:
    assert nd._npi_normal(loc=0, scale=1, size=(3,)).shape == (3,)
    assert len(mx.sym._npi_normal(loc=0, scale=1, size=(3,)).list_outputs()) == 1
