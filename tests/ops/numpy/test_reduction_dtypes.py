"""Gradients of reductions whose result has a dtype of its own: cast to that of the input."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd

DTYPES = ("int8", "int32", "int64", "float16", "float32", "float64")

# Gradients of [[1, 2, 3], [2, 2, 1]] along axis 1.
WANTED = {
    "sum": [[1, 1, 1], [1, 1, 1]],
    "mean": [[1 / 3] * 3] * 2,
    "prod": [[6, 3, 2], [2, 2, 4]],
    "cumsum": [[3, 2, 1], [3, 2, 1]],
}


class _Reduced(mx.gluon.HybridBlock):
    def __init__(self, name: str, dtype: str) -> None:
        super().__init__()
        self._name, self._dtype = name, dtype

    def forward(self, x: Any) -> Any:
        return getattr(mx.np, self._name)(x, axis=1, dtype=self._dtype)


def _gradient(name: str, own: str, result: str, hybridize: bool) -> Any:
    x = mx.np.array([[1, 2, 3], [2, 2, 1]], dtype=own)
    x.attach_grad()
    net = _Reduced(name, result)
    net.hybridize(hybridize)
    with autograd.record():
        y = net(x)
    y.backward()
    assert x.grad.dtype == own
    return x.grad.asnumpy()


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("own", DTYPES)
@pytest.mark.parametrize("name", WANTED)
def test_a_dtype_of_the_result_does_not_cut_the_gradient(
    name: str, own: str, hybridize: bool
) -> None:
    wanted = np.array(WANTED[name]).astype(own)
    for result in DTYPES:
        found = _gradient(name, own, result, hybridize)
        np.testing.assert_allclose(found, wanted, rtol=1e-3, err_msg=f"{own} to {result}")


def test_a_bool_result_has_one_too() -> None:
    assert _gradient("sum", "float32", "bool", False).tolist() == [[1, 1, 1], [1, 1, 1]]


@pytest.mark.parametrize("name", ["std", "var"])
def test_whole_deviations_have_none(name: str) -> None:
    x = mx.np.ones((2, 3))
    x.attach_grad()
    with autograd.record():
        y = getattr(mx.np, name)(x, axis=1, dtype="int32")
    y.backward()
    assert x.grad.asnumpy().tolist() == [[0, 0, 0], [0, 0, 0]]
