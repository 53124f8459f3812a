"""Parameters of samplers: what is refused, and how gradients flow to them."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.errors import OperatorError


def refused(message: str, name: str, *arrays: nd.NDArray, **attrs: object) -> None:
    made = getattr(nd, name)(*arrays, **attrs)
    for _ in range(2):  # what depends on it goes through, too
        with pytest.raises(OperatorError, match=message):
            made.asnumpy()
        made = made + 1


# What MXNet 1.9.1 raised for at the read, and not at the call.
OUT_OF_RANGE: list[tuple[str, str, dict[str, Any]]] = [
    ("scale above 0, got -1", "_random_normal", {"scale": -1}),
    ("scale above 0, got 0", "_random_normal", {"scale": 0}),
    ("scale above 0, got nan", "_random_normal", {"scale": float("nan")}),
    ("low up to high, got 1.0 and 0.5", "_random_uniform", {"low": 1, "high": 0.5}),
    ("low up to high, got nan", "_random_uniform", {"low": float("nan")}),
    ("low below high, got 5 and 2", "_random_randint", {"low": 5, "high": 2}),
    ("lam of at least 0, got -1", "_random_poisson", {"lam": -1}),
    ("lam above 0, got 0", "_random_exponential", {"lam": 0}),
    ("alpha above 0, got 0", "_random_gamma", {"alpha": 0}),
    ("beta above 0, got -1", "_random_gamma", {"beta": -1}),
    ("k of at least 0, got -1", "_random_negative_binomial", {"k": -1}),
    ("p above 0, got -0.5", "_random_negative_binomial", {"p": -0.5}),
    ("mu of at least 0, got -1", "_random_generalized_negative_binomial", {"mu": -1}),
    ("alpha of at least 0", "_random_generalized_negative_binomial", {"alpha": -1}),
    ("scale of at least 0, got -2", "_npi_gumbel", {"loc": 0, "scale": -2}),
    ("scale of at least 0, got -1", "_npi_normal", {"loc": 0, "scale": -1}),
    ("scale of at least 0, got -1", "_npi_normal_n", {"loc": 0, "scale": -1}),
    ("scale of at least 0, got -1", "_npi_exponential", {"scale": -1}),
    ("shape above 0, got 0", "_npi_gamma", {"shape": 0, "scale": 1}),
    ("scale above 0, got 0", "_npi_gamma", {"shape": 1, "scale": 0}),
    ("a above 0, got 0", "_npi_pareto", {"a": 0}),
    ("a above 0, got 0", "_npi_weibull", {"a": 0}),
    ("prob from 0 to 1", "_npi_bernoulli", {"prob": 2, "logit": None, "is_logit": False}),
    ("add up to at most 1", "_npi_multinomial", {"n": 3, "pvals": (0.7, 0.7)}),
]


@pytest.mark.parametrize(("message", "name", "attrs"), OUT_OF_RANGE)
def test_numbers_out_of_range_are_refused_at_the_wait(
    message: str, name: str, attrs: dict[str, Any]
) -> None:
    refused(message, name, **attrs)


@pytest.mark.parametrize(("message", "name", "attrs"), OUT_OF_RANGE)
def test_graph_with_numbers_out_of_range_is_bound_and_refused_at_the_wait(
    message: str, name: str, attrs: dict[str, Any]
) -> None:
    shape = {"shape": (2,)} if name.startswith("_random_") else {}
    made = getattr(mx.sym, name)(**attrs, **shape).bind(mx.cpu(), {}).forward()
    with pytest.raises(OperatorError, match=message):
        made[0].asnumpy()


@pytest.mark.parametrize("size", [4, 1 << 17])
def test_like_an_array_numbers_are_refused_at_the_wait(size: int) -> None:
    data = nd.zeros(size)
    nd.random.uniform_like(data).wait_to_read()  # the generated kernel is there
    refused("scale above 0, got -1", "_random_normal_like", data, scale=-1)
    refused("low up to high", "_random_uniform_like", data, low=1, high=0)
    refused("lam of at least 0", "_random_poisson_like", data, lam=-1)


def test_dtype_is_refused_at_the_call() -> None:
    with pytest.raises(OperatorError, match="int32 or int64"):
        nd._random_randint(low=0, high=3, dtype="float32")  # type: ignore[attr-defined]


def test_probability_above_1_is_certain() -> None:
    assert nd.random.negative_binomial(3, 1.5, (4,)).asnumpy().tolist() == [0] * 4


def test_arrays_out_of_range_are_refused() -> None:
    bad = nd.array([1, -1])
    refused("scale of at least 0, got -1", "_npi_normal", bad, loc=0, scale=None)
    refused("a above 0, got -1", "_npi_weibull", bad, a=None)
    zero = nd.array([1, 0])
    refused("shape above 0, got 0", "_npi_gamma", zero, shape=None, scale=1)
    refused("scale above 0, got 0", "_npi_gamma", zero, shape=1, scale=None)
    refused("weights of at least 0", "_npi_choice", bad, a=2, size=None, weighted=True)
    refused("add up to at most 1", "_npi_multinomial", nd.array([0.9, 0.9]), n=3)


def test_population_that_is_too_small_is_refused() -> None:
    with pytest.raises(OperatorError, match="at most 3, the population"):
        nd._npi_choice(a=3, size=(4,), replace=False)  # type: ignore[attr-defined]
    with pytest.raises(OperatorError, match="population of at least 1, got 0"):
        nd._npi_choice(a=0, size=(4,))  # type: ignore[attr-defined]
    weights = nd.array([1, 0, 0])
    few = "at least 2 weights above 0"
    refused(few, "_npi_choice", weights, a=3, size=(2,), replace=False, weighted=True)


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
    assert nd._npi_normal(loc=0, scale=1, size=(3,)).shape == (3,)  # type: ignore[attr-defined]
    assert len(mx.sym._npi_normal(loc=0, scale=1, size=(3,)).list_outputs()) == 1  # type: ignore[attr-defined]


_WHOLE = {
    "normal": ([0, 100], [1, 2]),
    "uniform": ([0, 10], [1, 20]),
    "gamma": ([2, 3], [1, 2]),
    "gumbel": ([0, 10], [1, 2]),
    "logistic": ([0, 10], [1, 2]),
    "exponential": ([1, 50],),
    "rayleigh": ([1, 20],),
    "pareto": ([2, 3],),
    "weibull": ([2, 3],),
    "power": ([2, 3],),
}


@pytest.mark.parametrize("name", _WHOLE)
def test_whole_numbers_as_parameters_draw_as_floats_do(name: str) -> None:
    drawn = []
    for dtype in ("int32", "float32"):
        mx.random.seed(3)
        parameters = [mx.np.array(p, dtype=dtype) for p in _WHOLE[name]]
        drawn.append(getattr(mx.np.random, name)(*parameters, size=(50, 2)).asnumpy())
    assert drawn[0].dtype == np.float32
    np.testing.assert_array_equal(*drawn)
