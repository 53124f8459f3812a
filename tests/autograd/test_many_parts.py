"""A value that many operators read gets one gradient from all of them, in order."""

from typing import Any

import numpy as np
import pytest

from gluonish import autograd, nd
from gluonish.autograd import tape


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "bfloat16"])
@pytest.mark.parametrize("count", [2, 3, tape._MANY, tape._MANY + 1, 3 * tape._MANY])
def test_parts_are_added_from_the_first_to_the_last(dtype: str, count: int) -> None:
    x = nd.array([0.1, 3.0, -7.0]).astype(dtype)
    x.attach_grad()
    factors = np.random.default_rng(0).uniform(-1, 1, count)
    with autograd.record():
        parts = [x * float(factor) for factor in factors]
    autograd.backward(parts)
    expected = None
    for factor in reversed(factors):  # the last call is visited first
        part = nd.ones(3).astype(dtype) * float(factor)
        expected = part if expected is None else expected + part
    assert expected is not None
    assert x.grad.asnumpy().tobytes() == expected.asnumpy().tobytes()


@pytest.mark.parametrize("size", [4, tape._SMALL_SIZE, tape._SMALL_SIZE + 1])
def test_sizes_beside_the_limit(size: int) -> None:
    x = nd.ones((size,))
    x.attach_grad("add")
    for _ in range(2):
        with autograd.record():
            y = sum((x for _ in range(40)), x)
        y.backward()
    assert (x.grad.asnumpy() == 82).all()


def test_a_gradient_of_many_parts_is_differentiated_again() -> None:
    x = nd.array([2.0])
    x.attach_grad()
    with autograd.record():
        y = nd.zeros(1)
        for _ in range(40):
            y = y + x * x * x
        (first,) = autograd.grad(y, [x], create_graph=True)
    first.backward()
    assert x.grad.asscalar() == pytest.approx(40 * 6 * 2)


def test_dense_and_sparse_parts() -> None:
    weight = nd.ones((5, 2))
    weight.attach_grad(stype="row_sparse")
    with autograd.record():
        rows = nd.Embedding(nd.array([1, 3]), weight, input_dim=5, output_dim=2, sparse_grad=True)
        loss = (rows * 2).sum() + (weight * 3).sum() + weight.sum()
    loss.backward()
    expected = np.full((5, 2), 4.0)
    expected[[1, 3]] += 2
    np.testing.assert_array_equal(weight.grad.asnumpy(), expected)


def test_an_intermediate_value_of_many_parts_is_observed_whole() -> None:
    x = nd.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = x * 2
        z: Any = y
        for _ in range(50):
            z = z + y
    z.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [102, 102])


def test_a_failed_part_fails_the_gradient() -> None:
    class Failing(autograd.Function):
        def forward(self, x: Any) -> Any:
            return x + 0

        def backward(self, g: Any) -> Any:
            raise ValueError("on purpose")

    x = nd.array([1.0])
    x.attach_grad()
    with autograd.record():
        y = x + x + Failing()(x)
    with pytest.raises(ValueError, match="on purpose"):
        y.backward()
