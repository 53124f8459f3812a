"""Gradients at ties, poles and NaN: MXNet 1.9.1's values."""

import math
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd

DTYPES = ("float16", "float32", "float64")


class _Called(mx.gluon.HybridBlock):
    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return getattr(F, self._name)(x)


def _gradient(name: str, values: list[float], dtype: str, hybridize: bool) -> Any:
    x = nd.array(values, dtype=dtype)
    x.attach_grad()
    net = _Called(name)
    net.hybridize(hybridize)
    with autograd.record():
        y = net(x)
    y.backward()
    return x.grad.asnumpy()


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [1, 100_000])
def test_relu_passes_nan_on(dtype: str, hybridize: bool, count: int) -> None:
    found = _gradient("relu", [math.nan, -1, 0, 1, math.inf] * count, dtype, hybridize)
    np.testing.assert_array_equal(found[:5], [math.nan, 0, 0, 1, 1])
    np.testing.assert_array_equal(found, np.tile(found[:5], count))


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gamma_functions_have_infinite_gradients_at_poles(dtype: str, hybridize: bool) -> None:
    poles = [0.0, -0.0, -1.0, -2.0, -3.0]
    found = _gradient("gamma", poles, dtype, hybridize)
    np.testing.assert_array_equal(found, [math.inf, -math.inf, math.nan, math.nan, math.nan])
    found = _gradient("gammaln", [*poles, -math.inf], dtype, hybridize)
    assert found.tolist() == [math.inf] * 6


def test_equal_pixels_count_as_the_first_one_being_larger() -> None:
    first = nd.arange(8).reshape((1, 2, 2, 2))
    second = first.copy()
    for x in (first, second):
        x.attach_grad()
    with autograd.record():
        y = nd.Correlation(first, second, is_multiply=False, kernel_size=1, max_displacement=0)
    y.backward()
    assert first.grad.asnumpy().ravel().tolist() == [0.5] * 8
    assert second.grad.asnumpy().ravel().tolist() == [-0.5] * 8


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_prediction_that_is_right_is_pulled_down(dtype: str) -> None:
    x = nd.array([[1, math.nan, 3, -math.inf, 5]], dtype=dtype)
    label = nd.array([[1, 2, math.nan, 3, 4]], dtype=dtype)
    x.attach_grad()
    with autograd.record():
        y = nd.MAERegressionOutput(x, label, grad_scale=5)
    y.backward()
    assert x.grad.asnumpy().tolist() == [[-1, -1, -1, -1, 1]]


CONSTANT = """
radians degrees floor ceil round rint trunc fix sign negative logical_not BlockGrad zeros_like
ones_like argmax identity
"""


@pytest.mark.parametrize("name", CONSTANT.split())
def test_a_constant_derivative_has_the_derivative_zero(name: str) -> None:
    x = nd.array([0.3, 0.6])
    x.attach_grad()
    with autograd.record():
        y = nd.argmax(x, axis=0) if name == "argmax" else getattr(nd, name)(x)
        first = autograd.grad(y, x, create_graph=True, retain_graph=True)[0]
    x.grad[:] = 7
    first.backward()
    assert x.grad.asnumpy().tolist() == [0, 0]


def test_a_given_head_gradient_is_not_recorded_by_that() -> None:
    x, head = nd.ones(2), nd.ones(2)
    x.attach_grad()
    with autograd.record():
        y = nd.identity(x)
        found = autograd.grad(y, x, head, create_graph=True)[0]
    assert found._edge is not None
    assert head._edge is None
