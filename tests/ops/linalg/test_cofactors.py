"""The gradient of a determinant at singular matrices: the cofactors."""

from typing import Any

import numpy as np
import pytest

from gluonish import autograd, nd
from gluonish import np as mnp
from gluonish.core.mxnet_rules import follow_mxnet

SINGULAR = {
    "rank 1 of 2": [[1.0, 2.0], [2.0, 4.0]],
    "rank 0 of 2": [[0.0, 0.0], [0.0, 0.0]],
    "diagonal": [[1.0, 0.0], [0.0, 0.0]],
    "rank 2 of 3": [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 1.0, 5.0]],
    "rank 1 of 3": [[0.0, 0.0, 0.0], [0.0, 5.0, 0.0], [0.0, 0.0, 0.0]],
    "one": [[0.0]],
}


def _cofactors(a: Any) -> Any:
    n = len(a)
    out = np.ones((n, n))
    for i, j in np.ndindex(n, n):
        minor = np.delete(np.delete(a, i, 0), j, 1)
        out[i, j] = (-1) ** (i + j) * (np.linalg.det(minor) if n > 1 else 1)
    return out


def _gradient(function: Any, x: Any) -> Any:
    x.attach_grad()
    with autograd.record():
        y = function(x)
    y.backward()
    return x.grad.asnumpy()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", SINGULAR)
def test_gradient_of_a_singular_determinant_is_the_cofactors(name: str, dtype: str) -> None:
    a = np.array(SINGULAR[name])
    for x, function in (
        (nd.array(a, dtype=dtype), nd.linalg.det),
        (mnp.array(a, dtype=dtype), mnp.linalg.det),
    ):
        np.testing.assert_allclose(_gradient(function, x), _cofactors(a), atol=1e-5)


def test_singular_matrices_among_regular_ones() -> None:
    a = np.array([[[1.0, 2.0], [2.0, 4.0]], [[2.0, 1.0], [1.0, 3.0]]])
    found = _gradient(nd.linalg.det, nd.array(a, dtype="float64"))
    np.testing.assert_allclose(found, [_cofactors(x) for x in a], atol=1e-12)


def test_second_derivatives_at_a_singular_matrix() -> None:
    weight = np.arange(9.0).reshape(3, 3) - 2

    def slope(a: Any) -> float:
        return float((_cofactors(a) * weight).sum())

    for name in ("rank 2 of 3", "rank 1 of 3"):
        a = np.array(SINGULAR[name])
        x = nd.array(a, dtype="float64")
        x.attach_grad()
        with autograd.record():
            first = autograd.grad(nd.linalg.det(x), [x], create_graph=True, retain_graph=True)[0]
            total = (first * nd.array(weight, dtype="float64")).sum()
        total.backward()
        wanted = np.empty((3, 3))
        for at in np.ndindex(3, 3):
            step = np.zeros((3, 3))
            step[at] = 1e-4
            wanted[at] = (slope(a + step) - slope(a - step)) / 2e-4
        np.testing.assert_allclose(x.grad.asnumpy(), wanted, atol=1e-6)


def test_the_gradient_is_zero_under_mxnets_rules() -> None:
    before = follow_mxnet()
    try:
        a = nd.ones((4, 4), dtype="float64") * nd.array([[1, 2, 0, 0]], dtype="float64").T
        assert not _gradient(nd.linalg.det, a).any()
    finally:
        follow_mxnet(before)
